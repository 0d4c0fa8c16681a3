#!/bin/bash
# SPDX-License-Identifier: MIT
# Another auditor in LD_AUDIT, before and after the shim, or there already when the shim is
# preloaded and promotes: it keeps working and sees the same, and the libraries are congruent. A
# promoted program starts twice, so the other auditor speaks twice.
. "$(dirname "$0")/lib.sh"
misaligning_root

other=$FIXTURES/other_auditor.so
app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so")
run_env=("LD_AUDIT=$other")
plain_command=("${app[@]}")
run plain "${app[@]}"
grep -qx 'auditor: saw 2 text libraries' "$TMP/plain.err" ||
	fail "the other auditor: $(cat "$TMP/plain.err")"
misplaced_without
for run_audit in "$other:$SHIM" "$SHIM:$other" "$SHIM:$other:$SHIM"; do
	run audit "${app[@]}"
	same audit
	congruent audit --at-least 3
done
run preload "${app[@]}"
sort -u "$TMP/preload.err" | cmp -s - <(sort -u "$TMP/plain.err") ||
	fail "preload: $(cat "$TMP/preload.err")"
cp "$TMP/plain.err" "$TMP/preload.err"
same preload
congruent preload --at-least 3

# LD_AUDIT is the user's: children inherit it, in the user's words.
run plain "$FIXTURES/state" env
run preload "$FIXTURES/state" env
grep -qx "env LD_AUDIT=$other" "$TMP/preload.out" ||
	fail "LD_AUDIT became $(grep LD_AUDIT "$TMP/preload.out")"
# A missing auditor, and the shim named twice.
run_env=("LD_AUDIT=/nonexistent/auditor.so")
run plain "${app[@]}"
run preload "${app[@]}"
cmp -s "$TMP/plain.out" "$TMP/preload.out" || fail "with a missing auditor"
run_env=("LD_AUDIT=$SHIM")
run plain "$FIXTURES/app" call
run preload "$FIXTURES/app" call
same preload
congruent preload
