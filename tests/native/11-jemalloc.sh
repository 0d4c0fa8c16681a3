#!/bin/bash
# SPDX-License-Identifier: MIT
# A program linked with jemalloc, whose initial-exec TLS is larger than what glibc keeps free under
# an auditor, and the same with jemalloc preloaded: works under LD_PRELOAD, libraries congruent.
. "$(dirname "$0")/lib.sh"
misaligning_root

plain_command=("$FIXTURES/jemalloc")
run plain "$FIXTURES/jemalloc"
grep -q '^sum ' "$TMP/plain.out" || fail "the fixture does not run: $(cat "$TMP/plain.err")"
misplaced_without
run preload "$FIXTURES/jemalloc"
same preload
congruent preload

jemalloc=$(realpath "$(awk '/libjemalloc/ { print $6; exit }' "$TMP/plain.maps")")
for list in "$SHIM:$jemalloc" "$jemalloc:$SHIM"; do
	run_preload=$list
	run preload "$FIXTURES/app" call
	grep -qx 'call: 6' "$TMP/preload.out" || fail "LD_PRELOAD=$list: $(cat "$TMP/preload.err")"
	[ ! -s "$TMP/preload.err" ] || fail "LD_PRELOAD=$list: $(cat "$TMP/preload.err")"
	congruent preload
done
