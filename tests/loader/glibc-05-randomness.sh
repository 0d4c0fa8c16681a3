#!/bin/bash
# SPDX-License-Identifier: MIT
# Addresses of placed libraries stay random, at start-up as random as those of other libraries; they lie
# together; and without randomness they are the same in every run.
# timeout: 5400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/glibc.sh"
glibc_loaders
misaligning_root

sed '1i #define LIBRARIES X(text5m) X(text10m) X(text300k)' "$EA_TOP/tests/loader/libraries.c" \
	>"$TMP/libraries.c"
glibc_program "$patched" "$TMP/program" "$TMP/libraries.c" text5m text10m text300k

# starts N [PREFIX...] - a line per start: where text10m, text300k, text5m and text6m are; the last is
# given to dlopen
starts() {
	local count=$1
	shift
	for _ in $(seq "$count"); do
		"$@" "$TMP/program" -m "$FIXTURES/libtext6m.so" |
			sed -nE 's/^([0-9a-f]+)-[^ ]+ r--p 00000000 .*\/lib(text[0-9]+[mk])\.so$/\2 \1/p' |
			sort | sed 's/.* //' | paste -sd ' '
	done
}
starts 400 >"$TMP/random"
[ "$(wc -l <"$TMP/random")" = 400 ] || fail "not all programs started: $(head -n 2 "$TMP/random")"
python3 - "$TMP/random" <<'END' >"$TMP/said" || fail "not as random as it should be: $(cat "$TMP/said")"
import sys
rows = [[int(word, 16) for word in line.split()] for line in open(sys.argv[1])]
high, small, low, later = zip(*rows)
block = 2 << 20
assert all(at % block == 0 for at in high + low + later), "not congruent"
# 400 draws of 2^17 places or more: one pair that is equal is likely, ten are not.
places = {at // block for at in high}
print("different places: %d of 400" % len(places))
assert len(places) > 390
# The distance from what the kernel places has 17 bits of its own.
distances = {(s - h) // block for s, h in zip(small, high)}
print("different distances from the small library: %d" % len(distances))
assert len(distances) > 390
spread = (max(high) - min(high)) >> 30
print("spread: %d GiB" % spread)
assert spread > 256
# The two are neighbours, with less than a block between them.
assert {h - l for h, l in zip(high, low)} <= {high[0] - low[0]}, "not together"
# What comes later is where the kernel has room: 28 bits of pages, less 9.
places = {at // block for at in later}
print("of the one that is loaded later: %d" % len(places))
assert len(places) > 390
END
said=$(sort -u <(starts 5 setarch -R))
[ "$(wc -l <<<"$said")" = 1 ] || fail "without randomness the addresses differ: $said"
headline "$(paste -sd ';' "$TMP/said")"
