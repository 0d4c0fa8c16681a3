#!/bin/bash
# SPDX-License-Identifier: MIT
# A bad value of a variable is reported on stderr in one line, once, also when the program is
# promoted and dlopens; the default is used: the libraries are congruent and the output is as
# always.
. "$(dirname "$0")/lib.sh"
misaligning_root

app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" "open:$FIXTURES/libl_lld.so")
plain_command=("${app[@]}")
run plain "${app[@]}"
misplaced_without
for variable in EXECALIGN_BLOCK=3M EXECALIGN_BLOCK=2m EXECALIGN_PROMOTE=sometimes \
	EXECALIGN_ADVISE=yes EXECALIGN=maybe "EXECALIGN_BLOCK=$(printf 'x%.0s' {1..5000})"; do
	run_env=("$variable")
	for mode in audit preload; do
		run "$mode" "${app[@]}"
		cmp -s "$TMP/plain.out" "$TMP/$mode.out" || fail "$mode: ${variable:0:60}: the output differs"
		[ "$(cat "$TMP/$mode.status")" = 0 ] || fail "$mode: ${variable:0:60}: status"
		[ "$(wc -l <"$TMP/$mode.err")" = 1 ] ||
			fail "$mode: ${variable:0:60}: not one line on stderr: $(head -c 2000 "$TMP/$mode.err")"
		# A very long value may be cut off.
		grep -Eq "^execalign: ${variable%%=*}=(.*using |\"?x{100})" "$TMP/$mode.err" ||
			fail "$mode: $(head -c 500 "$TMP/$mode.err")"
		congruent "$mode" --at-least 4 >/dev/null
	done
done
run_env=(EXECALIGN_BLOCK=3M)
run preload "${app[@]}"
message='execalign: EXECALIGN_BLOCK="?3M"?: not one of auto, 64K, 2M, 32M; using auto'
grep -Eqx "$message" "$TMP/preload.err" ||
	fail "the message is: $(cat "$TMP/preload.err")"
