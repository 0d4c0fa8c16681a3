#!/bin/bash
# SPDX-License-Identifier: MIT
# make.sh - cross-build for aarch64 what the tests of the kernel series run in a guest
#
# Prints the path of a directory in the cache (cache.sh) with the programs of this directory, which
# are static, functions.sh for the guest's shell, and bases.c linked with text of 5 MiB or 100 KiB:
#   pie-large, pie-small   GNU ld: text is the first segment, its address equal to its file offset
#   pie-shifted            lld: the text's address is 64 KiB more than its offset, so that no load
#                          address that is a multiple of a block makes blocks of it
#   exec-large             not position-independent
#   static-pie-large       position-independent without a dynamic linker
# Exit: 0 done, 2 cannot (one line on stderr).
set -euo pipefail

PACKAGES="gcc-aarch64-linux-gnu libc6-dev-arm64-cross lld"
PROGRAMS="folios fault placing storm shorten textsizes"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck source=../cache.sh
. "$here/../cache.sh"
CC=${CC_AARCH64:-aarch64-linux-gnu-gcc}
CFLAGS="-O1 -std=gnu11 -s -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
	-Wno-unused-parameter -Werror"
text=$here/../fixtures/text.S

# run COMMAND... - its output only if it fails
run() {
	local output
	output=$("$@" 2>&1) || die "$(head -n 1 <<<"$output"); the command was: $*"
}

inputs() {
	"$CC" --version
	"$("$CC" -print-prog-name=ld)" --version
	ld.lld --version
	content_of "$here" "$text"
}

# make_bases NAME FUNCTIONS OPTION... - a function is 4 KiB of text
make_bases() {
	local name=$1 functions=$2
	shift 2
	run "$CC" -c -DFUNCTIONS="$functions" -o "$tmp/text.o" "$text"
	run "$CC" "${cflags[@]}" "$@" -o "$tmp/$name" "$here/bases.c" "$tmp/text.o"
	rm "$tmp/text.o"
}

# must_be NAME CONDITION - of addr and off, address and offset of the executable segment
must_be() {
	local off addr
	read -r off addr < <("$("$CC" -print-prog-name=readelf)" -lW "$tmp/$1" |
		awk '$1 == "LOAD" && / R E / { print $2, $3; exit }')
	[ $(($2)) = 1 ] || die "$1: text at address $addr, offset $off; not what its name says"
}

[ $# = 0 ] || die "usage: make.sh"
read -ra cflags <<<"${CFLAGS//$'\n'/ }"
# shellcheck disable=SC2086 # a list of package names
"$root/mk/deps.sh" $PACKAGES >&2
command -v "$CC" >/dev/null || die "no compiler $CC; set CC_AARCH64 to one for aarch64"
begin "series-$(inputs | short_hash)"
say "building the programs that look at the kernel series"
mkdir -p "$tmp" || die "cannot make $tmp"
for program in $PROGRAMS; do
	run "$CC" "${cflags[@]}" -static -pthread -o "$tmp/$program" "$here/$program.c"
done
make_bases pie-large 1280 -fPIE -pie
make_bases pie-small 25 -fPIE -pie
# A cross compiler looks for linkers among its own, unless it is told.
make_bases pie-shifted 1280 -fPIE -pie -fuse-ld=lld -B"$(dirname "$(command -v ld.lld)")"
make_bases exec-large 1280 -fno-pie -no-pie
make_bases static-pie-large 1280 -fPIE -static-pie -DWITHOUT_LIBRARIES
must_be pie-large 'off == addr'
must_be pie-small 'off == addr'
must_be pie-shifted 'addr - off == 65536'
must_be exec-large 'addr - off == 0x400000'
must_be static-pie-large 'off == addr'
cp "$here/functions.sh" "$tmp"
finish
