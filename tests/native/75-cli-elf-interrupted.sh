#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign elf --set-align killed at any system call, or refused any, leaves the whole old file or the
# whole new one, and nothing beside it that the next run does not remove.
# timeout: 300
. "$(dirname "$0")/cli-lib.sh"
need strace python3
need_x86_64 "the files are of 2 MiB blocks"

dir=$TMP/dir
mkdir "$dir"
old=$TMP/old
new=$TMP/new
cp "$FIXTURES/libtext5m.so" "$old"
cp "$old" "$new"
# So that there is one to copy.
python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.note", b"kept")' "$old" 2>/dev/null || :
cli 0 elf --set-align auto "$new"
! cmp -s "$old" "$new" || fail "nothing was changed"

# strace counts each thread's calls, so these are those that only the thread makes that does the work.
calls=(faccessat2 flock ioctl copy_file_range pwrite64 fchown fchmod utimensat fremovexattr flistxattr
	fgetxattr fsetxattr fsync linkat renameat unlinkat statx)

# traced OPTION... - set the alignment under strace
traced() {
	strace -f -qq "$@" "$CLI" elf --set-align auto "$dir/lib.so" >"$TMP/out" 2>"$TMP/err"
}

prepare() {
	rm -rf "$dir"
	mkdir "$dir"
	cp --preserve=xattr "$old" "$dir/lib.so"
}

# whole WHEN - the file is one of the two; what else is there is a copy without use, and goes
whole() {
	local others
	cmp -s "$dir/lib.so" "$old" || cmp -s "$dir/lib.so" "$new" || fail "$1: the file is neither old nor new"
	others=$(find "$dir" -mindepth 1 ! -name lib.so | wc -l)
	[ "$others" -le 1 ] || fail "$1: $others files beside it"
	leftovers=$((leftovers + others))
	cli 0 elf --set-align auto "$dir/lib.so" "$dir"
	cmp -s "$dir/lib.so" "$new" || fail "$1: the next run does not change it"
	[ -z "$(find "$dir" -mindepth 1 ! -name lib.so)" ] || fail "$1: the next run leaves $(ls -A "$dir")"
	rm "$dir/lib.so"
}

prepare
traced -o "$TMP/trace" || skip "strace cannot trace here: $(head -c 200 "$TMP/err")"
cmp -s "$dir/lib.so" "$new" || fail "it does not work under strace"

leftovers=0 runs=0
for call in "${calls[@]}"; do
	total=$(grep -c "^[0-9]* *$call(" "$TMP/trace") || continue
	for ((when = 1; when <= total; when++)); do
		prepare
		# The shell would tell that it was killed.
		{ traced -o /dev/null -e "inject=$call:signal=KILL:when=$when" || :; } 2>/dev/null
		whole "killed at $call $when"

		prepare
		traced -o /dev/null -e "inject=$call:error=EIO:when=$when" || :
		[ "$(wc -l <"$TMP/err")" -le 1 ] || fail "EIO from $call $when: more than a line: $(cat "$TMP/err")"
		if ! grep -q changed "$TMP/out"; then
			[ -s "$TMP/err" ] || fail "EIO from $call $when: nothing is said"
			cmp -s "$dir/lib.so" "$old" || grep -q 'changed, but' "$TMP/err" ||
				fail "EIO from $call $when: changed all the same"
			[ -z "$(find "$dir" -mindepth 1 ! -name lib.so)" ] ||
				fail "EIO from $call $when: left $(ls -A "$dir")"
		fi
		whole "EIO from $call $when"
		runs=$((runs + 2))
	done
done
[ "$runs" -ge 30 ] || fail "only $runs runs: $(cat "$TMP/trace")"
[ "$leftovers" -ge 1 ] || fail "a copy was never left behind, so its removal was not tested"

# Where there are no files without a name, the copy has one from the beginning. -P counts only the calls
# that touch these two: the second openat() of the thread that works is that of the copy.
named=(-P "$dir" -P "$dir/lib.so" -e inject=openat:error=EOPNOTSUPP:when=2)
prepare
traced "${named[@]}" -o "$TMP/trace"
grep -q INJECTED "$TMP/trace" || fail "the copy without a name was not refused: $(cat "$TMP/trace")"
cmp -s "$dir/lib.so" "$new" || fail "not changed by way of a copy with a name"
before=$leftovers
for call in copy_file_range flistxattr newfstatat renameat; do
	prepare
	{ traced "${named[@]}" -o /dev/null -e "inject=$call:signal=KILL:when=1" || :; } 2>/dev/null
	whole "killed at $call with a named copy"
	runs=$((runs + 1))
done
[ "$leftovers" -gt "$before" ] || fail "no copy with a name was left behind"

# The copy of one that is still at work is not taken away from it.
prepare
inode=$(stat -c %i "$dir/lib.so")
: >"$dir/.execalign-$inode"
exec 8<"$dir/.execalign-$inode"
flock 8
refuses 2 "$dir/lib.so" 'another execalign' elf --set-align auto "$dir/lib.so"
cli 0 elf "$dir"
cli 0 elf --restore "$dir"
[ -e "$dir/.execalign-$inode" ] || fail "a locked copy was removed"
exec 8<&-
cli 0 elf --set-align auto "$dir/lib.so"
[ "$(ls -A "$dir")" = lib.so ] || fail "left: $(ls -A "$dir")"
# What only looks like one stays.
touch "$dir/.execalign-" "$dir/.execalign-1x" "$dir/.execalign-1"
cli 0 elf --restore --dry-run "$dir"
[ "$(find "$dir" -name '.execalign-*' | wc -l)" = 3 ] || fail "--dry-run removed something"
cli 0 elf --restore "$dir"
[ "$(find "$dir" -name '.execalign-*' | wc -l)" = 2 ] || fail "left: $(ls -A "$dir")"
headline "$runs runs, $leftovers copies left and removed"
