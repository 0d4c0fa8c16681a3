#!/bin/bash
# SPDX-License-Identifier: MIT
# A start-up library with 4 KiB of initial-exec TLS. With any auditor, ours or another's, glibc has
# no room for it and the program dies (glibc bug 31991). Promotion makes the room, so under
# LD_PRELOAD it must live, with its other libraries congruent.
. "$(dirname "$0")/lib.sh"
misaligning_root

plain_command=("$FIXTURES/tls")
run plain "$FIXTURES/tls"
grep -q '^tls ' "$TMP/plain.out" || fail "the fixture does not run: $(cat "$TMP/plain.err")"
misplaced_without

run audit "$FIXTURES/tls"
if grep -q 'cannot allocate memory in static TLS block' "$TMP/audit.err"; then
	note "with LD_AUDIT alone: $(cat "$TMP/audit.err")"
else
	same audit
	note "this glibc has room for it even under a bare auditor"
fi

for setting in EXECALIGN_PROMOTE=auto EXECALIGN_PROMOTE=always; do
	run_env=("$setting")
	run preload "$FIXTURES/tls"
	same preload
	congruent preload
done
run_env=(EXECALIGN_PROMOTE=never)
run preload "$FIXTURES/tls"
same preload
# The user's own value, too small and large.
for size in 64 100000; do
	run_env=("GLIBC_TUNABLES=glibc.rtld.optional_static_tls=$size")
	run plain "$FIXTURES/tls"
	run preload "$FIXTURES/tls"
	same preload
	congruent preload
done
