#!/bin/bash
# SPDX-License-Identifier: MIT
# OUT/source of loader-patch/build.sh becomes Debian packages; the loader of the package marks itself,
# and places what it loads.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
need dpkg-buildpackage dh
musl_loaders
misaligning_root
loader_part musl "$EXECALIGN_MUSL" x86_64
[ -d "$part/source" ] || skip "the mirror had only the original source of musl $EXECALIGN_MUSL"

cp -a "$part/source" "$TMP/source"
# What the package is made from lies beside it, as dpkg-source left it.
cp "$part"/*.orig.tar.* "$TMP/" 2>/dev/null || :
(
	cd "$TMP/source"
	DEB_BUILD_OPTIONS="parallel=$(nproc) noautodbgsym" dpkg-buildpackage -b -uc -us >"$TMP/log" 2>&1
) || fail "dpkg-buildpackage: $(grep -m 1 -E 'error|\*\*\*' "$TMP/log" || tail -n 1 "$TMP/log")"
version=$(dpkg-parsechangelog -l "$TMP/source/debian/changelog" -S Version)
[[ $version == *+execalign1 ]] || fail "the version is $version"
package=$TMP/musl_${version}_amd64.deb
[ -e "$package" ] || fail "there is no $(basename "$package")"

dpkg-deb -x "$package" "$TMP/root"
loader=$(find "$TMP/root" -name 'ld-musl-x86_64.so.1' -o -name libc.so -type f | head -n 1)
readelf -n "$loader" | grep -q execalign || fail "the loader in the package has no note"
sed '1i #define LIBRARIES X(text5m) X(text10m)' "$EA_TOP/tests/loader/libraries.c" \
	>"$TMP/libraries.c"
musl_program "$stock" "$TMP/program" "$TMP/libraries.c" text5m text10m
for _ in 1 2 3; do
	run plain "$loader" "$TMP/program"
	works plain
	congruent plain --at-least 2
done
headline "$(basename "$package")"
