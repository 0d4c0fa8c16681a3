#!/bin/bash
# SPDX-License-Identifier: MIT
# Addresses of placed libraries stay random, all of them move together, and without randomness they are
# the same in every run.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
musl_loaders
misaligning_root

sed '1i #define LIBRARIES X(text5m) X(text10m) X(text300k)' "$EA_TOP/tests/loader/libraries.c" \
	>"$TMP/libraries.c"
musl_program "$patched" "$TMP/program" "$TMP/libraries.c" text5m text10m text300k

# starts N [PREFIX...] - a line per start: where text10m, text300k and text5m are
starts() {
	local count=$1
	shift
	for _ in $(seq "$count"); do
		"$@" "$TMP/program" -m |
			sed -nE 's/^([0-9a-f]+)-[^ ]+ r--p 00000000 .*\/lib(text[0-9]+[mk])\.so$/\2 \1/p' |
			sort | sed 's/.* //' | paste -sd ' '
	done
}
starts 400 >"$TMP/random"
[ "$(wc -l <"$TMP/random")" = 400 ] || fail "not all programs started: $(head -n 2 "$TMP/random")"
python3 - "$TMP/random" <<'END' || fail "addresses are not as random as they should be"
import collections, math, sys
rows = [[int(word, 16) for word in line.split()] for line in open(sys.argv[1])]
high, small, low = zip(*rows)
block = 2 << 20
assert all(at % block == 0 for at in high + low), "not congruent"
# 400 draws of 2^17 places or more: one pair that is equal is likely, ten are not.
places = [at // block for at in high]
print("different places: %d of 400" % len(set(places)))
assert len(set(places)) > 390
# Their distance from what the kernel places has 9 bits: 512 values, 277 of which 400 draws hit.
distances = {(s - h) // block for s, h in zip(small, high)}
print("different distances from the small library: %d" % len(distances))
assert len(distances) > 230
# The two stay together, but where the kernel's place for the first was congruent by itself: once in 512
# starts, and then that one has not moved away from the small library, which nobody moves.
distance = collections.Counter(h - l for h, l in zip(high, low)).most_common(1)[0][0]
apart = [(s, l) for h, s, l in rows if h - l != distance]
print("not together: %d" % len(apart))
assert len(apart) < 10 and all(abs(s - l) < 64 << 20 for s, l in apart)
spread = (max(high) - min(high)) >> 30
print("spread: %d GiB, at least %.1f bits" % (spread, math.log2(len(set(places)))))
assert spread > 256
END
[ "$(starts 5 setarch -R | sort -u | wc -l)" = 1 ] || fail "without randomness the addresses differ"
