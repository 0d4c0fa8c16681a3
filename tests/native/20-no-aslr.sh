#!/bin/bash
# SPDX-License-Identifier: MIT
# Without address space randomization (setarch -R, as debuggers start programs): everything
# congruent, and two starts have the same addresses, so the shim does not randomize either.
. "$(dirname "$0")/lib.sh"
need setarch
misaligning_root

run_prefix=(setarch -R)
app=("$FIXTURES/app" call bases "open:$FIXTURES/libtext6m.so")
# Without randomization a second try for misplacement would be the same as the first.
compare --at-least 3 --filter '/^[0-9a-f]+ [0-9a-f]+$/d' "${app[@]}"
for mode in audit preload; do
	cp "$TMP/$mode.out" "$TMP/first"
	run "$mode" "${app[@]}"
	cmp -s "$TMP/first" "$TMP/$mode.out" || fail "$mode: addresses differ between two starts"
done
compare --at-least 12 "$FIXTURES/many"
