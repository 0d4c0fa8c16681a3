#!/bin/bash
# SPDX-License-Identifier: MIT
# Standard input, output and error closed, in every combination: the program finds the same
# descriptors open and closed, so none of the shim's took their place, also while it logs to a file
# or to the closed stderr, and while a bad value makes it complain.
. "$(dirname "$0")/lib.sh"
misaligning_root

with_closed() {
	local which=$1
	shift
	case $which in
	0) "$@" <&- ;;
	1) "$@" >&- ;;
	2) "$@" 2>&- ;;
	01) "$@" <&- >&- ;;
	02) "$@" <&- 2>&- ;;
	12) "$@" >&- 2>&- ;;
	012) "$@" <&- >&- 2>&- ;;
	esac
}
for which in 0 1 2 01 02 12 012; do
	for variable in NOTHING=1 EXECALIGN_LOG=stderr "EXECALIGN_LOG=$TMP/log" EXECALIGN_BLOCK=bad; do
		for mode in plain LD_AUDIT LD_PRELOAD; do
			status=0
			rm -f "$TMP/$mode.out"
			with_closed "$which" env "$variable" "$mode=$SHIM" "$FIXTURES/state" -o "$TMP/$mode.out" \
				fds >/dev/null 2>"$TMP/$mode.err" || status=$?
			[ "$status" = 0 ] ||
				fail "$mode: $which closed, $variable: status $status: $(cat "$TMP/$mode.err")"
			# What is said on stderr moves its position.
			sed -i 's/^\(fd 2 .*\) position.*/\1/' "$TMP/$mode.out"
			cmp -s "$TMP/plain.out" "$TMP/$mode.out" ||
				fail "$mode: $which closed, $variable: $(diff "$TMP/plain.out" "$TMP/$mode.out")"
		done
	done
done
[ -s "$TMP/log" ] || fail "the shim logged nothing to a file"
