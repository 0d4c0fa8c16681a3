#!/bin/bash
# SPDX-License-Identifier: MIT
# What a process inherits survives promotion: blocked, pending and ignored signals, open descriptors
# with positions and without those that were close-on-exec, nice value, parent-death signal,
# no_new_privs, umask, limits.
. "$(dirname "$0")/lib.sh"
misaligning_root

compare --at-least 1 "$FIXTURES/inherit" "$FIXTURES/state" fds signals limits names
for expected in 'fd 7 cloexec 0 type 100000 position 5' 'signal 10 blocked 1 pending 1' \
	'signal 13 .* handler ignore' 'no_new_privs 1 pdeathsig 12 nice 19 umask 37'; do
	grep -q "$expected" "$TMP/plain.out" || fail "the fixture does not set: $expected"
done
! grep -q '^fd 8' "$TMP/plain.out" || fail "the fixture's close-on-exec descriptor is open"
