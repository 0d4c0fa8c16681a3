#!/bin/bash
# SPDX-License-Identifier: MIT
# clang, whose libLLVM and libclang-cpp hold about 150 MiB of text, compiles the same object file
# under the shim, and these libraries are congruent.
. "$(dirname "$0")/lib.sh"
need clang
misaligning_root

cat >"$TMP/input.c" <<'END'
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("%d %s\n", i, argv[i]);
	return 0;
}
END
run_stdin=$TMP/input.c
compare --at-least 2 clang -O2 -x c -c -o - -
[ -s "$TMP/plain.out" ] || fail "clang wrote no object file"
