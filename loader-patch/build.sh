#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh - a patched dynamic loader, from Debian's source
#
#   loader-patch/build.sh [--stock] {glibc|musl} VERSION ARCH [OUT]
#
# VERSION is a directory of loader-patch/LIBC, ARCH is x86_64 or aarch64. Fetches the source of the
# suite that has that version, with Debian's own patches, adds ours, and builds: natively, or with a
# cross compiler. Makes the directory OUT (build/loader/LIBC-VERSION-ARCH) and prints it:
#
#   OUT/lib/      the loader, and what else has to lie beside it: see loader-patch/LIBC/build.sh
#   OUT/source/   Debian's source package with our patches in debian/patches, from which
#                 dpkg-buildpackage makes installable packages; none where only the original
#                 source could be had
#   OUT/rule/     the patched files with the rule, which tests compile
#   OUT/version   upstream version, and what was built: "1.2.5 musl_1.2.5-3"
#
# --stock leaves our patches out: what tests compare with, and no OUT/source.
# Packages and the compiler's cache are below EXECALIGN_QEMU_CACHE.
# Exit: 0 done, 2 cannot (one line on stderr says what).
#
# What differs between the two libcs is in loader-patch/LIBC/build.sh, which is sourced and defines
#
#   loader_suite     print the Debian suite that has $version; fail for an unknown one
#   loader_needs     print the Debian packages that the build needs, for $arch
#   loader_fetch     if it is there: make $source with debian/ in it, and $tmp/origin, which says what
#                    it is, in place of fetch_source below
#   loader_build     build what lies in $tree (patched, a copy); leave $tmp/lib and $tmp/rule
#
# They find $project, $patches, $libc, $version, $arch, $is_stock, $cache, $tmp and $tree, and call
# run_logged, die and say.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/.." && pwd)
is_stock=
if [ "${1-}" = --stock ]; then
	is_stock=1
	shift
fi
usage='usage: build.sh [--stock] {glibc|musl} VERSION ARCH [OUT]'
if [ $# -lt 3 ] || [ $# -gt 4 ]; then
	echo "build: $usage" >&2
	exit 2
fi
libc=$1 version=$2 arch=$3
out=${4-${BUILD:-$project/build}/loader/$libc-$version-$arch${is_stock:+-stock}}
out=$(realpath -m "$out")
# shellcheck source=../tests/qemu/cache.sh
. "$project/tests/qemu/cache.sh"

case $libc in
glibc | musl) ;;
*) die "no libc '$libc'; there are glibc and musl" ;;
esac
case $arch in
x86_64 | aarch64) ;;
*) die "no machine '$arch'; there are x86_64 and aarch64" ;;
esac
patches=$here/$libc/$version
[ -d "$patches" ] ||
	die "no $libc '$version'; there are$(cd "$here/$libc" && printf ' %s' [0-9]*/ | tr -d /)"
[ ! -e "$out" ] || die "$out exists; remove it or name another directory"

# shellcheck source=musl/build.sh
. "$here/$libc/build.sh"
suite=$(loader_suite) || die "no suite of Debian is known to have $libc $version"
# shellcheck disable=SC2046 # a list of packages
"$project/mk/deps.sh" debian-archive-keyring dpkg-dev patch xz-utils $(loader_needs)

mkdir -p "$(dirname "$out")"
tmp=$out.tmp.$$
trap 'rm -rf "$tmp"' EXIT
trap 'exit 2' HUP INT TERM
mkdir "$tmp"
source=$tmp/source
tree=$tmp/build
export CCACHE_DIR=$cache/ccache

# run_logged WHAT COMMAND... - its output goes to a log; if it fails, one line of it says why
run_logged() {
	local what=$1 first
	shift
	touch "$tmp/log"
	first=$(($(wc -l <"$tmp/log") + 1))
	"$@" >>"$tmp/log" 2>&1 ||
		die "$what failed: $(tail -n "+$first" "$tmp/log" | grep -m 1 -E '(error:|\*\*\*|E:)' ||
			tail -n 1 "$tmp/log")"
}

# The package with Debian's patches, or, where the mirror has it no more, the original source.
fetch_source() {
	local dsc archive
	if dsc=$("$project/mk/suite.sh" dsc "$cache/apt" "$suite" "$libc" 2>"$tmp/why"); then
		[[ $(basename "$dsc") == "${libc}_$version"[-+.]* ]] ||
			die "$suite has $(basename "$dsc" .dsc), not $libc $version"
		# apt has compared the checksums with the signed lists.
		run_logged "unpacking $dsc" dpkg-source --no-check -x "$dsc" "$source"
		basename "$dsc" .dsc >"$tmp/origin"
		return
	fi
	say "$(cat "$tmp/why"): building without Debian's changes"
	archive=$("$project/mk/suite.sh" source "$cache/apt" "$suite" "$libc")
	[[ $(basename "$archive") == "${libc}_$version".orig.* ]] ||
		die "$suite has $(basename "$archive"), not $libc $version"
	mkdir "$source"
	run_logged "unpacking $archive" tar -xf "$archive" --strip-components=1 -C "$source"
	basename "$archive" >"$tmp/origin"
}

apply_patches() {
	local file
	for file in "$patches"/*.patch; do
		[ -e "$file" ] || die "no *.patch in $patches"
		patch -d "$tree" -p1 -s -f --no-backup-if-mismatch <"$file" >"$tmp/log" 2>&1 ||
			die "$file does not apply to $(cat "$tmp/origin"): $(head -n 1 "$tmp/log")"
	done
}

# Debian's source package, of a version just above its own, with our patches behind Debian's.
# dpkg-buildpackage applies them.
add_to_debian_patches() {
	local file name
	mkdir -p "$source/debian/patches"
	for file in "$patches"/*.patch; do
		name=execalign-$(basename "$file")
		cp "$file" "$source/debian/patches/$name"
		echo "$name" >>"$source/debian/patches/series"
	done
	{
		printf '%s (%s+execalign1) UNRELEASED; urgency=medium\n\n' "$libc" \
			"$(dpkg-parsechangelog -l "$source/debian/changelog" -S Version)"
		printf '  * Place the text of libraries where large TLB entries can map it.\n\n'
		printf ' -- execalign developers <execalign@example.org>  %s\n\n' \
			"$(dpkg-parsechangelog -l "$source/debian/changelog" -S Date)"
		cat "$source/debian/changelog"
	} >"$tmp/changelog"
	mv "$tmp/changelog" "$source/debian/changelog"
}

say "fetching $libc $version"
if declare -F loader_fetch >/dev/null; then
	loader_fetch
else
	fetch_source
fi
cp -a "$source" "$tree"
[ -n "$is_stock" ] || apply_patches
say "building $libc $version for $arch"
: >"$tmp/log"
loader_build
if [ -z "$is_stock" ] && [ -d "$source/debian" ]; then
	add_to_debian_patches
else
	rm -rf "$source"
fi
echo "$version $(cat "$tmp/origin")" >"$tmp/version"
rm -rf "$tree" "$tmp/log" "$tmp/origin" "$tmp/why"
mv -T "$tmp" "$out"
echo "$out"
