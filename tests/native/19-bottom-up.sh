#!/bin/bash
# SPDX-License-Identifier: MIT
# The legacy layout, in which the kernel searches from the bottom up (personality
# ADDR_COMPAT_LAYOUT), and an unlimited stack, which makes the layout a legacy one on some machines
# and lowers its top on others. Everything eligible is congruent, start-up and dlopen.
. "$(dirname "$0")/lib.sh"
need setarch
misaligning_root

app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" "open:$FIXTURES/libl_align64k.so"
	"open:$FIXTURES/libl_lld.so" close "reopen:100:$FIXTURES/libl_together.so" reserved child)
# Bottom-up, the loader comes first and the libraries it maps above it.
run_prefix=(setarch -L)
run_plain "$FIXTURES/app" call
loader=$(awk '/ld-linux/ { print $1; exit }' "$TMP/plain.maps")
libc=$(awk '/libc\.so/ { print $1; exit }' "$TMP/plain.maps")
[ "$((16#${loader%-*}))" -lt "$((16#${libc%-*}))" ] ||
	fail "setarch -L: the layout is not bottom-up"

for way in personality stack; do
	[ "$way" = personality ] || run_prefix=(bash -c 'ulimit -s unlimited && exec "$@"' bash)
	compare --at-least 4 "${app[@]}"
	compare --at-least 12 "$FIXTURES/many"
	compare --at-least 15 "$FIXTURES/layouts"
done
