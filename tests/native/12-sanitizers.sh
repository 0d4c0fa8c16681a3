#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs built with sanitizers (gcc's dynamic ASan, UBSan and TSan, clang's static ASan) start
# under the shim, say nothing new, find the error that they are there to find, and their libraries
# are congruent. TSan's static TLS is too large for a bare auditor: only preloaded.
. "$(dirname "$0")/lib.sh"
misaligning_root

# Sanitizers leave through their own exit and disturb ptrace (LeakSanitizer): leak detection is off.
run_env=(ASAN_OPTIONS=detect_leaks=0)
# A library that is preloaded comes first in the list of libraries: ASan's check for that is told.
summary='s/.*SUMMARY: ([A-Za-z]+Sanitizer: [a-z-]+).*/\1/p; s/.*(runtime error: [a-z ]*).*/\1/p; d'
for kind in asan ubsan tsan asan-clang; do
	plain_command=("$FIXTURES/$kind" "$FIXTURES/libtext6m.so")
	run plain "${plain_command[@]}"
	[ "$(cat "$TMP/plain.status")" = 0 ] || skip "$kind does not run here: $(head -3 "$TMP/plain.err")"
	misplaced_without
	modes="audit preload"
	[ "$kind" != tsan ] || modes=preload
	for mode in $modes; do
		run "$mode" "${plain_command[@]}"
		same "$mode"
		congruent "$mode" --at-least 2
	done
	run plain "${plain_command[@]}" bug
	[ -n "$(sed -nE "$summary" "$TMP/plain.err")" ] || fail "$kind finds nothing in plain mode"
	for mode in $modes; do
		run "$mode" "${plain_command[@]}" bug
		same "$mode" sed -nE "/^[0-9]+\$/p; $summary"
	done
done
