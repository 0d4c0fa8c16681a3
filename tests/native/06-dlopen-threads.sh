#!/bin/bash
# SPDX-License-Identifier: MIT
# dlopen from 8 threads at once, of different libraries and of the same, again and again: every
# library works, and is congruent as long as only the loader maps. Where another thread maps and
# unmaps all the time, a library may be misplaced but must work.
. "$(dirname "$0")/lib.sh"
misaligning_root

libraries=()
for name in many00 many04 many10 many14 many20 many24 many30 many34; do
	libraries+=("$FIXTURES/lib$name.so")
done
for round in 1 2 3; do
	compare --at-least 8 "$FIXTURES/threads" quiet "${libraries[@]}"
	compare_output "$FIXTURES/threads" noisy "${libraries[@]}"
	note "round $round, noisy: $(placement audit | tail -1)"
done
