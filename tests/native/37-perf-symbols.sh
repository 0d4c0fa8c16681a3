#!/bin/bash
# SPDX-License-Identifier: MIT
# perf names the function of a library that the shim has placed, as it does plain; the library is
# congruent in that program.
. "$(dirname "$0")/lib.sh"
need perf
misaligning_root

profile() {
	perf record -q -e cpu-clock -F 500 -o "$TMP/perf.data" -- env "$@" "$FIXTURES/app" spin:100000000 \
		>"$TMP/perf.out" 2>"$TMP/perf.err" </dev/null ||
			skip "perf cannot record here: $(tail -1 "$TMP/perf.err")"
	perf report -i "$TMP/perf.data" --stdio --no-children --sort dso,symbol \
		>"$TMP/report" 2>/dev/null </dev/null ||
		skip "perf cannot report here"
}
profile NOTHING=
grep -q 'text10m_spin' "$TMP/report" ||
	skip "perf finds no symbol even plain: $(grep -m3 % "$TMP/report")"
compare --at-least 2 "$FIXTURES/app" spin:1000
for variable in "LD_AUDIT=$SHIM" "LD_PRELOAD=$SHIM"; do
	profile "$variable"
	awk '/libtext10m.so/ && /text10m_spin/ { share = $1 + 0 } END { exit share < 50 }' "$TMP/report" ||
		fail "$variable: $(grep % "$TMP/report" | head -5)"
done
