#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that would be promoted runs under a tracer that expects no second exec, which would show
# as a SIGTRAP to be passed on: there is no promotion, and the log says why.
. "$(dirname "$0")/lib.sh"
misaligning_root

app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so")
run_keeps_maps=
run_env=("EXECALIGN_LOG=$TMP/log" EXECALIGN_PROMOTE=auto)
# Expected are the exec of env and the one of the program.
run_prefix=("$FIXTURES/simple_tracer" 1)
run plain "${app[@]}"
[ "$(cat "$TMP/plain.status")" = 133 ] || fail "the tracer does not pass SIGTRAP on"
run_prefix=("$FIXTURES/simple_tracer" 2)
compare_output "${app[@]}"
grep -q 'event=promotion result=declined reason="the process is being traced"' "$TMP/log" ||
	fail "the log does not say why: $(cat "$TMP/log")"
run_prefix=()
run preload "${app[@]}"
grep -q 'event=promotion result=done' "$TMP/log" || fail "without a tracer there is no promotion"
