#!/bin/bash
# SPDX-License-Identifier: MIT
# sysroot.sh - libraries and headers of another Debian machine, to cross-compile against
#
#   mk/sysroot.sh SUITE ARCH PACKAGE...    these packages unpacked, without what they depend on
#
# Prints the directory, $EXECALIGN_QEMU_CACHE/sysroot-HASH (build/qemu by default); it is made once
# for these versions of the packages. Usable as gcc's --sysroot and as qemu-user's -L; its var/lib/dpkg
# tells dpkg-query and dpkg-shlibdeps which package a file is of.
# Exit: 0 done, 2 cannot (one line on stderr says what).
set -euo pipefail

die() {
	echo "sysroot: $*" >&2
	exit 2
}

[ $# -ge 3 ] || die "usage: sysroot.sh SUITE ARCH PACKAGE..."
suite=$1 arch=$2
shift 2

# record ROOT DEB... - what dpkg would note of packages that it installs, as far as it is read here
record() {
	local notes=$1/var/lib/dpkg deb name control
	mkdir -p "$notes/info"
	# With the architecture in the names of files, where packages of several can be installed.
	echo 1 >"$notes/info/format"
	shift
	for deb; do
		name=$(dpkg-deb -f "$deb" Package)
		[ "$(dpkg-deb -f "$deb" Multi-Arch)" != same ] || name=$name:$arch
		{
			echo "Status: install ok installed"
			dpkg-deb -f "$deb"
			echo
		} >>"$notes/status"
		dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -e 's,^\.,,' -e 's,\(.\)/$,\1,' -e 's,^/$,/.,' \
			>"$notes/info/$name.list"
		for control in shlibs symbols; do
			# Most packages have none.
			dpkg-deb -I "$deb" "$control" >"$notes/info/$name.$control" 2>/dev/null ||
				rm "$notes/info/$name.$control"
		done
	done
}

here=$(cd "$(dirname "$0")" && pwd)
cache=${EXECALIGN_QEMU_CACHE:-${BUILD:-build}/qemu}
mkdir -p "$cache" || die "cannot make $cache; set EXECALIGN_QEMU_CACHE to a directory with room"
cache=$(cd "$cache" && pwd)

pattern="^($(IFS='|' && echo "${*//+/\\+}"))\$"
versions=$("$here/suite.sh" versions "$cache/apt" "$suite" "$arch" "$pattern" | sort)
[ "$(cut -d ' ' -f 1 <<<"$versions" | sort -u | wc -l)" = $# ] ||
	die "$suite/$arch has not all of: $*"
hash=$({ cat "$0" "$here/suite.sh" && echo "$suite $arch $versions"; } | sha256sum | cut -c 1-12)
root=$cache/sysroot-$hash
if [ ! -d "$root" ]; then
	echo "sysroot: $suite/$arch: $*" >&2
	trap 'rm -rf "$root.tmp.$$"' EXIT
	debs=$("$here/suite.sh" only "$cache/apt" "$suite" "$arch" "$@")
	mapfile -t files <<<"$debs"
	"$here/suite.sh" unpack "$root.tmp.$$" "${files[@]}"
	record "$root.tmp.$$" "${files[@]}"
	# Another build may have been faster.
	mv -T "$root.tmp.$$" "$root" 2>/dev/null || [ -d "$root" ] || die "cannot make $root"
fi
echo "$root"
