#!/bin/bash
# SPDX-License-Identifier: MIT
# A program overwrites the strings of its environment to show a title in ps. The settings that it
# was started with hold all the same: switched off, or with a library denied.
. "$(dirname "$0")/lib.sh"
misaligning_root

app=("$FIXTURES/title" "$TMP/witness" "$FIXTURES/libtext10m.so" "$FIXTURES/libtext6m.so"
	"$FIXTURES/libl_large.so")
run_plain "${app[@]}"
misplaced_without
run preload "${app[@]}"
same preload
[ "$(grep -c congruent "$TMP/witness")" = 3 ] || fail "preload: $(cat "$TMP/witness")"
congruent preload --at-least 2

run_env=(EXECALIGN=off)
for mode in audit preload; do
	run "$mode" "${app[@]}"
	same "$mode"
	grep -q misplaced "$TMP/witness" || fail "$mode: EXECALIGN=off is forgotten"
	placement "$mode" --expect-misplaced || fail "$mode: EXECALIGN=off is forgotten"
done

# A pattern for the library that is loaded and one for the file that is mapped.
run_env=("EXECALIGN_DENY=libtext*m.so")
for mode in audit preload; do
	run "$mode" "${app[@]}"
	same "$mode"
	grep -q misplaced "$TMP/witness" || fail "$mode: EXECALIGN_DENY is forgotten for mappings"
	placement "$mode" --expect-misplaced --only libtext6m.so ||
		fail "$mode: EXECALIGN_DENY is forgotten for libraries"
	congruent "$mode" --only libl_large.so
done
