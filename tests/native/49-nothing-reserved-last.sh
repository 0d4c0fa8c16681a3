#!/bin/bash
# SPDX-License-Identifier: MIT
# dlopen with RTLD_NOLOAD of a large library that is not loaded, and then nothing more: ld.so does
# not tell an auditor that it maps nothing. What the shim holds for it until ld.so's next move is no
# more than a block and a hole, and a limit on the address space set afterwards leaves room.
. "$(dirname "$0")/lib.sh"
misaligning_root

for _ in 1 2 3; do
	compare_output "$FIXTURES/noload_last" "$FIXTURES/libtext6m.so"
	grep -qx 'malloc: done' "$TMP/plain.out" || fail "plain: $(cat "$TMP/plain.out")"
	[ "$(grep -c 'noload: no' "$TMP/plain.out")" = 2 ] || fail "plain: the library is loaded"
done
