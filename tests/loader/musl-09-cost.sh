#!/bin/bash
# SPDX-License-Identifier: MIT
# What a start costs in instructions of user mode and in system calls, compared with stock musl: at most
# 2 % more instructions for a program with nothing to gain and for one with 12 libraries of 48 to place.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
need strace
musl_loaders
misaligning_root

gcc -O1 -o "$TMP/count_steps" "$EA_TOP/tests/loader/count_steps.c" || fail "count_steps.c"
many=()
for i in 0 1 2 3 4 5; do
	for j in 0 1 2 3 4 5 6 7; do
		many+=("many$i$j")
	done
done

# build NAME LIBRARY... - both programs
build() {
	local name=$1
	shift
	sed "1i #define LIBRARIES $(printf 'X(%s) ' "$@")" "$EA_TOP/tests/loader/libraries.c" \
		>"$TMP/$name.c"
	[ $# -gt 0 ] || sed -i '1s/.*/#define LIBRARIES/' "$TMP/$name.c"
	musl_program "$patched" "$TMP/$name-patched" "$TMP/$name.c" "$@"
	musl_program "$stock" "$TMP/$name-stock" "$TMP/$name.c" "$@"
}

# cost NAME PERMILLE - and no more than this above stock
cost() {
	local name=$1 counts=() calls=() kind
	for kind in stock patched; do
		"$TMP/count_steps" "$TMP/$name-$kind" >/dev/null 2>"$TMP/steps" || fail "$name-$kind"
		counts+=("$(cat "$TMP/steps")")
		strace -o "$TMP/trace" "$TMP/$name-$kind" || fail "$name-$kind cannot be traced"
		calls+=("$(grep -c '^[a-z]' "$TMP/trace")")
	done
	note "$name: instructions ${counts[*]}, system calls ${calls[*]} (stock, patched)"
	said="$said${said:+; }$name: $(awk -v a="${counts[0]}" -v b="${counts[1]}" \
		'BEGIN { printf "%+.2f %%", (b / a - 1) * 100 }') instructions, $((calls[1] - calls[0])) calls"
	[ $((counts[1] * 1000)) -le $((counts[0] * (1000 + $2))) ] ||
		fail "$name: ${counts[1]} instructions, stock ${counts[0]}"
}

said=
build nothing
build small many01 many02 many03 many05 many06 many07
build many "${many[@]}"
cost nothing 20
cost small 20
cost many 20
headline "$said"
