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
	cp "$old" "$dir/lib.so"
	setfattr -n user.note -v kept "$dir/lib.so" 2>/dev/null || :
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
headline "$runs runs, $leftovers copies left and removed"
