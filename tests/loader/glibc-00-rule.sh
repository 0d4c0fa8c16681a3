#!/bin/bash
# SPDX-License-Identifier: MIT
# The glibc patch chooses the blocks and places of the table that core/ is driven by, for both machines.
# timeout: 5400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/glibc.sh"
cd "$EA_TOP"

# The same two files for both, so the build of one is enough.
loader_part glibc "$EXECALIGN_GLIBC" x86_64
said=
for pair in x86_64:x86-64 aarch64:aarch64; do
	gcc -O1 -g -Wall -Wextra -fsanitize=undefined -fno-sanitize-recover=all -I. -I"$part/rule" \
		-I"$part/rule/${pair%:*}" -o "$TMP/rule" tests/loader/glibc_rule.c ||
		fail "glibc_rule.c cannot be compiled"
	"$TMP/rule" "${pair#*:}" >"$TMP/out" || fail "${pair#*:}: $(cat "$TMP/out")"
	said="$said${said:+; }${pair#*:}: $(tail -n 1 "$TMP/out")"
done
headline "$said"
