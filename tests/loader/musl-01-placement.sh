#!/bin/bash
# SPDX-License-Identifier: MIT
# Under the patched loader every eligible library is congruent: linked, given to dlopen, of a program
# that the kernel starts and of one that the loader is asked to start. Under stock musl they are not.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
musl_loaders
misaligning_root

linked=(l_bfd l_large l_none l_300k l_align64k l_align2m l_together l_oddbased l_lld l_lld64k
	l_lldbased l_two text5m text10m)
later=()
for name in l_based l_based64k l_lld2m l_lldseparate l_two64k text6m; do
	later+=("$FIXTURES/lib$name.so")
done
names=$(printf 'X(%s) ' "${linked[@]}")
sed "1i #define LIBRARIES $names" "$EA_TOP/tests/loader/libraries.c" >"$TMP/libraries.c"
musl_program "$patched" "$TMP/patched" "$TMP/libraries.c" "${linked[@]}"
musl_program "$stock" "$TMP/stock" "$TMP/libraries.c" "${linked[@]}"

# One in 512 is in the right place by luck, but not eighteen.
run plain "$TMP/stock" "${later[@]}"
works plain
placement plain --expect-misplaced --at-least 18 >/dev/null ||
	fail "nothing is misplaced under stock musl: $(placement plain --expect-misplaced)"

for _ in 1 2 3 4 5; do
	run plain "$TMP/patched" "${later[@]}"
	works plain
	congruent plain --at-least 18
	run plain "$patched" "$TMP/stock" "${later[@]}"
	works plain
	congruent plain --at-least 18
done
# Other layouts: no randomness, bottom-up, an address space that has just enough room.
run_prefix=(setarch -R)
run plain "$TMP/patched" "${later[@]}"
works plain
congruent plain --at-least 18
run_prefix=(setarch -L)
run plain "$TMP/patched" "${later[@]}"
works plain
congruent plain --at-least 18
run_prefix=(prlimit --as=$((400 << 20)))
run plain "$TMP/patched" "${later[@]}"
works plain
congruent plain --at-least 18

# A program that the loader maps is placed, too: it is a PIE, but maps as any library does.
sed "1i #define LIBRARIES $names" "$EA_TOP/tests/loader/libraries.c" >"$TMP/big.c"
printf '%s\n' '__asm__(".text\n\t.fill 5 * 1024 * 256, 4, 0x90909090");' >>"$TMP/big.c"
musl_program "$patched" "$TMP/big" "$TMP/big.c" "${linked[@]}"
run plain "$patched" "$TMP/big" -m
works plain
grep -m 1 'r-xp.*/big$' "$TMP/plain.out" >"$TMP/big.text" || fail "no text of the program in its maps"
read -r range _ offset _ <"$TMP/big.text"
[ $(((0x${range%-*} - 0x$offset) % (2 << 20))) = 0 ] || fail "the program: $(cat "$TMP/big.text")"
run_prefix=()
run plain "$TMP/patched" "${later[@]}"
headline "$(placement plain --expect-congruent), and the program that the loader starts is"
