#!/bin/bash
# SPDX-License-Identifier: MIT
# part.sh - a loader for the tests, built once: loader-patch/build.sh, and kept in the cache
#
#   tests/loader/part.sh [--cached] [--stock] LIBC VERSION ARCH
#
# Prints the directory that build.sh made. --cached makes nothing: exit status 1 if it is not there.
# Exit: 0 done, 1 see above, 2 cannot (one line on stderr says what).
set -euo pipefail
shopt -s inherit_errexit

project=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../qemu/cache.sh
. "$project/tests/qemu/cache.sh"

cached='' stock=()
while [[ ${1-} == --* ]]; do
	case $1 in
	--cached) cached=1 ;;
	--stock) stock=(--stock) ;;
	*) die "no option '$1'; there are --cached and --stock" ;;
	esac
	shift
done
[ $# -eq 3 ] || die "usage: part.sh [--cached] [--stock] LIBC VERSION ARCH"
libc=$1 version=$2 arch=$3
scripts=("$project/loader-patch/build.sh" "$project/loader-patch/$libc/build.sh")
hash=$({
	content_of "${scripts[@]}"
	[ ${#stock[@]} -gt 0 ] || content_of "$project/loader-patch/$libc/$version"
	echo "${stock[*]} ${MUSL_CONFIGURE-}"
} | short_hash)

name=loader-$libc-$version-$arch-$hash
[ -z "$cached" ] || [ -e "$cache/$name" ] || exit 1
begin "$name"
# Two builds at a time take longer than one after the other. What was waited for may be this very part.
exec 8>"$cache/loader.lock"
flock 8
begin "$name"
"$project/loader-patch/build.sh" "${stock[@]}" "$libc" "$version" "$arch" "$tmp" >/dev/null
finish
