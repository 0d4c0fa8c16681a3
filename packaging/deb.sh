#!/bin/bash
# SPDX-License-Identifier: MIT
# deb.sh - make Debian packages out of what `make install` has put into a directory
#
#   packaging/deb.sh ARCH TREE SYSROOT OUT
#
# TREE is the DESTDIR, for Debian's architecture ARCH, with PREFIX=/usr; SYSROOT is what it was linked
# against (mk/sysroot.sh). Packages come into OUT, in the place of older ones of this architecture.
# The same input gives the same packages, to the byte, in any directory; their files have the time of the
# changelog's last entry, or of SOURCE_DATE_EPOCH.
# Exit: 0 done, 2 cannot (one line on stderr says what).
set -euo pipefail
umask 022

die() {
	echo "deb: $*" >&2
	exit 2
}

[ $# -eq 4 ] || die "usage: deb.sh ARCH TREE SYSROOT OUT"
export DEB_HOST_ARCH=$1 LC_ALL=C
tree=$(realpath "$2")
sysroot=$(realpath "$3")
mkdir -p "$4"
out=$(realpath "$4")
cd "$(dirname "$0")/.."
triplet=$(dpkg-architecture -a "$1" -q DEB_HOST_MULTIARCH 2>/dev/null) || die "no such architecture: $1"

version=$(sed -n 's/^#define EXECALIGN_VERSION "\(.*\)"$/\1/p' cli/main.c)
package_version=$(dpkg-parsechangelog -l packaging/changelog -S Version)
[ "${package_version%-*}" = "$version" ] ||
	die "packaging/changelog has $package_version, cli/main.c has $version; add an entry to the changelog"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(dpkg-parsechangelog -l packaging/changelog -S Timestamp)}
export SOURCE_DATE_EPOCH

work=$(mktemp -d "$out/.work-$1.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Where dpkg's tools look for them.
mkdir "$work/debian"
grep -v '^#' packaging/control >"$work/debian/control"
cp packaging/changelog "$work/debian/changelog"

# put FILE... DIR - files, as they are, into a directory of a package
put() {
	install -d -m 755 "${!#}"
	install -m 644 "$@"
}

# The library and its page make one package, everything else makes the other.
split_tree() {
	mkdir "$work/execalign" "$work/libexecalign"
	cp -a "$tree/." "$work/execalign"
	(cd "$work/execalign" && find . -path './usr/lib/*' -type f -o -path './usr/share/man/*/libexecalign*') |
		while read -r file; do
			install -d -m 755 "$work/libexecalign/${file%/*}"
			mv "$work/execalign/$file" "$work/libexecalign/$file"
		done
	find "$work/execalign" -depth -type d -empty -delete
	find "$work"/*execalign -type d -exec chmod 755 {} +
}

documentation() {
	local package doc example
	for package in execalign libexecalign; do
		doc=$work/$package/usr/share/doc/$package
		put packaging/copyright "$doc"
		gzip -9n <packaging/changelog >"$doc/changelog.Debian.gz"
		chmod 644 "$doc/changelog.Debian.gz"
		if [ -e "packaging/$package.lintian-overrides" ]; then
			put "packaging/$package.lintian-overrides" "$work/$package/usr/share/lintian/overrides"
			mv "$work/$package/usr/share/lintian/overrides/$package.lintian-overrides" \
				"$work/$package/usr/share/lintian/overrides/$package"
		fi
	done
	# In the places where their links lead to each other.
	doc=$work/execalign/usr/share/doc/execalign
	put README.md "$doc"
	put docs/*.md "$doc/docs"
	for example in examples/systemd/*.{service,conf,md}; do
		[ ! -e "$example" ] || put "$example" "$doc/examples"
	done
	# As they are in the source, they name what make install installs.
	sed -i s,/usr/local/,/usr/, "$doc"/examples/*.service
	find "$work"/*execalign/usr/share/man -type f -exec gzip -9n {} +
}

# As dh_strip does. Of what is cut off, debuggers find nothing on their own, and nobody else needs it.
strip_files() {
	local file
	find "$work/execalign/usr/bin" "$work/libexecalign/usr/lib" -type f | while read -r file; do
		"$triplet-strip" --strip-unneeded --remove-section=.comment --remove-section=.note "$file"
	done
}

# dpkg's notes of what is in the sysroot, as if it were installed in the place where it lies.
installed_packages() {
	local list
	mkdir -p "$work/dpkg"
	cp -r "$sysroot/var/lib/dpkg/." "$work/dpkg"
	for list in "$work"/dpkg/info/*.list; do
		sed -i "s,^/,$sysroot/," "$list"
	done
}

# dependencies PACKAGE - into a file for dpkg-gencontrol. Only libraries of the sysroot are known, so
# that none of this machine's can be taken for what a program was linked with.
dependencies() {
	local file files=()
	while read -r file; do
		! "$triplet-readelf" -d "$file" | grep -q NEEDED || files+=("-e$file")
	done < <(find "$work/$1/usr" -path '*/lib/*.so*' -o -path '*/bin/*')
	: >"$work/$1.substvars"
	[ ${#files[@]} -gt 0 ] || return 0
	(
		cd "$work"
		dpkg-shlibdeps --admindir="$work/dpkg" -T"$1.substvars" --warnings=7 \
			-l"$sysroot/lib/$triplet" -l"$sysroot/usr/lib/$triplet" "${files[@]}"
	) || die "cannot tell what $1 depends on"
}

# build PACKAGE
build() {
	local root=$work/$1
	mkdir -m 755 "$root/DEBIAN"
	dependencies "$1"
	(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$work/md5sums"
	put "$work/md5sums" "$root/DEBIAN"
	[ ! -e "packaging/$1.triggers" ] || install -m 644 "packaging/$1.triggers" "$root/DEBIAN/triggers"
	(cd "$work" && dpkg-gencontrol -p"$1" -P"$1" -T"$1.substvars" -fdebian/files)
	chmod 644 "$root/DEBIAN/control"
	# Under fixed owners and an upper limit for times; xz is what dpkg of every release reads.
	dpkg-deb --root-owner-group -Zxz --build "$root" "$work" >/dev/null
}

split_tree
documentation
strip_files
installed_packages
for package in execalign libexecalign; do
	build "$package"
done
rm -f "$out"/*execalign_*_"$1".deb
mv "$work"/*.deb "$out"
(cd "$out" && stat -c "deb: %n, %s bytes" -- *_"$1".deb)
