#!/bin/bash
# SPDX-License-Identifier: MIT
# patched.sh - the guests' userland with the patched loaders in the place of Debian's
#
#   tests/qemu/patched.sh USERLAND
#
# USERLAND is a directory that userland.sh has made. Prints a directory like it, which shares all files
# but those of the two C libraries: a program finds the patched ones by the names that it was linked
# with. They are built first if tests/loader/part.sh has none: glibc takes ten minutes or more.
# Exit: 0 done, 2 cannot (one line on stderr says what).
set -euo pipefail
shopt -s inherit_errexit

project=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=cache.sh
. "$project/tests/qemu/cache.sh"

[ $# -eq 1 ] || die "usage: patched.sh USERLAND"
userland=$1
[ -d "$userland/root" ] || die "no directory $userland/root; userland.sh makes it"
"$project/mk/deps.sh" qemu-user-static >&2

# The versions of the userland's suite.
glibc=$("$project/tests/loader/part.sh" glibc 2.41 aarch64)
musl=$("$project/tests/loader/part.sh" musl 1.2.5 aarch64)

begin "userland-patched-$( (content_of "$0" && basename -a "$userland" "$glibc" "$musl") | short_hash)"
root=$tmp/root

# replace FILE IN_ROOT - by another file: the old one is the other userland's, too
replace() {
	[ -e "$root/$2" ] || die "the userland has no $2"
	rm "$root/$2"
	install -m 755 "$1" "$root/$2"
	touch -d @0 "$root/$2"
}

# All of a C library has to come from one build. The newer one shows what belongs to it; what is not
# built (loader-patch/glibc/build.sh), nobody needs here, and Debian's would not fit.
replace_glibc() {
	local file name lib=usr/lib/aarch64-linux-gnu
	for file in "$root"/opt/glibc-2.44/lib/*.so*; do
		name=$(basename "$file")
		if [ -e "$glibc/lib/$name" ]; then
			replace "$glibc/lib/$name" "$lib/$name"
		else
			rm "$root/$lib/$name"
		fi
	done
}

# said PATTERN PROGRAM ARGUMENT... - what an arm64 program prints has to be like this
said() {
	local pattern=$1 output
	shift
	output=$(qemu-aarch64-static -L "$root" "$root/$1" "${@:2}" 2>&1) || true
	grep -q "$pattern" <<<"$output" || die "$1 of $root does not say '$pattern': ${output##*$'\n'}"
}

say "replacing the loaders of $(basename "$userland")"
mkdir "$tmp"
cp -al "$userland/root" "$root" || die "cannot link $root; is there room in $cache?"
replace_glibc
replace "$musl/lib/ld-musl-aarch64.so.1" usr/lib/aarch64-linux-musl/libc.so
touch -d @0 "$root"/usr/lib/aarch64-linux-{gnu,musl}
said glibc.elf.exec_align usr/lib/ld-linux-aarch64.so.1 --list-tunables
said '^Python 3' usr/bin/python3 --version
said 'Version 1.2.5' usr/lib/ld-musl-aarch64.so.1
finish
