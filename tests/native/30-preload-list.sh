#!/bin/bash
# SPDX-License-Identifier: MIT
# LD_PRELOAD together with another preload library that interposes mmap and puts, before and after
# the shim: it works as without the shim, its constructor speaks once, and the libraries are
# congruent.
. "$(dirname "$0")/lib.sh"
misaligning_root

other=$FIXTURES/other_preload.so
app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" close "open:$FIXTURES/libtext6m.so")
plain_command=(env "LD_PRELOAD=$other" "${app[@]}")
run plain "${plain_command[@]}"
misplaced_without
grep -q '^interposed' "$TMP/plain.out" || fail "the other library interposes nothing even plain"
grep -q 'preload: mmap was' "$TMP/plain.err" ||
	note "the program calls no mmap through the interposer"
for run_preload in "$other:$SHIM" "$SHIM:$other" "$other $SHIM" "$SHIM $other" \
	"$SHIM:$SHIM:$other"; do
	run preload "${app[@]}"
	same preload
	congruent preload --at-least 3
done
# A list that names a missing library makes ld.so complain, not fail.
run plain env LD_PRELOAD=/nonexistent/library.so "${app[@]}"
run_preload=/nonexistent/library.so:$SHIM
run preload "${app[@]}"
cmp -s "$TMP/plain.out" "$TMP/preload.out" || fail "with a missing library"
congruent preload --at-least 3
