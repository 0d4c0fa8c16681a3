#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh - a small arm64 kernel for the guests of the tests, from Debian's kernel source
#
#   kernel/build.sh VERSION PAGES OUT [PATCHES]
#
# VERSION is 7.2 or 6.12, PAGES is 4k, 16k or 64k. PATCHES is a directory of *.patch files, applied
# in the order of their names. Makes the directory OUT with Image, config, version (as uname -r says
# it), and modules/order, which is empty: tests/qemu/kernel.sh says what it is. Packages and the
# compiler's cache are below EXECALIGN_QEMU_CACHE. Prints OUT.
# Exit: 0 done, 2 cannot (one line on stderr says what).
set -euo pipefail
shopt -s inherit_errexit

project=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=../tests/qemu/cache.sh
. "$project/tests/qemu/cache.sh"
# shellcheck source=source.sh
. "$project/kernel/source.sh"
config=$project/kernel/config

[ $# -eq 3 ] || [ $# -eq 4 ] || die "usage: build.sh VERSION PAGES OUT [PATCHES]"
version=$1 pages=$2 out=$3 patches=${4-}
suite_of "$version" >/dev/null
[ -r "$config/$pages.config" ] || die "no page size '$pages'; there are 4k, 16k and 64k"
[ -z "$patches" ] || [ -d "$patches" ] || die "no directory $patches"
[ ! -e "$out" ] || die "$out exists; remove it or name another directory"

"$project/mk/deps.sh" bc bison ccache flex gcc gcc-aarch64-linux-gnu libc6-dev make patch perl \
	python3 xz-utils

mkdir -p "$(dirname "$out")"
out=$(realpath "$out")
tmp=$out.tmp.$$
trap 'rm -rf "$tmp"' EXIT
trap 'exit 2' HUP INT TERM
mkdir "$tmp"

# In the tree itself: the compiler then sees relative names only, so that ccache knows a file again
# wherever the tree lies.
tree=$tmp/linux

make_arm64() {
	kernel_make "$tree" arm64 aarch64-linux-gnu- "$@" >>"$tmp/log" 2>&1 ||
		die "make $* failed: $(grep -m 1 -iE 'error|\*\*\*' "$tmp/log" || tail -n 1 "$tmp/log")"
}

apply_patches() {
	local file
	for file in "$patches"/*.patch; do
		[ -e "$file" ] || die "no *.patch in $patches"
		patch -d "$tree" -p1 -s -f <"$file" >"$tmp/log" 2>&1 ||
			die "$file does not apply to $version: $(head -n 1 "$tmp/log")"
	done
}

# Options of the fragments that did not come to be, because something that they need is off.
lost_options() {
	sed -nE 's/^# (CONFIG_\w+) is not set$/\1=n/; /^CONFIG_\w+=/p' "$@" |
		while IFS='=' read -r name value; do
			found=$(sed -nE "s/^$name=(.*)/\1/p" "$tree/.config")
			[ "${found:-n}" = "$value" ] || printf ' %s' "$name"
		done
}

# All at once: in a configuration that exists, what depends on the page size would keep its value.
configure() {
	local lost
	cat "$@" >"$tmp/wanted"
	make_arm64 KCONFIG_ALLCONFIG="$tmp/wanted" allnoconfig
	lost=$(lost_options "$@")
	[ -z "$lost" ] || die "Linux $version does not take these options of kernel/config:$lost"
}

say "unpacking linux-source-$version"
unpack_source "$version" "$tree"
[ -z "$patches" ] || apply_patches
configure "$config/base.config" "$config/$pages.config"
say "building Linux $version with $pages pages (minutes, or seconds from ccache)"
make_arm64 Image

mv "$tree/arch/arm64/boot/Image" "$tmp/Image"
mv "$tree/.config" "$tmp/config"
mv "$tree/include/config/kernel.release" "$tmp/version"
mkdir "$tmp/modules"
: >"$tmp/modules/order"
rm -rf "$tree" "$tmp/log" "$tmp/wanted"
mv -T "$tmp" "$out"
echo "$out"
