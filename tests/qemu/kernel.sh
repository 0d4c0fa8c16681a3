#!/bin/bash
# SPDX-License-Identifier: MIT
# kernel.sh - a kernel for a guest: Debian's own for 4K and 16K pages, one that we build for 64K
#
#   tests/qemu/kernel.sh [--cached] [--own] VERSION PAGES [PATCHES]
#
# VERSION is 7.2 or 6.12, PAGES is 4k, 16k or 64k. With PATCHES, a directory of *.patch files, or
# --own, the kernel is built at every page size. Prints the path of a directory with Image, version
# (uname -r), and modules/: what a guest needs of modules, and order, their names as they must be
# loaded. --cached makes nothing: exit status 1 if the kernel is not there.
# Exit: 0 done, 1 see above, 2 cannot (one line on stderr says what).
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
# shellcheck source=cache.sh
. "$here/cache.sh"
# shellcheck source=../../kernel/source.sh
. "$project/kernel/source.sh"

# What the guest's init and its shell functions use; what these depend on comes along.
MODULES='virtio_pci virtio_mmio virtio_blk virtio_console loop ext4 xfs erofs overlay'

cached='' own=''
while [[ ${1-} == --* ]]; do
	case $1 in
	--cached) cached=1 ;;
	--own) own=1 ;;
	*) die "no option '$1'; there are --cached and --own" ;;
	esac
	shift
done
[ $# -eq 2 ] || [ $# -eq 3 ] || die "usage: kernel.sh [--cached] [--own] VERSION PAGES [PATCHES]"
version=$1 pages=$2 patches=${3-}
suite=$(suite_of "$version")
case $pages in
4k | 64k) flavour= ;;
16k) flavour=-16k ;;
*) die "no page size '$pages'; there are 4k, 16k and 64k" ;;
esac
[ -z "$patches" ] || [ -d "$patches" ] || die "no directory $patches"
[ -z "$patches" ] || compgen -G "$patches/*.patch" >/dev/null || die "no *.patch in $patches"
[ "$pages" != 64k ] && [ -z "$patches" ] || own=1

suite_sh() {
	"$project/mk/suite.sh" "$@"
}

# newest_of NAME - "package=version" of the newest package whose name is this regular expression
newest_of() {
	local found
	found=$(suite_sh versions "$cache/apt" "$suite" arm64 "^$1\$" | sort -V | tail -n 1)
	[ -n "$found" ] || die "Debian $suite has no package $1"
	echo "${found/ /=}"
}

# sid has the kernel, the modules and their lists in three packages, trixie in one. The names do not
# match those of the cloud and real-time kernels.
debian_packages() {
	local kind
	case $suite in
	sid) set -- linux-base linux-binary linux-modules ;;
	*) set -- linux-image ;;
	esac
	for kind; do
		newest_of "$kind-${version//./\\.}[^-]*-arm64$flavour"
	done
}

# unpack_kernel ROOT PACKAGE... - the kernel and the modules among which those of a guest are
unpack_kernel() {
	local root=$1 deb debs
	shift
	debs=$(suite_sh only "$cache/apt" "$suite" arm64 "$@")
	mkdir -p "$root"/{boot,usr/lib}
	ln -s usr/lib "$root/lib"
	for deb in $debs; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --exclude='*/kernel/drivers/[!bcv]*' \
			--exclude='*/kernel/net' --exclude='*/kernel/sound' --exclude='*/dtb' \
			--exclude='./usr/lib/linux-image-*' --exclude='./usr/share' ||
			die "cannot unpack $deb; is there room in $cache?"
	done
}

# copy_modules ROOT RELEASE DIR - uncompressed, and DIR/order
copy_modules() {
	local root=$1 release=$2 dir=$3 file name
	/sbin/depmod -b "$root" "$release" || die "depmod cannot read the modules of $release"
	mkdir "$dir"
	# Prints "insmod FILE" in the order of loading, "builtin NAME" for what the kernel itself has.
	# shellcheck disable=SC2086 # a list
	/sbin/modprobe -d "$root" -S "$release" -C /dev/null -a --show-depends $MODULES \
		>"$root/modules" 2>"$root/missing" || die "$release: $(head -n 1 "$root/missing")"
	awk '$1 == "insmod" && !seen[$2]++ { print $2 }' "$root/modules" >"$root/files"
	while read -r file; do
		name=$(basename "$file" .xz)
		case $file in
		*.xz) xz -dc "$file" >"$dir/$name" ;;
		*) cp "$file" "$dir/$name" ;;
		esac
		echo "$name"
	done <"$root/files" >"$dir/order"
}

take_from_debian() {
	local root=$tmp/root release image
	mkdir -p "$tmp"
	# shellcheck disable=SC2086 # a list
	unpack_kernel "$root" $packages
	release=$(ls "$root/usr/lib/modules")
	image=$(find "$root" -type f -name 'vmlinuz*')
	# QEMU starts a raw arm64 kernel, and knows nothing of one that unpacks itself under EFI.
	[ "$(od -An -c -j 56 -N 4 "$image" | tr -d ' ')" = 'ARMd' ] ||
		die "$(basename "$image") of $packages is not a raw arm64 kernel"
	mv "$image" "$tmp/Image"
	echo "$release" >"$tmp/version"
	copy_modules "$root" "$release" "$tmp/modules"
	rm -rf "$root"
}

build_it() {
	"$project/kernel/build.sh" "$version" "$pages" "$tmp" ${patches:+"$patches"} >/dev/null
}

"$project/mk/deps.sh" kmod xz-utils
if [ -n "$own" ]; then
	packages=$(newest_of "linux-source-${version//./\\.}")
	make=build_it
	# Not this script: a kernel takes minutes to build, and does not depend on it.
	inputs=("$project/kernel/build.sh" "$project/kernel/config/base.config"
		"$project/kernel/config/$pages.config" ${patches:+"$patches"/*.patch})
else
	packages=$(debian_packages)
	make=take_from_debian
	inputs=("$0")
fi
packages=${packages//$'\n'/ }
hash=$({ echo "$packages" && content_of "${inputs[@]}"; } | short_hash)
name=kernel-$version-$pages-$hash

[ -z "$cached" ] || [ -e "$cache/$name" ] || exit 1
begin "$name"
say "making a $version kernel with $pages pages from $packages"
$make
finish
