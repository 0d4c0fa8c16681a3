#!/bin/bash
# SPDX-License-Identifier: MIT
# fork without exec, dlopen in the forked child, vfork, posix_spawn, system: the same results.
. "$(dirname "$0")/lib.sh"
misaligning_root

compare --at-least 2 "$FIXTURES/fork_spawn" "$FIXTURES/libtext6m.so"
[ "$(wc -l <"$TMP/plain.out")" = 6 ] || fail "the fixture did not run: $(cat "$TMP/plain.out")"
