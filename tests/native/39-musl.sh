#!/bin/bash
# SPDX-License-Identifier: MIT
# A musl program with the shim preloaded runs the same: the shim has no libc to disagree with.
# Scripts that start musl and glibc programs in turn likewise.
. "$(dirname "$0")/lib.sh"
need musl-gcc
misaligning_root

cat >"$TMP/hello.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
int main(int argc, char **argv)
{
	int (*last)(void) = 0;
	void *handle = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
	if (handle)
		*(void **)&last = dlsym(handle, "text6m_last");
	printf("musl %s %d\n", argv[0], last ? last() : -1);
	for (char **at = environ; *at; at++)
		if (strncmp(*at, "LD_", 3))
			puts(*at);
	fflush(stdout);
	return argc > 2 ? system(argv[2]) : 0;
}
END
musl-gcc -O1 -o "$TMP/hello" "$TMP/hello.c" || skip "musl-gcc does not work here"
run_env=("EXECALIGN_LOG=$TMP/log" EXECALIGN_PROMOTE=always)
run plain "$TMP/hello" "$FIXTURES/libtext6m.so" "$FIXTURES/app call child"
grep -q '^musl .* 2$' "$TMP/plain.out" || fail "the fixture does not run: $(cat "$TMP/plain.err")"
run preload "$TMP/hello" "$FIXTURES/libtext6m.so" "$FIXTURES/app call child"
same preload
grep -q "$SHIM" "$TMP/preload.maps" || fail "the shim is not mapped in the musl program"
# The musl program's child is a glibc program, which is placed as usual.
run_env=()
run preload "$TMP/hello" "$FIXTURES/libtext6m.so" \
	"$FIXTURES/exit_maps $TMP/child.maps $FIXTURES/app call"
"$PLACEMENT" "$TMP/child.maps" --exe "$FIXTURES/app" --quiet --expect-congruent --at-least 2 ||
	fail "the child is misplaced"
