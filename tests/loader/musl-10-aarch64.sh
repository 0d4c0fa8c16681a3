#!/bin/bash
# SPDX-License-Identifier: MIT
# The aarch64 loader under user emulation with 4K pages: texts of 2M and more and of 64K and more are
# congruent, each to its own block.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
need qemu-aarch64-static aarch64-linux-gnu-gcc
loader_part musl "$EXECALIGN_MUSL" aarch64
loader=$part/lib/ld-musl-aarch64.so.1
cc=aarch64-linux-gnu-gcc

names=(a5m a10m a300k a100k a40k)
for name in "${names[@]}"; do
	kib=${name//[!0-9]/}
	[[ $name != *m ]] || kib=$((kib * 1024))
	# 4K, so that p_align alone brings nothing into the right place.
	CC=$cc "$EA_TOP/tests/fixtures/make_library.sh" "$TMP/lib$name.so" "$kib" bfd \
		-z max-page-size=0x1000
done
# shellcheck disable=SC2016 # for the loader
$cc -O1 -fno-builtin -nostdlib -o "$TMP/pages" "$EA_TOP/tests/loader/pages.c" \
	"-DLIBRARIES=$(printf 'X(%s) ' "${names[@]}")" -L"$TMP" "${names[@]/#/-l}" \
	-Wl,--dynamic-linker="$loader",-rpath,'$ORIGIN',--allow-shlib-undefined "$loader" ||
	fail "the program cannot be linked"

# judge OPTION... - placement in a run
judge() {
	qemu-aarch64-static "${environment[@]}" "$TMP/pages" >"$TMP/maps" || fail "exit status $?"
	"$PLACEMENT" "$TMP/maps" --exe "$TMP/pages" --page 4096 --quiet --at-least 4 "$@" 2>&1
}

environment=(-E LD_EXEC_ALIGN=0)
judge --expect-misplaced >/dev/null || judge --expect-misplaced >/dev/null ||
	fail "all is congruent with LD_EXEC_ALIGN=0, too"
environment=(-E LD_EXEC_ALIGN=1)
for _ in 1 2 3; do
	judge --expect-congruent >"$TMP/said" || fail "$(cat "$TMP/said")"
done
headline "$(tail -n 1 "$TMP/said")"
