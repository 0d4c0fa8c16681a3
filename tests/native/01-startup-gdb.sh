#!/bin/bash
# SPDX-License-Identifier: MIT
# gdb, a real program with about 60 start-up libraries and an embedded Python, starts and answers
# the same under the shim, and whatever is eligible in it (little or nothing on x86-64) is
# congruent.
. "$(dirname "$0")/lib.sh"
need gdb
misaligning_root

gdb=(gdb -nx -nh -batch -ex 'print 6 * 7' -ex 'python import ssl, ctypes; print("python", 6 * 7)')
compare_output "${gdb[@]}"
grep -q 'python 42' "$TMP/plain.out" || skip "gdb has no Python here"
libraries=$(grep -c 'r-xp.*\.so' "$TMP/plain.maps")
[ "$libraries" -ge 40 ] || skip "gdb has only $libraries libraries here"
for mode in audit preload; do
	[ "$(grep -c 'r-xp.*\.so' "$TMP/$mode.maps")" -ge "$libraries" ] ||
		fail "$mode: libraries are missing"
	said=$(placement "$mode" --expect-congruent --at-least 0) || fail "$mode: $said"
	note "$mode: $libraries libraries, $said"
done
