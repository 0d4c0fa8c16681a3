# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# source.sh - sourced after tests/qemu/cache.sh by what needs Debian's kernel source, or its suite
#
# Expects project, the project's directory, and cache.

# What makes an object the same wherever and whenever it is made, so that ccache knows it again. It
# must look at preprocessed text only: direct mode finds headers by the lines that cc.sh leaves out.
# Where the tree lies must not be in a command (CCACHE_BASEDIR), or the list of headers of one tree
# would be taken for that of another.
export CCACHE_DIR=${cache:?}/ccache CCACHE_NODIRECT=1 CCACHE_COMPILERTYPE=gcc
export KBUILD_BUILD_TIMESTAMP='1970-01-01 00:00:00 UTC' KBUILD_BUILD_USER=execalign
export KBUILD_BUILD_HOST=execalign

# kernel_make TREE ARCH PREFIX ARGUMENT... - with the compiler of this prefix
kernel_make() {
	local tree=$1 arch=$2 cross=$3
	shift 3
	KERNEL_CC=${cross}gcc CCACHE_BASEDIR=$tree \
		CCACHE_COMPILERCHECK="string:$("${cross}gcc" --version | head -n 1)" \
		make -s -j"$(nproc)" -C "$tree" ARCH="$arch" CROSS_COMPILE="$cross" \
		CC="ccache ${project:?}/kernel/cc.sh" "$@"
}

# suite_of VERSION - the Debian suite that has it
suite_of() {
	case $1 in
	7.2) echo sid ;;
	6.12) echo trixie ;;
	*) die "no kernel '$1'; there are 7.2 and 6.12" ;;
	esac
}

# unpack_source VERSION TREE - makes the directory TREE
unpack_source() {
	local suite deb
	suite=$(suite_of "$1")
	deb=$("${project:?}/mk/suite.sh" only "$cache/apt" "$suite" arm64 "linux-source-$1")
	mkdir "$2"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/linux-source-$1.tar.xz" |
		tar -xJ --strip-components=1 -C "$2" ||
		die "cannot unpack $deb; is there room in $(dirname "$2")?"
}
