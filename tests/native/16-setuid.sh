#!/bin/bash
# SPDX-License-Identifier: MIT
# A set-user-ID program, run by another user, ignores the shim: the same output, and the shim is not
# mapped in it. A set-user-ID child of a program under the shim likewise.
. "$(dirname "$0")/lib.sh"
[ "${EA_REAL_UID:-$(id -u)}" = 0 ] || skip "needs root to make a set-user-ID program"
need setpriv

cp /usr/bin/id "$TMP/id"
cp /usr/bin/cat "$TMP/cat"
chmod 4755 "$TMP/id" "$TMP/cat"
run_keeps_maps=
run_prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${run_prefix[@]}" test -r "$SHIM" || skip "another user cannot read $SHIM"
compare_output "$TMP/id"
grep -q 'euid=0' "$TMP/plain.out" || skip "set-user-ID has no effect in $TMP"
for mode in audit preload; do
	run "$mode" "$TMP/cat" /proc/self/maps
	[ "$(cat "$TMP/$mode.status")" = 0 ] || fail "$mode: cat failed"
	! grep -q "$SHIM" "$TMP/$mode.out" || fail "$mode: the shim is mapped in a set-user-ID program"
done
run preload cat /proc/self/maps
grep -q "$SHIM" "$TMP/preload.out" || fail "the shim is not mapped where it should be"
compare_output sh -c '"$1"; perl -e "exec @ARGV" "$1"' sh "$TMP/id"
