#!/bin/bash
# SPDX-License-Identifier: MIT
# Nothing can be written anywhere, and the user is nobody: the same output, libraries congruent.
. "$(dirname "$0")/lib.sh"
need_root "to make every file system read-only"
need setpriv
misaligning_root

[ "${EA_ROOT:-}" = inside ] || skip "needs a mount namespace of its own"
setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$FIXTURES/app" ||
	skip "another user cannot read $FIXTURES"
# Outside this namespace exit_maps still writes; inside, everything is read-only.
run_prefix=(unshare --mount sh -c '
	awk "{ print \$5 }" /proc/self/mountinfo | sort -ur | while read -r dir; do
		mount -o remount,bind,ro "$dir" 2>/dev/null || :
	done
	exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"' sh)
for dir in /tmp /dev/shm /var/tmp "$BUILD"; do
	run plain sh -c 'echo >"$1/execalign-written"' sh "$dir"
	[ "$(cat "$TMP/plain.status")" != 0 ] || fail "$dir can be written"
done
compare --at-least 3 "$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" child
run_env=(EXECALIGN_LOG=/tmp/execalign-cannot-write.log)
compare_output --filter '/^execalign: /d' "$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" child
