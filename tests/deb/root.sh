#!/bin/bash
# SPDX-License-Identifier: MIT
# root.sh - a small Debian, to install packages in
#
#   tests/deb/root.sh SUITE ARCH
#
# Prints an archive of its root directory, which apt can go on from with the machine's mirror. Runs as root,
# and what it installs must be able to run here: for another architecture in foreign.sh.
# Exit: 0 done, 2 cannot (one line on stderr says what).
set -euo pipefail

project=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../qemu/cache.sh
. "$project/tests/qemu/cache.sh"

[ $# -eq 2 ] || die "usage: root.sh SUITE ARCH"
suite=$1 arch=$2

# Beside what apt needs: what reads pages and completions, and a program with much text in a library.
packages=bash-completion,man-db,x265

mirror=$("$project/mk/suite.sh" mirror)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
begin "debian-$suite-$arch-$( (content_of "$0" && echo "$mirror") | short_hash).tar"
say "installing $suite/$arch, for some minutes"
# A mirror that is kept at one day serves signatures whose time is over.
mmdebstrap --mode=root --variant=apt --architectures="$arch" --include="$packages" --format=tar \
	--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Languages "none"' \
	"$suite" "$tmp" "deb [signed-by=$keyring] $mirror $suite main" >"$tmp.log" 2>&1 ||
	die "mmdebstrap failed: $(grep -m 1 '^E:' "$tmp.log" || tail -n 1 "$tmp.log")"
rm -f "$tmp.log"
finish
