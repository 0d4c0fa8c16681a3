#!/bin/bash
# SPDX-License-Identifier: MIT
# kselftest.sh - the kernel's own test of the series, cross-built for a guest
#
#   tests/qemu/kselftest.sh VERSION PATCHES
#
# Takes tools/testing/selftests/mm/exec_folio.c from the *.patch files of the directory PATCHES, and the
# header that it needs from Debian's source of Linux VERSION. Prints the path of a directory with
# exec_folio, static; or with nothing, if no patch adds the test.
# Exit: 0 done, 2 cannot (one line on stderr says what).
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
# shellcheck source=cache.sh
. "$here/cache.sh"

[ $# -eq 2 ] || die "usage: kselftest.sh VERSION PATCHES"
version=$1 patches=$2
# shellcheck source=../../kernel/source.sh
. "$project/kernel/source.sh"
suite=$(suite_of "$version")
[ -d "$patches" ] || die "no directory $patches"
patches=$(realpath "$patches")

CC=${CC_AARCH64:-aarch64-linux-gnu-gcc}
SELFTESTS=tools/testing/selftests
TEST=$SELFTESTS/mm/exec_folio.c
"$project/mk/deps.sh" gcc-aarch64-linux-gnu git libc6-dev-arm64-cross xz-utils >&2

# What patches add of the test, in the directory tree. git would take a repository around it for the
# one that is meant.
take_test() {
	local file
	for file in "$patches"/*.patch; do
		[ -e "$file" ] || continue
		GIT_CEILING_DIRECTORIES=$(dirname "$tree") git -C "$tree" apply --include="$TEST" "$file" ||
			die "cannot take $TEST from $file"
	done
}

take_header() {
	local deb
	deb=$("$project/mk/suite.sh" only "$cache/apt" "$suite" arm64 "linux-source-$version")
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/linux-source-$version.tar.xz" |
		tar -xJ --strip-components=1 -C "$tree" --wildcards "*/$SELFTESTS/kselftest.h" ||
		die "cannot unpack $deb; is there room in $cache?"
}

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
take_test
# Neither the other patches nor the version of the source matter.
hash=$({ "$CC" --version && content_of "$0" "$tree"; } | short_hash)
begin "kselftest-$version-$hash"
trap 'rm -rf "$tree" "$tmp"' EXIT
mkdir "$tmp"
if [ -e "$tree/$TEST" ]; then
	say "building exec_folio of the series for $version"
	take_header
	said=$("$CC" -O2 -static -o "$tmp/exec_folio" "$tree/$TEST" 2>&1) ||
		die "$TEST cannot be compiled: $(grep -m 1 error <<<"$said")"
fi
finish
