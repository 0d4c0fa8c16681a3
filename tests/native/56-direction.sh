#!/bin/bash
# SPDX-License-Identifier: MIT
# During the first dlopen another thread gives memory back, at each moment in turn. The shim may
# take where its probes land then for the kernel's direction of search, and miss with this library;
# it must not miss with the ones that follow in peace.
. "$(dirname "$0")/lib.sh"
misaligning_root

# upset STOP MODE - one run; the places are in $TMP/witness
upset() {
	run "$2" "$FIXTURES/upset_probes" "$1" "$TMP/witness" "$FIXTURES/libmany00.so" \
		"$FIXTURES/libmany04.so" "$FIXTURES/libmany10.so" "$FIXTURES/libmany14.so"
}

# Only the child's maps would be of interest.
run_keeps_maps=
upset 0 plain
[ "$(cat "$TMP/plain.out")" = 'opened: all, unmapped: 1' ] || fail "plain: $(cat "$TMP/plain.err")"
grep -q misplaced "$TMP/witness" || fail "plain: $(cat "$TMP/witness")"
for mode in audit preload; do
	missed=0
	for stop in {0..80..4}; do
		upset "$stop" "$mode"
		same "$mode"
		! grep -q '^libmany00.so misplaced' "$TMP/witness" || missed=$((missed + 1))
		[ "$(sed 1d "$TMP/witness" | grep -c congruent)" = 3 ] ||
			fail "$mode: upset at $stop: $(cat "$TMP/witness")"
	done
	[ "$missed" != 0 ] || fail "$mode: the first library was never upset"
	note "$mode: the first library missed its place $missed times of 21, the others never"
done
