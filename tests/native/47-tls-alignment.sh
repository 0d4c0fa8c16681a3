#!/bin/bash
# SPDX-License-Identifier: MIT
# A start-up library whose static TLS is aligned to 128 bytes. glibc does not place it once there is
# an auditor, whatever the tunable says: such a program is not promoted, by the shim or by the
# command, and runs as without them.
. "$(dirname "$0")/cli-lib.sh"
need_x86_64 "where the alignment that is always there is 64"
misaligning_root

run_plain "$FIXTURES/tls128"
run_audit=$FIXTURES/closing_auditor.so
run audit "$FIXTURES/tls128"
[ "$(cat "$TMP/audit.status")" != 0 ] || headline "this glibc starts it under any auditor"

run_env=("EXECALIGN_LOG=$TMP/log")
run preload "$FIXTURES/tls128"
same preload
grep -q 'event=promotion result=declined reason=".*TLS' "$TMP/log" ||
	fail "the log does not say why: $(cat "$TMP/log")"

run_env=()
run_preload=
for promote in auto always; do
	run preload-command "$CLI" run --promote=$promote "$FIXTURES/tls128"
	same preload-command
done
