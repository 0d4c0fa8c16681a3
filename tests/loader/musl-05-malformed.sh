#!/bin/bash
# SPDX-License-Identifier: MIT
# Files that lie: the patched loader says what stock musl says, with dlopen and at start-up.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
musl_loaders
misaligning_root

mkdir "$TMP/lies"
python3 "$EA_TOP/tests/loader/lies.py" "$FIXTURES/libtext5m.so" "$TMP/lies"
musl-gcc -O1 -o "$TMP/open" "$EA_TOP/tests/loader/open.c" -Wl,-dynamic-linker,"$stock"
run_keeps_maps=
# As an argument the loader's name is part of its messages: both go by the same one.
# says LOADER COMMAND... - what a run prints, addresses aside, and its status
says() {
	ln -sf "$1" "$TMP/ld"
	shift
	run plain "$TMP/ld" "$@"
	sed 's/0x[0-9a-f]*/ADDRESS/g' "$TMP/plain.out" "$TMP/plain.err" "$TMP/plain.status"
}

count=0
loaded=0
for file in "$TMP"/lies/*.so; do
	for way in dlopen preload program; do
		case $way in
		dlopen) command=("$TMP/open" "$file") ;;
		preload) command=(--preload "$file" "$TMP/open" /nowhere) ;;
		program) command=("$file") ;;
		esac
		says "$stock" "${command[@]}" >"$TMP/stock.says"
		says "$patched" "${command[@]}" >"$TMP/patched.says"
		cmp -s "$TMP/stock.says" "$TMP/patched.says" ||
			fail "$(basename "$file"), $way: $(diff "$TMP/stock.says" "$TMP/patched.says")"
		! grep -qx loaded "$TMP/stock.says" || loaded=$((loaded + 1))
		count=$((count + 1))
	done
done
[ "$loaded" -lt "$count" ] || fail "nothing was refused"
headline "$count files and ways the same, $loaded of them load"
