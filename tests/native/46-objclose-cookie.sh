#!/bin/bash
# SPDX-License-Identifier: MIT
# A library in a namespace of its own, found by a bare name, comes and goes. glibc announces the end
# of ld.so's stand-in there with a cookie that no auditor gave out: the shim must not write to what
# it points to. Another auditor, told after the shim, still sees every object's name.
. "$(dirname "$0")/lib.sh"
misaligning_root

# libm needs libc, which needs ld.so. The others need nothing.
app=("$FIXTURES/app" call new:libm.so.6 close new:libtext6m.so close new:libm.so.6 close)
compare "${app[@]}"

other=$FIXTURES/closing_auditor.so
run_env=("LD_AUDIT=$other")
run_plain "${app[@]}"
grep -q '^auditor: closes .*/libm.so.6$' "$TMP/plain.err" ||
	fail "the other auditor: $(cat "$TMP/plain.err")"
# Once at the end, and the stand-ins.
[ "$(grep -c '^auditor: closes .*/ld-linux' "$TMP/plain.err")" -gt 1 ] ||
	skip "this glibc does not announce the end of ld.so's stand-in"
! grep -q 'lost its name' "$TMP/plain.err" || fail "plain: $(cat "$TMP/plain.err")"
for run_audit in "$SHIM:$other" "$other:$SHIM"; do
	run audit "${app[@]}"
	same audit
	congruent audit
done
