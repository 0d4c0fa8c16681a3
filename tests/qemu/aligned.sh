#!/bin/bash
# SPDX-License-Identifier: MIT
# aligned.sh - the guests' userland after execalign elf --set-align: nothing else has to place its text
#
#   tests/qemu/aligned.sh USERLAND
#
# USERLAND is a directory that userland.sh has made. Prints a directory like it, a copy: files that have
# names elsewhere, too, would be refused. $BUILD/execalign does it, for another machine's files as well.
# Exit: 0 done, 2 cannot (one line on stderr says what).
set -euo pipefail
shopt -s inherit_errexit

project=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=cache.sh
. "$project/tests/qemu/cache.sh"

[ $# -eq 1 ] || die "usage: aligned.sh USERLAND"
userland=$1 execalign=${BUILD:-$project/build}/execalign
[ -d "$userland/root" ] || die "no directory $userland/root; userland.sh makes it"
[ -x "$execalign" ] || die "no $execalign; make builds it"

begin "userland-aligned-$( (content_of "$0" "$execalign" && basename "$userland") | short_hash)"
root=$tmp/root

say "aligning the programs and libraries of $(basename "$userland")"
mkdir "$tmp"
cp -a --reflink=auto "$userland/root" "$root" ||
	die "cannot copy to $root; is there room in $cache?"
"$execalign" elf --set-align auto "$root" >"$tmp/log" || die "execalign elf fails: $(tail -n 1 "$tmp/log")"
grep -E "^[0-9]+ (files|changed)," "$tmp/log" >&2 || die "execalign elf has no summary"
rm "$tmp/log"
finish
