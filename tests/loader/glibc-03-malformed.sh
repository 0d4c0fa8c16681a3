#!/bin/bash
# SPDX-License-Identifier: MIT
# Files that lie: the patched loader says what stock glibc says, with dlopen and at start-up.
# timeout: 5400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/glibc.sh"
glibc_loaders
misaligning_root

mkdir "$TMP/lies"
python3 "$EA_TOP/tests/loader/lies.py" "$FIXTURES/libtext5m.so" "$TMP/lies"
gcc -O1 -o "$TMP/open" "$EA_TOP/tests/loader/open.c"
run_keeps_maps=
count=0
for file in "$TMP"/lies/*.so; do
	for kind in dlopen preload program; do
		case $kind in
		dlopen) command=("$TMP/open" "$file") ;;
		preload) command=(--preload "$file" "$TMP/open" /nowhere) ;;
		program) command=("$file") ;;
		esac
		# The loader's name and directory would be part of its messages: both go by the same.
		ln -sfn "$stock" "$TMP/lib"
		run plain "$TMP/lib/$rtld" --library-path "$TMP/lib" "${command[@]}"
		ln -sfn "$patched" "$TMP/lib"
		run preload-none "$TMP/lib/$rtld" --library-path "$TMP/lib" "${command[@]}"
		same preload-none sed 's/0x[0-9a-f]*/ADDRESS/g'
		count=$((count + 1))
	done
done
[ "$count" -ge 50 ] || fail "only $count files and ways"
headline "$count files and ways the same"
