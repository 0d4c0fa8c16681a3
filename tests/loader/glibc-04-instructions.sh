#!/bin/bash
# SPDX-License-Identifier: MIT
# serial
# A start takes at most 2 % more instructions of user mode than with stock glibc: of a program without
# libraries, with 6 small ones, with 11 that are mostly to be placed, and with 48, 12 of them to be placed.
# What it takes in system calls is said as well.
# timeout: 5400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/glibc.sh"
need strace
glibc_loaders
misaligning_root

gcc -O1 -Wall -o "$TMP/count_steps" "$EA_TOP/tests/loader/count_steps.c"
many=()
for i in 0 1 2 3 4 5; do
	for j in 0 1 2 3 4 5 6 7; do
		many+=("many$i$j")
	done
done

# cost NAME LIBRARY... - of a program with these libraries, with both loaders
cost() {
	local name=$1 loader counts=() calls=()
	shift
	sed "1i #define LIBRARIES $(for library; do printf 'X(%s) ' "$library"; done)" \
		"$EA_TOP/tests/loader/libraries.c" >"$TMP/$name.c"
	for loader in stock patched; do
		glibc_program "${!loader}" "$TMP/$loader" "$TMP/$name.c" "$@"
		# The first run's page cache may be cold.
		for _ in 1 2; do
			"$TMP/count_steps" "$TMP/$loader" 2>"$TMP/steps" || fail "$name cannot be counted"
		done
		counts+=("$(cat "$TMP/steps")")
		strace -o "$TMP/trace" "$TMP/$loader" || fail "$name cannot be traced"
		calls+=("$(grep -c '^[a-z]' "$TMP/trace")")
	done
	[ "${counts[0]}" -gt 10000 ] || fail "$name: ${counts[0]} instructions are too few to be true"
	note "$name: instructions ${counts[*]}, system calls ${calls[*]} (stock, patched)"
	said="$said${said:+; }$name: $(awk -v a="${counts[0]}" -v b="${counts[1]}" \
		'BEGIN { printf "%+.2f %%", (b / a - 1) * 100 }') instructions, $((calls[1] - calls[0])) calls"
	[ $((counts[1] * 100)) -le $((counts[0] * 102)) ] || too_much="$too_much $name"
}

said='' too_much=''
cost nothing
cost small many01 many02 many03 many05 many06 many07
cost large l_bfd l_large l_300k l_align64k l_together l_oddbased l_lld l_lld64k l_two text5m text10m
cost many "${many[@]}"
[ -z "$too_much" ] || fail "more than 2 %:$too_much: $said"
headline "$said"
