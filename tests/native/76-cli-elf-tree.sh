#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign elf on directories: every file once, counted by kind, changed where it is of use; in constant
# memory.
# timeout: 300
. "$(dirname "$0")/cli-lib.sh"
need jq python3 script
need_x86_64 "the files are of 2 MiB blocks"
cd "$TMP"

mkdir -p tree/a/b tree/c tree/empty
cp "$FIXTURES/libl_bfd.so" tree/a/
cp "$FIXTURES/libl_large.so" tree/a/b/
cp "$FIXTURES/libl_lld.so" tree/c/
cp "$FIXTURES/libl_align2m.so" tree/c/
cp "$FIXTURES/libl_none.so" "tree/c/two"$'\n'"lines.so"
cp "$FIXTURES/libl_align64k.so" tree/linked.so
ln tree/linked.so tree/a/linked-too.so
echo text >tree/a/readme
: >tree/empty-file
head -c 100 "$FIXTURES/libl_bfd.so" >tree/a/cut
python3 - "$FIXTURES/libl_bfd.so" tree/a/object tree/a/other <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
for path, offset, value in ((sys.argv[2], 16, 1), (sys.argv[3], 18, 243)):
    copy = data[:]
    struct.pack_into("<H", copy, offset, value)
    open(path, "wb").write(copy)
END
ln -s libl_bfd.so tree/a/link.so
ln -s .. tree/a/b/up
ln -s /nonexistent tree/dangling
mkfifo tree/a/pipe
files=$(find tree -type f -printf . | wc -c)

summary() {
	query 'select(.type == "summary") | '"$1"
}
counts() {
	local got
	got=$(summary "\"$1\"")
	[ "$got" = "$2" ] || fail "$1: $got, not $2"
}
cli 0 elf --json tree
counts '\(.files) \(.repeated) \(.unreadable) \(.eligible) \(.lacking)' "$files 1 0 5 4"
counts '\(.kinds.judged) \(.kinds["not-elf"]) \(.kinds.truncated) \(.kinds["not-loadable"]) \(.kinds["other-machine"])' '6 2 1 1 1'
counts '\(.verdicts.aligned) \(.verdicts.raise) \(.verdicts.mislaid) \(.verdicts["too-small"])' '1 3 1 1'
# The sums are those of the lines.
jq -se 'map(select(.type == "file")) as $files | .[0].schema == "execalign-elf-1" and (.[-1] |
	.kinds.judged == ($files | length) and
	.eligible == ($files | map(select(.eligible)) | length) and
	.verdicts.raise == ($files | map(select(.verdict == "raise")) | length) and
	.files == .repeated + ([.kinds[]] | add))' out >/dev/null || fail "the sums are wrong: $(cat out)"
[ "$(query 'select(.type == "file") | .path' | sort -u | wc -l)" = 7 ] || fail "paths: $(query .path)"
cli 0 elf tree
said out "$files files, 6 programs and libraries: 5 hold whole blocks (1 aligned, 0 fixed, 3 raise, 1 mislaid)"
said out 'not judged: 1 other-machine, 1 not-loadable, 1 truncated'
! grep -q two out || fail "one without a whole block is shown"
cli 0 elf --verbose tree
said out 'two\x0alines.so'
cli 1 elf --check tree
cli 0 elf --check tree/empty tree/c/libl_align2m.so
# By several names.
cli 0 elf --json tree tree/a ./tree/a/link.so
[ "$(summary .kinds.judged)" = 6 ] || fail "files were judged twice"

sum() {
	find tree -type f -exec sha256sum {} + | sort
}
before=$(sum)
cli 0 elf --json --set-align auto --dry-run tree
counts '\(.outcomes["would-change"]) \(.outcomes.changed) \(.outcomes.already) \(.outcomes.refused)' '2 0 1 2'
counts '\(.refusals.mislaid) \(.refusals["hard-links"])' '1 1'
[ "$(sum)" = "$before" ] || fail "--dry-run changed something"
cli 0 elf --set-align auto tree
said out '2 changed, 1 already so, 0 failed, 2 refused (1 mislaid, 1 hard-links)'
! [ -s err ] || fail "a refusal in a directory is an error: $(cat err)"
cli 0 elf --json --set-align auto tree
counts '\(.outcomes.changed) \(.outcomes.already)' '0 3'
cli 1 elf --set-align auto --check tree
cli 0 elf --check tree/a/b tree/a/libl_bfd.so
cli 0 elf --json --restore tree
counts '\(.outcomes.changed) \(.outcomes.already)' '2 4'
[ "$(sum)" = "$before" ] || fail "not restored"

# What may not be read is said, and the rest done.
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$CLI"; then
	chmod 755 .
	mkdir -m 700 tree/c/closed
	chmod 600 tree/c/libl_lld.so
	cli_prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	cli 2 elf --json tree
	[ "$(grep -c 'may not be read by this user; run as root' err)" = 2 ] || fail "errors: $(cat err)"
	counts '\(.unreadable) \(.kinds.judged)' '2 5'
	cli_prefix=()
	chmod 644 tree/c/libl_lld.so
	rmdir tree/c/closed
fi

# Deeper than there are descriptors: said, not crashed, and the rest done.
python3 - tree/deep <<'END'
import os, sys
os.mkdir(sys.argv[1])
os.chdir(sys.argv[1])
for _ in range(400):
    os.mkdir("d")
    os.chdir("d")
END
cli_prefix=(sh -c 'ulimit -n 100 && exec "$@"' sh)
cli 2 elf --json tree
said err 'nested too deep'
counts '\(.kinds.judged)' 6
cli_prefix=()
cli 0 elf --json tree
rm -r tree/deep

# Mounted below: files are entered, the kernel's own filesystems are not.
if [ "$(id -u)" = 0 ] && unshare --mount --propagation private true 2>/dev/null; then
	mkdir tree/proc tree/tmp
	# shellcheck disable=SC2016 # for the inner shell
	cli_prefix=(unshare --mount --propagation private sh -c 'mount -t proc none tree/proc &&
		mount -t tmpfs none tree/tmp && cp tree/a/libl_bfd.so tree/tmp && exec "$@"' sh)
	cli 0 elf --json tree
	counts '\(.files) \(.kinds.judged)' "$((files + 1)) 7"
	cli_prefix=()
	rmdir tree/proc tree/tmp
fi

# A bar on a terminal, and nothing of it elsewhere.
TERM=xterm script -qec "$CLI elf /usr/lib /usr/share" typescript >/dev/null </dev/null
grep -q 'files' typescript || fail "no progress on a terminal"
grep -qE '\[[#.]{30}\]|[0-9]+ files'$'\033' typescript || fail "no bar: $(head -c 500 typescript)"
cli 0 elf "$FIXTURES"
[ ! -s err ] || fail "progress in a file: $(head -c 200 err)"

# Memory does not grow with the tree. The kernel counts it, in KiB.
memory() {
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$CLI" elf "$@"
}
mkdir many
python3 - many <<'END'
import os, sys
for i in range(200):
    os.mkdir("%s/%d" % (sys.argv[1], i))
    for k in range(100):
        open("%s/%d/%d" % (sys.argv[1], i, k), "w").write("\x7fELF" if k % 2 else "text")
END
small=$(memory many/1)
large=$(memory many)
[ $((large - small)) -lt 2048 ] || fail "memory grows: $small KiB for 100 files, $large KiB for 20000"

# How fast: shown, not judged, since others use the machine.
cli 0 elf --json /usr/lib
start=$(date +%s%N)
cli 0 elf --json /usr/lib
ms=$((($(date +%s%N) - start) / 1000000))
headline "/usr/lib: $(summary .files) files, $(summary .kinds.judged) ELF files, in $ms ms; $large KiB"
