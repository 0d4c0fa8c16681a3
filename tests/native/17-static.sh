#!/bin/bash
# SPDX-License-Identifier: MIT
# A static program has no loader: it runs untouched, also as a child of a program under the shim.
. "$(dirname "$0")/lib.sh"

expected_status=3
compare_output --filter 's/(PRELOAD|AUDIT) set/\1 unset/' "$FIXTURES/static"
expected_status=0
[ "$(cat "$TMP/preload.status")" = 3 ] || fail "exit status $(cat "$TMP/preload.status")"
! grep -q "$SHIM" "$TMP/preload.maps" || fail "the shim is mapped in a static program"
compare_output --filter 's/(PRELOAD|AUDIT) set/\1 unset/' /usr/bin/python3 -c \
	'import subprocess, sys; print(subprocess.run(sys.argv[1:]).returncode)' "$FIXTURES/static"
