#!/bin/bash
# SPDX-License-Identifier: MIT
# Under the patched loader every eligible library is congruent: linked, given to dlopen and dlmopen, of a
# program that the kernel starts and of one that the loader is asked to start, and under an auditor.
# Under stock glibc they are not.
# timeout: 5400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/glibc.sh"
glibc_loaders
misaligning_root

linked=(l_bfd l_large l_none l_300k l_align64k l_align2m l_together l_oddbased l_lld l_lld64k
	l_lldbased l_two text5m text10m)
later=()
for name in l_based l_based64k l_lld2m l_lldseparate l_two64k text6m; do
	later+=("$FIXTURES/lib$name.so")
done
names=$(printf 'X(%s) ' "${linked[@]}")
sed "1i #define LIBRARIES $names" "$EA_TOP/tests/loader/libraries.c" >"$TMP/libraries.c"
glibc_program "$patched" "$TMP/patched" "$TMP/libraries.c" "${linked[@]}"
glibc_program "$stock" "$TMP/stock" "$TMP/libraries.c" "${linked[@]}"

# One in 512 is in the right place by luck. Those that ask for 2M themselves are placed by stock glibc.
run plain "$TMP/stock" "${later[@]}"
works plain
misplaced=$(placement plain --quiet | sed -n 's/^eligible .* misplaced //p')
[ "$misplaced" -ge 12 ] || fail "only $misplaced are misplaced under stock glibc: $(placement plain)"

for _ in 1 2 3 4 5; do
	run plain "$TMP/patched" "${later[@]}"
	works plain
	congruent plain --at-least 20
	run plain "$patched/$rtld" --library-path "$patched:$FIXTURES" "$TMP/patched" "${later[@]}"
	works plain
	congruent plain --at-least 20
done

# Other layouts: no randomness, bottom-up, an address space that has just enough room.
for prefix in 'setarch -R' 'setarch -L' "prlimit --as=$((400 << 20))"; do
	read -ra run_prefix <<<"$prefix"
	run plain "$TMP/patched" "${later[@]}"
	works plain
	congruent plain --at-least 20
done
run_prefix=()

# An auditor that does nothing, and libraries in another namespace.
cat >"$TMP/auditor.c" <<'END'
unsigned int la_version(unsigned int version) { return version; }
END
gcc -shared -fPIC -nostdlib -o "$TMP/auditor.so" "$TMP/auditor.c"
run_env=("LD_AUDIT=$TMP/auditor.so")
run plain "$TMP/patched" "${later[@]}"
works plain
congruent plain --at-least 20
run_env=()
sed 's/dlopen(path, RTLD_NOW)/dlmopen(LM_ID_NEWLM, path, RTLD_NOW)/; 1i #define _GNU_SOURCE' \
	"$TMP/libraries.c" >"$TMP/dlmopen.c"
grep -q LM_ID_NEWLM "$TMP/dlmopen.c"
glibc_program "$patched" "$TMP/dlmopen" "$TMP/dlmopen.c" "${linked[@]}"
run plain "$TMP/dlmopen" "${later[@]}"
works plain
congruent plain --at-least 20

# A program that the loader maps is placed as any library.
{
	cat "$TMP/libraries.c"
	echo '__asm__(".text; .fill 5 * 1024 * 256, 4, 0x90909090");'
} >"$TMP/big.c"
glibc_program "$patched" "$TMP/big" "$TMP/big.c" "${linked[@]}"
run plain "$patched/$rtld" "$TMP/big" -m
works plain
grep -m 1 'r-xp.*/big$' "$TMP/plain.out" >"$TMP/big.text" || fail "no text of the program in its maps"
read -r range _ offset _ <"$TMP/big.text"
[ $(((0x${range%-*} - 0x$offset) % (2 << 20))) = 0 ] || fail "the program: $(cat "$TMP/big.text")"
headline "20 of 20 eligible libraries congruent, $misplaced of them misplaced without; also the program"
