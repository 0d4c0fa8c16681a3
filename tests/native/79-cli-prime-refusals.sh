#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign prime where it can do nothing: filesystems without large folios, of which nothing is read;
# too little memory; bad input, answered in one line.
# timeout: 60
. "$(dirname "$0")/prime-lib.sh"

# --- Bad input
#         status thing                  text
refuses 2 prime                         'nothing to prime'       prime
refuses 2 prime                         'nothing to prime'       prime --json
refuses 2 --pid                         'needs a value'          prime --pid
refuses 2 --dry-run=1                   'takes no value'         prime --dry-run=1 x
for size in 0 '' x 5Q -1 99999999999999999999 1.5G; do
	refuses 2 --max "'$size' is not a size" prime --max "$size" /bin/true
done
for pid in 0 x '' -1 99999999999 ./1; do
	refuses 2 --pid "'$pid' is not a PID" prime --pid "$pid"
done
refuses 2 0                             'not a PID'              prime 0
refuses 2 99999999999                   'write ./99999999999'    prime 99999999999
refuses 2 $((1 << 30))                  'no such process'        prime $((1 << 30))
refuses 2 $((1 << 30))                  'no such process'        prime --pid $((1 << 30))
refuses 2 /nonexistent                  'No such file'           prime /nonexistent
refuses 2 /dev/null/x                   'Not a directory'        prime /dev/null/x
refuses 2 /dev/null                     'not a regular file'     prime /dev/null
refuses 2 ./1                           'No such file'           prime ./1
mkfifo "$TMP/pipe"
refuses 2 "$TMP/pipe"                   'not a regular file'     prime "$TMP/pipe"
echo text >"$TMP/text"
refuses 2 "$TMP/text"                   'not an ELF file'        prime "$TMP/text"
: >"$TMP/empty"
refuses 2 "$TMP/empty"                  'not an ELF file'        prime "$TMP/empty"
head -c 4M "$FIXTURES/libtext10m.so" >"$TMP/truncated.so"
refuses 2 "$TMP/truncated.so"           'truncated'              prime "$TMP/truncated.so"
head -c 40 "$FIXTURES/libtext10m.so" >"$TMP/stub.so"
refuses 2 "$TMP/stub.so"                'truncated'              prime "$TMP/stub.so"
cp "$FIXTURES/libtext300k.so" "$TMP/changed.so"
printf '\1' | dd of="$TMP/changed.so" bs=1 seek=4 conv=notrunc status=none
refuses 2 "$TMP/changed.so"             '32-bit'                 prime "$TMP/changed.so"
printf '\2' | dd of="$TMP/changed.so" bs=1 seek=4 conv=notrunc status=none
printf '\xb7' | dd of="$TMP/changed.so" bs=1 seek=18 conv=notrunc status=none
refuses 2 "$TMP/changed.so"             'for another machine (arm64)' prime "$TMP/changed.so"
if [ "$(id -u)" = 0 ]; then
	# kthreadd
	[ "$(cat /proc/2/comm 2>/dev/null)" != kthreadd ] || refuses 2 2 'a kernel thread' prime 2
fi
# A child that its parent does not wait for.
exec {zombie_of}< <(exec python3 -c 'import os, time; print(os.fork() or os._exit(0), flush=True); time.sleep(30)')
parent=$!
read -r zombie <&"$zombie_of"
while [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$zombie/stat")" != Z ]; do sleep 0.01; done
refuses 2 "$zombie"                     'it has ended'           prime "$zombie"
kill "$parent"
# The others are primed all the same.
cli 2 prime --dry-run --json "$TMP/text" "$FIXTURES/libtext10m.so" /nonexistent
expect '.files | map(.path) | join(" ")' "$FIXTURES/libtext10m.so"
[ "$(wc -l <"$TMP/err")" = 2 ] || fail "not two errors: $(cat "$TMP/err")"

# --- System calls that a filter refuses: less is known, or nothing can be done, and it is said
need strace
cp "$FIXTURES/libtext10m.so" "$TMP/filtered.so"
sync "$TMP/filtered.so"
for call in mincore cachestat fadvise64 madvise mmap:when=40+ openat:when=12+ getdents64; do
	status=0
	strace -qq -o /dev/null -e trace="${call%%:*}" -e inject="${call%%:*}:error=EPERM${call#"${call%%:*}"}" \
		"$CLI" prime "$TMP/filtered.so" >"$TMP/out" 2>"$TMP/err" || status=$?
	[ "$status" -le 2 ] || fail "$call refused: status $status"
	[ "$status" = 0 ] || [ -s "$TMP/err" ] || said out '-> '
done
# The one that systemd's filters know the least.
need_large_folios
small "$TMP/filtered.so"
strace -qq -o /dev/null -e trace=mincore -e inject=mincore:error=EPERM "$CLI" prime --json "$TMP/filtered.so" >"$TMP/out"
expect '.files[0].before.cached_bytes' null
expect .primed yes
[ "$(pmd_mapped "$TMP/filtered.so")" = $((8 << 20)) ] || fail "not mapped by PMD entries without mincore"

# --- No room for what would be read: nothing is
need_root "mounts"
unshare --mount true 2>/dev/null || skip "no mount namespace can be made"
mkdir "$TMP/mnt"
# in_namespace SCRIPT - with $TMP/mnt to mount something on
in_namespace() {
	unshare --mount --propagation private bash -euc "$1" bash "$TMP/mnt" "$FIXTURES/libtext10m.so" "$CLI" \
		>"$TMP/out" 2>"$TMP/err"
}
printf 'MemTotal: 8192 kB\nMemFree: 4096 kB\nMemAvailable: 6144 kB\n' >"$TMP/meminfo"
status=0
# shellcheck disable=SC2016 # for the inner shell
in_namespace 'mount --bind "$1/../meminfo" /proc/meminfo; cp "$2" "$1/../room.so"; sync "$1/../room.so"; exec "$3" prime "$1/../room.so"' ||
	status=$?
if [ "$(stat -f -c %T "$TMP")" != tmpfs ]; then
	[ "$status" = 2 ] || fail "too little memory: status $status: $(cat "$TMP/out" "$TMP/err")"
	said err 'execalign: prime: would read 8 MiB, but only 6 MiB of memory are available; '
	[ ! -s "$TMP/out" ] || fail "something was done without memory: $(cat "$TMP/out")"
	# A part of it fits.
	# shellcheck disable=SC2016 # for the inner shell
	in_namespace 'mount --bind "$1/../meminfo" /proc/meminfo; exec "$3" prime --json --max 4M "$1/../room.so"' || status=$?
	[ "$status" = 1 ] || fail "too little memory, --max: status $status: $(cat "$TMP/err")"
	expect '.files[0].reason.code' limit
	expect .available_bytes $((6 << 20))
fi

# --- tmpfs: files stay in the folios that they were written in
status=0
# shellcheck disable=SC2016 # for the inner shell
in_namespace 'mount -t tmpfs none "$1"; cp "$2" "$1"; exec "$3" prime --json "$1/libtext10m.so"' || status=$?
[ "$status" = 1 ] || fail "tmpfs: status $status: $(cat "$TMP/err")"
expect '.files[0].reason.code' filesystem
expect '.files[0].need_bytes' 0
expect '.files[0].read_bytes' 0
expect '.files[0].after.in_block_folios_bytes' null
query '.files[0].reason.text' | grep -q '^filesystem: tmpfs ' || fail "tmpfs: $(query '.files[0].reason.text')"

# --- What the kernel makes up as it is read is not looked into
mkdir "$TMP/mnt/proc"
# shellcheck disable=SC2016 # for the inner shell
in_namespace 'mount -t proc none "$1/proc"; exec "$3" prime --json "$1"' || fail "a tree with /proc: $(cat "$TMP/err")"
expect '.files | length' 0
expect '.passed_over | add' 0
