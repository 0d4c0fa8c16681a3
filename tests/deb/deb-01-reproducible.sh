#!/bin/bash
# SPDX-License-Identifier: MIT
# From the same source, another directory, user mask, time zone and language give the same packages.
# timeout: 900
. "$(dirname "$0")/lib.sh"

# Its cache has the same contents in another place, so that nothing has to be fetched.
cache=${EXECALIGN_QEMU_CACHE:-$BUILD/qemu}
other=$TMP/another-directory
mkdir -p "$other" "$TMP/cache"
cp -a "$cache/apt" "$TMP/cache/apt"
for arch in amd64 arm64; do
	cp -al "$(realpath "$DEBS/$arch/sysroot")" "$TMP/cache/" 2>/dev/null ||
		cp -a "$(realpath "$DEBS/$arch/sysroot")" "$TMP/cache/"
done
(cd "$EA_TOP" && tar -c --exclude=./build --exclude=./.git .) | tar -x -C "$other"
(
	umask 077
	unset BUILD MAKEFLAGS MFLAGS MAKELEVEL
	TZ=Asia/Tokyo LC_ALL=C.UTF-8 EXECALIGN_QEMU_CACHE=$TMP/cache CFLAGS=-O0 CC=false \
		make -s -C "$other" deb BUILD=elsewhere >"$TMP/log" 2>&1
) || fail "make deb: $(tail -n 5 "$TMP/log")"
for package in execalign libexecalign; do
	for arch in amd64 arm64; do
		deb "$package" "$arch"
		cmp "$deb" "$other/elsewhere/deb/$(basename "$deb")" >&2 || fail "$(basename "$deb") is another one"
	done
done
