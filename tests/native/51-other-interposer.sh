#!/bin/bash
# SPDX-License-Identifier: MIT
# Another library that interposes mmap, preloaded before or after the shim: it sees every call of
# the program. ThreadSanitizer's runtime is one, and without that would find races that are none.
. "$(dirname "$0")/lib.sh"
misaligning_root

other=$FIXTURES/counting_preload.so
app=("$FIXTURES/mmap_exec" "$FIXTURES/libtext10m.so" "$TMP/witness")
run_env=("LD_PRELOAD=$other")
run_plain "${app[@]}"
grep -qE '^preload: [1-9][0-9]* mmap, [1-9][0-9]* mmap64$' "$TMP/plain.err" ||
	fail "the other library: $(cat "$TMP/plain.err")"
run_env=()
for run_preload in "$SHIM:$other" "$other:$SHIM"; do
	run preload "${app[@]}"
	same preload
done

# Some kernels and address space limits keep ThreadSanitizer from starting at all.
run plain "$FIXTURES/tsan_reuse"
if ! printf 'done\n' | cmp -s - "$TMP/plain.out" || [ "$(cat "$TMP/plain.status")" != 0 ]; then
	headline "without ThreadSanitizer: $(head -1 "$TMP/plain.err")"
	exit 0
fi
run_preload=$SHIM
run preload "$FIXTURES/tsan_reuse"
same preload
