#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs in a sandbox that was set up before they started: filters that kill or refuse what the
# plain program does not do. The shim must not be what trips them: the same output and exit status.
. "$(dirname "$0")/lib.sh"
misaligning_root

app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" "open:$FIXTURES/libl_lld.so" reserved)
run_keeps_maps=
for mode in allow exec-eperm exec-kill mmap-kill strict-eperm strict-kill; do
	# The filter is set between env and the program: env and seccomp_run themselves run free of
	# it.
	run plain "$FIXTURES/seccomp_run" "$mode" "${app[@]}"
	[ "$(cat "$TMP/plain.status")" = 0 ] ||
		fail "$mode: the plain program does not run: $(cat "$TMP/plain.err")"
	for how in audit preload; do
		run "$how" "$FIXTURES/seccomp_run" "$mode" "${app[@]}"
		same "$how"
	done
	note "$mode: runs"
done
# The filters do what they say: a program that executes another one.
run plain "$FIXTURES/seccomp_run" exec-kill /bin/sh -c '/bin/true; echo alive $?'
grep -q 'alive 159' "$TMP/plain.out" ||
	fail "the filter exec-kill does not kill: $(cat "$TMP/plain.out")"
run plain "$FIXTURES/seccomp_run" strict-eperm /bin/sh -c '/bin/true; echo alive $?'
! grep -q 'alive 0' "$TMP/plain.out" || fail "the filter strict-eperm does not refuse"
