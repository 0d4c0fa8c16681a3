#!/bin/bash
# SPDX-License-Identifier: MIT
# A program whose executable file was deleted, or that only ever was a memfd: runs the same,
# promoted or not, and its libraries are congruent.
. "$(dirname "$0")/lib.sh"
misaligning_root

# comm and AT_EXECFN name the descriptor; the deleted copy has a random name.
filter='s/fexec\.[A-Za-z0-9]{6}/fexec.XXXXXX/; /^env LD_(PRELOAD|AUDIT)=/d'
filter="$filter; s/^(fd 1 .* )position.*/\1/"
run_env=("LD_LIBRARY_PATH=$FIXTURES")
for kind in deleted memfd; do
	start=("$FIXTURES/fexec" "$kind")
	compare --at-least 3 "${start[@]}" "$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" child
	compare --at-least 1 --filter "$filter" "${start[@]}" "$FIXTURES/state" env auxv names fds signals
	grep -q '^execfn /dev/fd/' "$TMP/plain.out" ||
		note "AT_EXECFN plain: $(grep execfn "$TMP/plain.out")"
done
