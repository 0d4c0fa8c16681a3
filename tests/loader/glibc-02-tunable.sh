#!/bin/bash
# SPDX-License-Identifier: MIT
# glibc.elf.exec_align: 0 is off, 1 on, a size is the block; what is none of these is ignored. A
# set-user-ID program ignores all of it.
# timeout: 5400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/glibc.sh"
glibc_loaders
misaligning_root

sed '1i #define LIBRARIES X(text5m) X(text10m) X(text300k) X(l_lld)' \
	"$EA_TOP/tests/loader/libraries.c" >"$TMP/libraries.c"
glibc_program "$patched" "$TMP/program" "$TMP/libraries.c" text5m text10m text300k l_lld

# off WHAT - none of the three is where it should be; 1 in 512 is there by luck
off() {
	local tries
	for tries in 1 2 3; do
		run plain "$TMP/program"
		works plain
		! placement plain --list-congruent --quiet | grep -q . || continue
		return 0
	done
	fail "$1: $(placement plain)"
}

on() {
	run plain "$TMP/program"
	works plain
	placement plain --expect-congruent --at-least 3 >/dev/null || fail "$1: $(placement plain)"
}

setting() {
	run_env=("GLIBC_TUNABLES=glibc.elf.exec_align=$1")
}

setting 0
off "0"
for value in 1 2097152 0x200000 2 3 4095 3000000 0x80000000 18446744073709551615; do
	setting "$value"
	on "$value"
done
# What is no number: glibc from 2.39 on ignores it; before, the digits in front count. (Nothing at all is
# 0 for all of them.)
if [ "${EXECALIGN_GLIBC#2.}" -ge 39 ]; then
	for value in off 2M 1x; do
		setting "$value"
		on "'$value', which is to be ignored"
	done
fi
setting ''
off 'nothing, which is 0'
# A smaller block takes in the smaller library; a text without a whole 32M is left alone.
for _ in 1 2 3 4; do
	setting 65536
	run plain "$TMP/program"
	works plain
	placement plain --block 65536 --expect-congruent --at-least 4 >/dev/null ||
		fail "65536: $(placement plain --block 65536)"
done
setting 33554432
off 33554432

# The default says what happens in a set-user-ID program.
if [ "${EA_REAL_UID:-$(id -u)}" != 0 ] || ! command -v setpriv >/dev/null; then
	skip "all but the set-user-ID program passed, which needs root and setpriv to be made"
fi
cp -r "$patched" "$TMP/lib"
chmod -R a+rX "$TMP" "$TMP/lib"
glibc_program "$TMP/lib" "$TMP/plain" "$TMP/libraries.c" text5m text10m text300k l_lld
cp "$TMP/plain" "$TMP/setuid"
chmod 4755 "$TMP/setuid"
run_keeps_maps=
run_prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups)
setting 0
"${run_prefix[@]}" test -r "$FIXTURES/libtext5m.so" || skip "another user cannot read $FIXTURES"

# judge PROGRAM OPTION... - placement of the maps that it prints itself
judge() {
	local program=$1
	shift
	run plain "$program" -m
	works plain
	"$PLACEMENT" "$TMP/plain.out" --exe "$program" --quiet --at-least 3 "$@" 2>&1
}

judge "$TMP/plain" --expect-misplaced || judge "$TMP/plain" --expect-misplaced ||
	fail "0 has no effect, so that nothing can be seen"
for _ in 1 2 3; do
	judge "$TMP/setuid" --expect-congruent || fail "a set-user-ID program heeds the tunable"
done
