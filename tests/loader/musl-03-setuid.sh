#!/bin/bash
# SPDX-License-Identifier: MIT
# A set-user-ID program ignores LD_EXEC_ALIGN, and is placed as the default says.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
[ "${EA_REAL_UID:-$(id -u)}" = 0 ] || skip "needs root to make a set-user-ID program"
need setpriv
musl_loaders
misaligning_root

sed '1i #define LIBRARIES X(text5m) X(text10m)' "$EA_TOP/tests/loader/libraries.c" \
	>"$TMP/libraries.c"
# The loader has to be where another user reaches it.
cp "$patched" "$TMP/ld-musl-x86_64.so.1"
musl_program "$TMP/ld-musl-x86_64.so.1" "$TMP/plain" "$TMP/libraries.c" text5m text10m
cp "$TMP/plain" "$TMP/setuid"
chmod 4755 "$TMP/setuid"
run_keeps_maps=
run_prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups)
run_env=(LD_EXEC_ALIGN=0)
"${run_prefix[@]}" test -r "$FIXTURES/libtext5m.so" || skip "another user cannot read $FIXTURES"

# judge PROGRAM OPTION... - placement of the maps that it prints itself
judge() {
	local program=$1
	shift
	run plain "$program" -m
	works plain
	"$PLACEMENT" "$TMP/plain.out" --exe "$program" --quiet --at-least 2 "$@" >/dev/null 2>&1
}

judge "$TMP/plain" --expect-misplaced || judge "$TMP/plain" --expect-misplaced ||
	fail "LD_EXEC_ALIGN=0 has no effect, so that nothing can be seen"
for _ in 1 2 3; do
	judge "$TMP/setuid" --expect-congruent || fail "a set-user-ID program heeds LD_EXEC_ALIGN"
done
