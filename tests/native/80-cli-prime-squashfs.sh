#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign prime on squashfs, which has no large folios: it says so, and reads nothing.
# timeout: 60
. "$(dirname "$0")/prime-lib.sh"
need mksquashfs
need_root "a mount"
unshare --mount true 2>/dev/null || skip "no mount namespace can be made"

mkdir "$TMP/mnt"
mksquashfs "$FIXTURES/libtext10m.so" "$TMP/image" -quiet -no-progress >/dev/null
status=0
# shellcheck disable=SC2016 # for the inner shell
unshare --mount --propagation private sh -c '
	mount -o loop,ro "$1" "$2" || exit 77
	exec "$3" prime --json "$2/libtext10m.so"' sh "$TMP/image" "$TMP/mnt" "$CLI" >"$TMP/out" 2>"$TMP/err" || status=$?
[ "$status" != 77 ] || skip "squashfs cannot be mounted here: $(tail -1 "$TMP/err")"
[ "$status" = 1 ] || fail "status $status: $(cat "$TMP/err")"
expect '.files[0].reason.code' filesystem
expect '.files[0].read_bytes' 0
query '.files[0].reason.text' | grep -q squashfs || fail "reason: $(query '.files[0].reason.text')"
