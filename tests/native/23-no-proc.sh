#!/bin/bash
# SPDX-License-Identifier: MIT
# No /proc, and a chroot with nothing but the program, its libraries and the shim: the same output.
# The auditor still places; whether promotion works without /proc/self/exe is its own affair.
. "$(dirname "$0")/lib.sh"
misaligning_root

app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so")
# $ORIGIN needs /proc/self/exe.
run_env=("LD_LIBRARY_PATH=$FIXTURES")
run_prefix=(unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' sh)
run plain ls /proc
[ "$(cat "$TMP/plain.status")" = 0 ] || skip "/proc cannot be covered: $(cat "$TMP/plain.err")"
[ ! -s "$TMP/plain.out" ] || fail "/proc is not empty"
compare_output "${app[@]}"
note "audit: $(placement audit | tail -1)"
note "preload: $(placement preload | tail -1)"
run_env+=(EXECALIGN_PROMOTE=always EXECALIGN_LOG=/dev/null)
compare_output "${app[@]}"

# Covered by an unreadable directory as another user sees it.
run_env=("LD_LIBRARY_PATH=$FIXTURES")
run_prefix=(unshare --mount sh -c 'mount -t tmpfs -o mode=000 none /proc && exec "$@"' sh)
compare_output "${app[@]}"

root=$TMP/root
mkdir -p "$root/lib64" "$root/lib"
loader=$(awk '/ld-linux/ { print $6; exit }' "$TMP/plain.maps")
cp "$loader" "$root/lib64/"
[ -e "/lib64/$(basename "$loader")" ] || cp "$loader" "$root/lib/"
libc=$(awk '/libc.so/ { print $6; exit }' "$TMP/plain.maps")
cp "$libc" "$FIXTURES/libtext5m.so" "$FIXTURES/libtext6m.so" "$FIXTURES/libtext10m.so" "$root/lib/"
cp "$FIXTURES/app" "$root/"
# At its own path, because it is in force for chroot itself as well.
mkdir -p "$root/$(dirname "$SHIM")"
cp "$SHIM" "$root/$SHIM"
for mode in "" "LD_AUDIT=$SHIM" "LD_PRELOAD=$SHIM"; do
	# shellcheck disable=SC2086 # nothing, or one assignment
	said=$(env -i LD_LIBRARY_PATH=/lib $mode /usr/sbin/chroot "$root" /app call \
		open:/lib/libtext6m.so 2>&1) ||
		fail "chroot, ${mode:-plain}: $said"
	[ "$said" = "$(printf 'call: 6\nopen /lib/libtext6m.so: 3')" ] ||
		fail "chroot, ${mode:-plain}: $said"
done
