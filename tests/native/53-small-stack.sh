#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread with the smallest stack that glibc allows maps code from a file: the interposed mmap
# makes do with it.
. "$(dirname "$0")/lib.sh"
misaligning_root

app=("$FIXTURES/small_stack" "$FIXTURES/libtext10m.so" "$TMP/witness")
run_plain "${app[@]}"
grep -qx 'mapped: yes' "$TMP/plain.out" || fail "plain: $(cat "$TMP/plain.out")"
run preload "${app[@]}"
same preload
grep -qx congruent "$TMP/witness" || fail "preload: $(cat "$TMP/witness")"
# Names are matched and advice is sought only when there is something to match or to give.
for setting in EXECALIGN_DENY=libother.so EXECALIGN_ALLOW=libtext10m.so \
	EXECALIGN_ADVISE=hugepage; do
	run_env=("$setting")
	run preload "${app[@]}"
	same preload
	grep -qx congruent "$TMP/witness" || fail "preload, $setting: $(cat "$TMP/witness")"
done
