#!/bin/bash
# SPDX-License-Identifier: MIT
# image.sh - a filesystem image of what the guests run
#
#   tests/qemu/image.sh USERLAND FS
#
# USERLAND is a directory that userland.sh has made, FS is ext4, xfs or erofs. Prints the image, a
# raw file. Neither root nor a mount is needed; in the image everything is root's. The same
# directory gives the same layout.
# Exit: 0 done, 2 cannot (one line on stderr says what).
set -euo pipefail

project=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=cache.sh
. "$project/tests/qemu/cache.sh"

[ $# -eq 2 ] || die "usage: image.sh USERLAND ext4|xfs|erofs"
root=$1/root fs=$2
[ -d "$root" ] || die "no directory $root; userland.sh makes it"
root=$(realpath "$root")
case $fs in
ext4) tools=(e2fsprogs fakeroot) ;;
xfs) tools=(xfsprogs) ;;
erofs) tools=(erofs-utils) ;;
*) die "no filesystem '$fs'; there are ext4, xfs and erofs" ;;
esac

tree=$project/tests/qemu/image_tree.py
uuid=65786563-616c-4967-8e00-000000000000
"$project/mk/deps.sh" python3 "${tools[@]}" >&2
PATH=$PATH:/usr/sbin:/sbin

hash=$( (
	content_of "$0" "$tree"
	basename "$(dirname "$root")"
	dpkg-query -W "${tools[@]}"
) | short_hash)
begin "image-$fs-$hash"
work=$tmp.work image=$tmp
trap 'rm -rf "$tmp" "$work"' EXIT
mkdir "$work"

# logged COMMAND... - says nothing unless it fails
logged() {
	local said
	said=$("$@" 2>&1) || die "$1 failed: ${said##*$'\n'}; is there room in $cache?"
}

# Room for the files and a quarter more.
size_mib() {
	du -sm --apparent-size "$root" | awk '{ print int($1 * 1.25) + 128 }'
}

make_ext4() {
	logged cp -a --sparse=never "$root" "$work/root"
	logged "$tree" mark "$work/root"
	logged fakeroot mke2fs -q -t ext4 -U "$uuid" -E "hash_seed=$uuid,root_owner=0:0" \
		-d "$work/root" "$image" "$(size_mib)M"
	logged "$tree" unmark "$image"
	logged e2fsck -fn "$image"
}

# mkfs.xfs stops when the group that a directory is in, one of four, has no room for a file. Each has
# room for all of them: what stays empty costs nothing in a sparse file.
make_xfs() {
	"$tree" protofile "$root" >"$work/protofile" ||
		die "cannot describe $root; is there room in $cache?"
	logged mkfs.xfs -q -m "uuid=$uuid" -p "$work/protofile" \
		-d "file,name=$image,size=$((4 * $(size_mib)))m"
	logged xfs_repair -n -f "$image"
}

make_erofs() {
	logged mkfs.erofs -T 0 -U "$uuid" --all-root --quiet "$image" "$root"
	logged fsck.erofs "$image"
}

say "making an $fs image of $root"
"make_$fs"
finish
