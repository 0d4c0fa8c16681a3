#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""placement.py - where the text of a process's shared libraries lies, without the project's code

	placement.py [options] PID|MAPS-FILE|-

Reads a /proc/PID/maps and the program headers of the files that it names, and prints one line per
mapped object: text, block, whole blocks (KiB), distance from congruent, status, name. This is the
tests' witness: it shares nothing with core/ or with the command.

status: congruent | misplaced | ineligible (holds no whole block) | main | loader (both listed for
information: the shim places neither) | unknown (the file cannot be read: said on stderr).
"""

import argparse
import fnmatch
import os
import re
import struct
import sys

KIB = 1024
MIB = 1024 * KIB
PT_LOAD, PF_X, PF_W = 1, 1, 2
ET_EXEC = 2
DT_FLAGS_1, DF_1_PIE = 0x6FFFFFFB, 0x08000000
PT_DYNAMIC = 2
EM_X86_64, EM_AARCH64 = 62, 183

# Blocks of each machine and base page size, largest first (only up to 2 MiB: the default cap).
BLOCKS = {
    (EM_X86_64, 4 * KIB): [2 * MIB],
    (EM_AARCH64, 4 * KIB): [2 * MIB, 64 * KIB],
    (EM_AARCH64, 16 * KIB): [2 * MIB],
    (EM_AARCH64, 64 * KIB): [2 * MIB],
}

MAPS_LINE = re.compile(
    r"^([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) ([0-9a-f]+:[0-9a-f]+) (\d+)\s*(.*)$"
)


class Elf:
    """Program headers of a 64-bit little-endian ELF file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            head = file.read(64)
            if head[:6] != b"\x7fELF\x02\x01" or len(head) < 64:
                raise ValueError("not a 64-bit little-endian ELF file")
            self.type, self.machine = struct.unpack_from("<HH", head, 16)
            (phoff,) = struct.unpack_from("<Q", head, 32)
            phentsize, phnum = struct.unpack_from("<HH", head, 54)
            file.seek(phoff)
            table = file.read(phentsize * phnum)
            self.texts = []
            self.pie = False
            for index in range(phnum):
                (kind, flags, offset, _, _, filesz, _, _) = struct.unpack_from(
                    "<IIQQQQQQ", table, index * phentsize
                )
                if kind == PT_LOAD and flags & PF_X and not flags & PF_W and filesz:
                    self.texts.append((offset, filesz))
                elif kind == PT_DYNAMIC:
                    file.seek(offset)
                    self.pie = self.dynamic_says_pie(file.read(filesz))

    @staticmethod
    def dynamic_says_pie(dynamic):
        for at in range(0, len(dynamic) - 15, 16):
            tag, value = struct.unpack_from("<QQ", dynamic, at)
            if tag == 0:
                break
            if tag == DT_FLAGS_1:
                return bool(value & DF_1_PIE)
        return False

    def is_program(self):
        return self.type == ET_EXEC or self.pie


def unescape(name):
    """maps escapes a newline as \\012."""
    return name.replace("\\012", "\n")


def executable_runs(lines):
    """Executable private file mappings, neighbouring pieces of one mapping joined again.

    madvise and mprotect cut a mapping in pieces; the text is still one.
    """
    runs = []
    for line in lines:
        match = MAPS_LINE.match(line.rstrip("\n"))
        if not match:
            raise ValueError("not a line of /proc/PID/maps: %r" % line)
        start, end, perms, offset, dev, inode, name = match.groups()
        start, end, offset = int(start, 16), int(end, 16), int(offset, 16)
        if perms[2] != "x" or inode == "0":
            continue
        last = runs[-1] if runs else None
        key = (dev, inode, name)
        if last and last["key"] == key and last["end"] == start and last["offset"] + (
            last["end"] - last["start"]
        ) == offset:
            last["end"] = end
        else:
            runs.append({"key": key, "start": start, "end": end, "offset": offset, "name": name})
    return runs


def whole_blocks(offset, size, block):
    first = -(-offset // block) * block
    return max(0, (offset + size) // block * block - first)


def judge(run, elf, page, forced_block):
    """Fill in text, block, whole, distance and status of one executable mapping."""
    texts = [t for t in elf.texts if t[0] // page * page <= run["offset"] < t[0] + t[1]]
    if not texts:
        # Executable, but not text of the ELF file as a loader would map it: an application's own.
        texts = [(run["offset"], run["end"] - run["start"])]
    offset, size = texts[0]
    blocks = [forced_block] if forced_block else BLOCKS.get((elf.machine, page), [2 * MIB])
    whole = 0
    for block in blocks:
        whole = whole_blocks(offset, size, block)
        if whole:
            break
    distance = (run["start"] - run["offset"]) % block
    run.update(text=size, block=block, whole=whole, distance=distance)
    if whole == 0:
        run["status"] = "ineligible"
    else:
        run["status"] = "misplaced" if distance else "congruent"


def is_loader(name):
    base = os.path.basename(name)
    return bool(re.match(r"ld(-linux.*|-musl.*|-2\.[0-9.]+|64)\.so", base))


def examine(args):
    if args.maps == "-":
        lines = sys.stdin.read().splitlines()
        exe = args.exe
    elif args.maps.isdigit():
        with open("/proc/%s/maps" % args.maps, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
        exe = args.exe or os.readlink("/proc/%s/exe" % args.maps)
    else:
        with open(args.maps, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
        exe = args.exe
    runs = executable_runs(lines)
    best = {}
    for run in runs:
        name = unescape(run["name"])
        run["path"] = name
        if name == exe and name.endswith(" (deleted)"):
            run.update(text=0, block=0, whole=0, distance=0, status="main")
            continue
        try:
            elf = Elf(args.root + name)
        except (OSError, ValueError) as error:
            print("placement: %s: %s" % (name, error), file=sys.stderr)
            run.update(text=0, block=0, whole=0, distance=0, status="unknown")
            continue
        judge(run, elf, args.page, args.block)
        if is_loader(name):
            run["status"] = "loader"
        elif name == exe or elf.is_program():
            run["status"] = "main"
        # Placement can serve one text segment of a library: the one with the most whole blocks.
        elif len(elf.texts) > 1:
            base = best.get(name)
            if base is None or run["whole"] > base["whole"]:
                best[name] = run
    for run in runs:
        chosen = best.get(run["path"])
        if chosen and chosen is not run and run["status"] == "misplaced":
            run["status"] = "second"
    return runs


def main():
    parser = argparse.ArgumentParser(description="Where the text of shared libraries lies.")
    parser.add_argument("maps", help="PID, file with the contents of /proc/PID/maps, or -")
    parser.add_argument("--exe", help="the main executable, when MAPS is a file")
    parser.add_argument("--root", default="", help="directory that the maps' names are relative to")
    parser.add_argument("--only", action="append", help="count only file names that match PATTERN")
    parser.add_argument("--block", type=int, help="judge by this block (bytes) instead")
    parser.add_argument("--page", type=int, default=os.sysconf("SC_PAGE_SIZE"))
    parser.add_argument(
        "--expect-congruent", action="store_true", help="exit 1 if an eligible library is misplaced"
    )
    parser.add_argument(
        "--expect-misplaced", action="store_true", help="exit 1 if no eligible library is misplaced"
    )
    parser.add_argument(
        "--at-least", type=int, default=1, metavar="N",
        help="with --expect-*: exit 1 unless N libraries are eligible (default 1)",
    )
    parser.add_argument(
        "--list-congruent", action="store_true", help="print only the names of congruent libraries"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but failures")
    parser.add_argument("--bases", action="store_true", help="also print the start of each mapping")
    args = parser.parse_args()

    runs = examine(args)
    if not args.quiet:
        print("%9s %9s %9s %9s  %-10s %s" % (
            "text_kib", "block_kib", "whole_kib", "off_kib", "status", "name"))
    counted = []
    for run in runs:
        if not args.quiet:
            base = " @%x" % run["start"] if args.bases else ""
            print("%9d %9d %9d %9d  %-10s %s%s" % (
                run["text"] // KIB, run["block"] // KIB, run["whole"] // KIB,
                run["distance"] // KIB, run["status"], run["name"], base))
        name = os.path.basename(run["path"])
        if args.only and not any(fnmatch.fnmatch(name, pattern) for pattern in args.only):
            continue
        if run["status"] in ("congruent", "misplaced", "unknown"):
            counted.append(run)
    if args.list_congruent:
        for run in counted:
            if run["status"] == "congruent":
                print(run["name"])
        return 0
    misplaced = [run for run in counted if run["status"] != "congruent"]
    print("eligible %d congruent %d misplaced %d" % (
        len(counted), len(counted) - len(misplaced), len(misplaced)))
    failed = False
    if (args.expect_congruent or args.expect_misplaced) and len(counted) < args.at_least:
        print("placement: %d eligible libraries, expected at least %d" % (
            len(counted), args.at_least), file=sys.stderr)
        failed = True
    if args.expect_congruent:
        for run in misplaced:
            print("placement: %s: %s by %d KiB" % (
                run["name"], run["status"], run["distance"] // KIB), file=sys.stderr)
            failed = True
    if args.expect_misplaced and not misplaced:
        print("placement: nothing eligible is misplaced", file=sys.stderr)
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
