#!/bin/bash
# SPDX-License-Identifier: MIT
# make.sh - build what counts TLBI instructions: a plugin for this machine's QEMU, and a guest's load
#
# Prints the path of a directory in the cache (cache.sh) with
#   count.so     the plugin, for the version of QEMU that is installed
#   tlbi_storm   for aarch64, static
# Exit: 0 done, 2 cannot (one line on stderr).
set -euo pipefail

PACKAGES="gcc gcc-aarch64-linux-gnu libc6-dev libc6-dev-arm64-cross qemu-system-arm"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck source=../cache.sh
. "$here/../cache.sh"
CC=${CC:-gcc}
CC_AARCH64=${CC_AARCH64:-aarch64-linux-gnu-gcc}
CFLAGS="-O2 -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
	-Wno-unused-parameter -Werror"

# run COMMAND... - its output only if it fails
run() {
	local output
	output=$("$@" 2>&1) || die "$(head -n 1 <<<"$output"); the command was: $*"
}

# The version of the interface that QEMU loads plugins of: qemu_plugin.h.
plugin_api() {
	local version major minor
	version=$(qemu-system-aarch64 --version | sed -nE '1s/.*version ([0-9]+\.[0-9]+).*/\1/p')
	IFS=. read -r major minor <<<"$version"
	case $major.$minor in
	[0-8].*) echo 1 ;;
	9.0) echo 2 ;;
	[0-9]*.*) echo 3 ;;
	*) die "cannot tell the version of qemu-system-aarch64" ;;
	esac
}

inputs() {
	"$CC" --version
	"$CC_AARCH64" --version
	echo "$api"
	content_of "$here"
}

[ $# = 0 ] || die "usage: make.sh"
read -ra cflags <<<"${CFLAGS//$'\n'/ }"
# shellcheck disable=SC2086 # a list of package names
"$root/mk/deps.sh" $PACKAGES >&2
api=$(plugin_api)
begin "tlbi-$(inputs | short_hash)"
mkdir -p "$tmp" || die "cannot make $tmp"
run "$CC" "${cflags[@]}" -DPLUGIN_API="$api" -shared -fPIC -fvisibility=hidden -o "$tmp/count.so" \
	"$here/count.c"
run "$CC_AARCH64" "${cflags[@]}" -static -pthread -s -o "$tmp/tlbi_storm" "$here/tlbi_storm.c"
finish
