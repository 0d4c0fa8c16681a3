#!/bin/bash
# SPDX-License-Identifier: MIT
# An application that maps code by itself: executable file mappings without an address become
# congruent under LD_PRELOAD; what has an address, MAP_FIXED or MAP_32BIT, what is short, not
# executable or anonymous is left alone; errors are the same. With glibc and with musl (LD_PRELOAD
# only).
. "$(dirname "$0")/lib.sh"
misaligning_root

for program in mmap_exec mmap_exec-musl; do
	[ -x "$FIXTURES/$program" ] || fail "there is no $program"
	run plain "$FIXTURES/$program" "$FIXTURES/libtext10m.so" "$TMP/witness.plain"
	[ "$(cat "$TMP/plain.status")" = 0 ] || fail "$program does not run plain: $(cat "$TMP/plain.err")"
	grep -q 'misplaced' "$TMP/witness.plain" ||
		fail "$program: plain, nothing is misplaced: $(cat "$TMP/witness.plain")"
	run preload "$FIXTURES/$program" "$FIXTURES/libtext10m.so" "$TMP/witness.preload"
	same preload
	[ "$(grep -c congruent "$TMP/witness.preload")" = 5 ] ||
		fail "$program: $(cat "$TMP/witness.preload")"
	note "$program: $(grep -c misplaced "$TMP/witness.plain") of 5 misplaced plain, none preloaded"
	run_env=(EXECALIGN=off)
	run preload "$FIXTURES/$program" "$FIXTURES/libtext10m.so" "$TMP/witness.off"
	same preload
	grep -q 'misplaced' "$TMP/witness.off" || fail "$program: EXECALIGN=off has no effect"
	run_env=()
done
