#!/bin/bash
# SPDX-License-Identifier: MIT
# serial
# A start takes at most 2 % more instructions than with stock glibc: of a program without large libraries,
# and of one with many, small and large.
# timeout: 5400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/glibc.sh"
glibc_loaders
misaligning_root

gcc -O1 -Wall -o "$TMP/count_steps" "$EA_TOP/tests/loader/count_steps.c"
sed '1i #define LIBRARIES' "$EA_TOP/tests/loader/libraries.c" >"$TMP/small.c"
linked=(l_bfd l_large l_300k l_align64k l_together l_oddbased l_lld l_lld64k l_two text5m text10m)
sed "1i #define LIBRARIES $(printf 'X(%s) ' "${linked[@]}")" \
	"$EA_TOP/tests/loader/libraries.c" >"$TMP/large.c"

said=
for program in small large; do
	libraries=()
	[ "$program" = small ] || libraries=("${linked[@]}")
	for loader in stock patched; do
		glibc_program "${!loader}" "$TMP/$loader" "$TMP/$program.c" "${libraries[@]}"
		# The first run's page cache may be cold.
		for _ in 1 2; do
			"$TMP/count_steps" "$TMP/$loader" 2>"$TMP/$loader.steps" ||
				fail "$program cannot be counted"
		done
	done
	before=$(cat "$TMP/stock.steps") after=$(cat "$TMP/patched.steps")
	[ "$before" -gt 10000 ] || fail "$program: $before instructions are too few to be true"
	said="$said${said:+; }$program: $before, $after"
	[ $((after * 100)) -le $((before * 102)) ] || fail "more than 2 %: $said"
done
headline "instructions of a start without and with: $said"
