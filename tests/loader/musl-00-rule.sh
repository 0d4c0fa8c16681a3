#!/bin/bash
# SPDX-License-Identifier: MIT
# The musl patch chooses the blocks and places of the table that core/ is driven by, for both machines.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
cd "$EA_TOP"

said=
for pair in x86_64:x86-64 aarch64:aarch64; do
	loader_part musl "$EXECALIGN_MUSL" "${pair%:*}"
	# The file itself, as patched; musl writes such expressions without parentheses.
	gcc -O1 -g -Wall -Wextra -Wno-parentheses -fsanitize=undefined -fno-sanitize-recover=all -I. \
		"-DRELOC_H=\"$part/rule/reloc.h\"" "-DEXEC_ALIGN_H=\"$part/rule/exec_align.h\"" \
		-o "$TMP/rule" tests/loader/rule_musl.c || fail "rule_musl.c cannot be compiled"
	"$TMP/rule" "${pair#*:}" >"$TMP/out" || fail "${pair#*:}: $(cat "$TMP/out")"
	said="$said${said:+; }${pair#*:}: $(tail -n 1 "$TMP/out")"
done
headline "$said"
