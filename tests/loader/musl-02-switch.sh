#!/bin/bash
# SPDX-License-Identifier: MIT
# LD_EXEC_ALIGN: 0 is off, 1 on, a size is the block; anything else is ignored, and so is all of it in a
# set-user-ID program. A loader that was configured with --disable-exec-align is off until it is set.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
musl_loaders
misaligning_root

sed '1i #define LIBRARIES X(text5m) X(text10m) X(text300k) X(l_lld)' \
	"$EA_TOP/tests/loader/libraries.c" >"$TMP/libraries.c"
musl_program "$patched" "$TMP/program" "$TMP/libraries.c" text5m text10m text300k l_lld

# off WHAT - none of the three is where it should be; 1 in 512 is there by luck
off() {
	local tries
	for tries in 1 2 3; do
		run plain "$TMP/program"
		works plain
		! placement plain --expect-congruent >/dev/null || continue
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

run_env=(LD_EXEC_ALIGN=0)
off "LD_EXEC_ALIGN=0"
run_env=(LD_EXEC_ALIGN=1)
on "LD_EXEC_ALIGN=1"
run_env=(LD_EXEC_ALIGN=0x200000)
on "LD_EXEC_ALIGN=0x200000"
run_env=(LD_EXEC_ALIGN=2097152)
on "LD_EXEC_ALIGN=2097152"
for value in '' 2 3 0x 0x1g 1x ' 1' -1 +0 4096 2M 0x300000 0x80000000 18446744073709551616 \
	99999999999999999999999 off; do
	run_env=("LD_EXEC_ALIGN=$value")
	on "LD_EXEC_ALIGN='$value', which is to be ignored"
	[ ! -s "$TMP/plain.err" ] || fail "LD_EXEC_ALIGN='$value': $(cat "$TMP/plain.err")"
done

# A smaller block takes in the smaller library; a text without a whole 32M is left alone.
for _ in 1 2 3 4; do
	run_env=(LD_EXEC_ALIGN=65536)
	run plain "$TMP/program"
	works plain
	placement plain --block 65536 --expect-congruent --at-least 4 >/dev/null ||
		fail "LD_EXEC_ALIGN=65536: $(placement plain --block 65536)"
done
run_env=(LD_EXEC_ALIGN=0x2000000)
off "LD_EXEC_ALIGN=0x2000000"

MUSL_CONFIGURE=--disable-exec-align loader_part musl "$EXECALIGN_MUSL" x86_64
musl_program "$part/lib/ld-musl-x86_64.so.1" "$TMP/program" "$TMP/libraries.c" text5m text10m \
	text300k l_lld
run_env=()
off "--disable-exec-align"
run_env=(LD_EXEC_ALIGN=1)
on "--disable-exec-align and LD_EXEC_ALIGN=1"
run_env=(LD_EXEC_ALIGN=2M)
off "--disable-exec-align and a value that is to be ignored"
