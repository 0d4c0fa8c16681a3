#!/bin/bash
# SPDX-License-Identifier: MIT
# Started as `ld.so PROGRAM`, and the loader's own options and modes (--preload, --audit, --list,
# ldd, LD_TRACE_LOADED_OBJECTS, --verify): the same output. As auditor the shim places as usual; as
# preload library it cannot promote, because /proc/self/exe is the loader, and says so in its log.
. "$(dirname "$0")/lib.sh"
misaligning_root

app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" child)
run plain "${app[@]}"
loader=$(awk '/\/ld-linux/ { print $6; exit }' "$TMP/plain.maps")
[ -x "$loader" ] || fail "the loader was not found"
compare_output "$loader" "${app[@]}"
congruent audit --at-least 3
run_env=("EXECALIGN_LOG=$TMP/log")
run preload "$loader" "${app[@]}"
grep -q 'event=promotion result=declined .*reason="[^"]*ld.so' "$TMP/log" ||
	fail "the log does not say why it was not promoted: $(cat "$TMP/log")"
run_env=()

run plain "$loader" "${app[@]}"
run audit-option "$loader" --audit "$SHIM" "${app[@]}"
run_preload=
cp "$TMP/plain.out" "$TMP/option.out"
"$loader" --audit "$SHIM" "${app[@]}" | cmp -s - "$TMP/plain.out" || fail "--audit"
"$loader" --preload "$SHIM" "${app[@]}" | cmp -s - "$TMP/plain.out" || fail "--preload"
"$loader" --inhibit-cache "${app[@]}" | cmp -s - "$TMP/plain.out" || fail "--inhibit-cache"

names='s/\(0x[0-9a-f]+\)//; /linux-(vdso|gate)/d; /libexecalign|nothing\.so/d'
run_preload=$SHIM
compare_output --filter "$names" ldd "$FIXTURES/app"
compare_output --filter "$names" "$loader" --list "$FIXTURES/app"
compare_output "$loader" --verify "$FIXTURES/app"
run_env=(LD_BIND_NOW=1)
compare_output "${app[@]}"
