#!/bin/bash
# SPDX-License-Identifier: MIT
# Files that lie: the patched loader says what stock glibc says, with dlopen and at start-up.
# timeout: 5400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/glibc.sh"
glibc_loaders
misaligning_root

# One library per lie. What is changed: fields of the ELF header and of program headers.
mkdir "$TMP/lies"
python3 - "$FIXTURES/libtext5m.so" "$TMP/lies" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
phoff, phnum = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
OFFSET, VADDR, FILESZ, MEMSZ, ALIGN = 8, 16, 32, 40, 48
loads, dynamic = [], None
for i in range(phnum):
    kind, flags = struct.unpack_from("<II", data, phoff + 56 * i)
    if kind == 1:
        loads.append((phoff + 56 * i, flags))
    if kind == 2:
        dynamic = phoff + 56 * i
text = [at for at, flags in loads if flags & 1][0]
first = loads[0][0]

def lie(name, *changes, keep=len(data)):
    copy = bytearray(data[:keep])
    for at, form, value in changes:
        struct.pack_into(form, copy, at, value)
    open("%s/lib%s.so" % (sys.argv[2], name), "wb").write(copy)

lie("empty", keep=0)
lie("head", keep=63)
lie("headers", keep=64)
lie("relocatable", (16, "<H", 1))
lie("machine", (18, "<H", 2))
lie("phoff", (32, "<Q", 1 << 40))
lie("phnum", (56, "<H", 0xffff))
lie("no_dynamic", (dynamic, "<I", 6))
lie("memsz", (text + MEMSZ, "<Q", 1 << 62))
lie("span", (text + VADDR, "<Q", 1 << 46))
lie("offset", (text + OFFSET, "<Q", (1 << 64) - 4096))
lie("filesz", (text + FILESZ, "<Q", 1 << 62), (text + MEMSZ, "<Q", 1 << 62))
for power in (13, 30, 40, 47, 62, 63):
    lie("align%d" % power, *[(at + ALIGN, "<Q", 1 << power) for at, _ in loads])
lie("align_odd", *[(at + ALIGN, "<Q", 0x201000) for at, _ in loads])
lie("align_max", (first + ALIGN, "<Q", (1 << 64) - 1))
END
cat >"$TMP/open.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	/* A second time, as the first attempt must have left nothing behind. */
	for (int i = 0; i < 2; i++) {
		void *handle = dlopen(argv[1], RTLD_NOW);
		puts(handle ? "loaded" : dlerror());
	}
	return 0;
}
END
gcc -O1 -o "$TMP/open" "$TMP/open.c"
run_keeps_maps=
count=0
for file in "$TMP"/lies/*.so; do
	for kind in dlopen preload program; do
		case $kind in
		dlopen) command=("$TMP/open" "$file") ;;
		preload) command=(--preload "$file" "$TMP/open" /nowhere) ;;
		program) command=("$file") ;;
		esac
		# The loader's name and directory would be part of its messages: both go by the same.
		ln -sfn "$stock" "$TMP/lib"
		run plain "$TMP/lib/$rtld" --library-path "$TMP/lib" "${command[@]}"
		ln -sfn "$patched" "$TMP/lib"
		run preload-none "$TMP/lib/$rtld" --library-path "$TMP/lib" "${command[@]}"
		same preload-none sed 's/0x[0-9a-f]*/ADDRESS/g'
		count=$((count + 1))
	done
done
[ "$count" -ge 50 ] || fail "only $count files and ways"
headline "$count files and ways the same"
