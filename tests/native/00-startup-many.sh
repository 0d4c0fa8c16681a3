#!/bin/bash
# SPDX-License-Identifier: MIT
# A program with 48 start-up libraries, 12 of them eligible: all 12 become congruent, as auditor and
# as preload library, and the program says what it says without the shim.
. "$(dirname "$0")/lib.sh"
misaligning_root

compare --at-least 12 "$FIXTURES/many"
grep -q '^sum 144$' "$TMP/plain.out" || fail "the fixture did not run"
