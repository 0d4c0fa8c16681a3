#!/bin/bash
# SPDX-License-Identifier: MIT
# userland.sh - what the guests run: a tree of Debian 13's arm64 packages, and our fixtures
#
#   tests/qemu/userland.sh [FIXTURES]
#
# Prints a directory with root/, the tree. Packages are unpacked, not installed: what their scripts
# would do and programs need is done here. /opt/glibc-2.44/lib holds the C library of Debian
# experimental. The directory FIXTURES becomes /opt/fixtures.
# Exit: 0 done, 2 cannot (one line on stderr says what).
set -euo pipefail

project=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=cache.sh
. "$project/tests/qemu/cache.sh"

[ $# -le 1 ] || die "usage: userland.sh [FIXTURES]"
fixtures=${1:-}

# logged COMMAND... - says nothing unless it fails
logged() {
	local said
	said=$("$@" 2>&1) || die "${1##*/} failed: ${said%%$'\n'*}; is there room in $cache?"
}

# Nobody's rights and times matter in a guest, so they are the same in every tree.
normalise() {
	find "$1" -perm /7000 ! -type l -exec chmod u-s,g-s,-t {} +
	[ "$(id -u)" != 0 ] || chown -Rh 0:0 "$1"
	find "$1" -exec touch -h -d @0 {} +
}

# Fixtures change more often than packages: their tree shares its other files with one without.
if [ -n "$fixtures" ]; then
	[ -d "$fixtures" ] || die "no directory $fixtures; fixtures/make.sh makes it"
	packages_only=$("$0")
	begin "userland-$( (basename "$packages_only" && content_of "$fixtures") | short_hash)"
	mkdir "$tmp"
	logged cp -al "$packages_only/root" "$tmp/root"
	logged cp -a "$fixtures/." "$tmp/root/opt/fixtures"
	normalise "$tmp/root/opt"
	finish
	exit
fi

suite=trixie
packages=(bash clang-19 coreutils dash findutils grep libc-bin libc6 libelf1t64 libjemalloc2
	libjson-c5 libpfm4 libpython3.13 libsqlite3-0 libstdc++6 musl openssl perl procps python3
	redis-server redis-tools sed sqlite3 strace util-linux zlib1g)

# clang wants to link programs and dpkg's scripts to run; here nobody does either.
unwanted='/(adduser|binutils.*|debconf|dpkg|gcc-14-base|lib(a|hwa|l|t|ub)san[0-9]|libbinutils'
unwanted+='|libc-dev-bin|libc6-dev|libclang1-19|libcrypt-dev|libct[^_]*|libgcc-14-dev|libgomp1'
unwanted+='|libgprofng0|libitm1|libobjc.*|libsemanage.*|libsepol2|libsframe1|libstdc\+\+-14-dev'
unwanted+='|linux-libc-dev|llvm-19-linker-tools|passwd|rpcsvc-proto|tar|tzdata)_[^/]*$'

# In the tree: what nobody reads there.
unread=(usr/include usr/lib/aarch64-linux-gnu/gconv usr/lib/aarch64-linux-gnu/perl/5.40.1/CORE
	usr/share/bash-completion usr/share/doc usr/share/info usr/share/lintian usr/share/locale
	usr/share/man usr/share/zsh)

# A read-only guest cannot keep what Python compiles: these modules, and what they import.
modules=ctypes,decimal,hashlib,json,random,socket,sqlite3,ssl,subprocess,threading

"$project/mk/deps.sh" apt dpkg qemu-user-static >&2

suite_debs() {
	"$project/mk/suite.sh" "$1" "$cache/apt" "$2" arm64 "${@:3}"
}

# The packages' files, the new C library last.
newest_debs() {
	local debs
	debs=$(suite_debs fetch "$suite" "${packages[@]}") || exit
	grep -vE "$unwanted" <<<"$debs"
	suite_debs only experimental libc6
}

# What was the newest when this was asked first stays in use while its files are there: asking takes
# seconds and a network, and a test should not change from day to day.
chosen=$cache/packages-$(content_of "$0" | short_hash)
if ! xargs -d '\n' -a "$chosen" ls >/dev/null 2>&1; then
	newest=$(newest_debs)
	echo "$newest" >"$chosen.tmp.$$"
	mv "$chosen.tmp.$$" "$chosen"
fi
mapfile -t debs <"$chosen"

begin "userland-$( (content_of "$0" && printf '%s\n' "${debs[@]##*/}") | short_hash)"
root=$tmp/root

# In the foreign machine's own way, but on this one. Paths below root are found there first.
arm64() {
	local said
	said=$(env -i LC_ALL=C PYTHONDONTWRITEBYTECODE=1 \
		qemu-aarch64-static -L "$root" "$root/$1" "${@:2}" 2>&1) ||
		die "$1 does not run in $root: ${said##*$'\n'}"
}

unpack() {
	logged "$project/mk/suite.sh" unpack "$root" "${debs[@]::${#debs[@]}-1}"
	(cd "$root" && rm -rf "${unread[@]}")
	# Intrinsics of all the machines that clang compiles for.
	find "$root"/usr/lib/llvm-19/lib/clang/19/include -mindepth 1 -maxdepth 1 \
		! -name '*std*' ! -name 'arm_*' ! -name 'float.h' ! -name 'limits.h' -exec rm -r {} +
}

# Only the C library's own files, with the names that they have in its own place: a guest can mount
# them over those of the suite.
add_new_glibc() {
	local lib=$root/opt/glibc-2.44/lib
	logged "$project/mk/suite.sh" unpack "$tmp/new" "${debs[-1]}"
	mkdir -p "$lib"
	mv "$tmp"/new/usr/lib/aarch64-linux-gnu/*.so* "$lib"
	rm -r "$tmp/new"
}

configure() {
	ln -s clang-19 "$root/usr/bin/clang"
	ln -s mawk "$root/usr/bin/awk"
	printf '%s\n' root:x:0:0:root:/root:/bin/sh \
		nobody:x:65534:65534:nobody:/nonexistent:/bin/false >"$root/etc/passwd"
	printf '%s\n' root:x:0: nogroup:x:65534: >"$root/etc/group"
	# Mount points; and ldconfig looks at this machine's directory where the tree has none.
	mkdir -p "$root/tools" "$root/usr/local/lib/aarch64-linux-gnu"
	arm64 usr/sbin/ldconfig -X -C "$root/etc/ld.so.cache"
}

compile_modules() {
	arm64 usr/bin/python3.13 - "$root" <<-END
	import py_compile, sys
	import $modules
	root = sys.argv[1]
	for module in list(sys.modules.values()):
	    path = getattr(module, '__file__', None) or ''
	    if path.startswith(root) and path.endswith('.py'):
	        py_compile.compile(path, dfile=path[len(root):], doraise=True,
	                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
	END
}

# That nothing was left out which these need to start.
try_programs() {
	local program
	for program in bash clang-19 perl redis-cli redis-server setarch sqlite3 strace; do
		arm64 "usr/bin/$program" --version
	done
	arm64 usr/bin/openssl version
	arm64 opt/glibc-2.44/lib/ld-linux-aarch64.so.1 --version
	arm64 usr/lib/ld-musl-aarch64.so.1 --list "$root/usr/lib/aarch64-linux-musl/libc.so"
}

say "unpacking ${#debs[@]} packages"
mkdir "$tmp"
unpack
add_new_glibc
configure
say "trying the programs"
compile_modules
try_programs
normalise "$root"
finish
