#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign report of a musl program: its libraries are where musl's loader put them, which is said.
. "$(dirname "$0")/cli-lib.sh"
need_x86_64 "the library is eligible for 2 MiB blocks"
need jq musl-gcc
misaligning_root

echo 'int text10m_first(void); int main(void) { return text10m_first() != 1; }' >"$TMP/main.c"
musl-gcc -o "$TMP/main" "$TMP/main.c" -L"$FIXTURES" -ltext10m -Wl,-rpath,"$FIXTURES"
library='.processes[0].objects[] | select(.path | endswith("/libtext10m.so"))'

# One in 512 is in the right place by luck.
for _ in 1 2 3; do
	cli 0 report --json -- "$TMP/main"
	consistent
	expect '.processes[0].shim' preloaded
	[ "$(query "$library | .congruent")" = true ] || break
done
expect "$library | .congruent" false
expect "$library | .reason.code" base
[[ $(query "$library | .reason.text") == *"musl's loader placed it"*'; it takes a patched loader' ]] ||
	fail "$(query "$library | .reason.text")"
said err 'linked with musl'
