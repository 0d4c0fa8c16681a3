#!/bin/sh
# SPDX-License-Identifier: MIT
# overlay.sh DIR CMD [ARG]... - run CMD where DIR is an overlay of itself, as /usr is in a container
#
# overlayfs does not align mappings, whatever the filesystem below does, and it shares the page
# cache with that filesystem. The overlay lives in a mount namespace of CMD's own and goes away with
# it; without root, a user namespace gives the right to mount.
# Exit: CMD's own, or 125 when there can be no overlay.
set -eu

if [ "${1-}" = --inside ]; then
	dir=$2
	shift 2
	# A read-only overlay wants two lower directories. The second one is empty, and the overlay
	# keeps it when its name is gone.
	mount -t tmpfs tmpfs /mnt
	mkdir /mnt/empty
	mount -t overlay overlay -o "lowerdir=$dir:/mnt/empty" "$dir" || exit 125
	umount -l /mnt
	exec "$@"
fi

if [ $# -lt 2 ]; then
	echo "usage: overlay.sh DIR CMD [ARG]..." >&2
	exit 125
fi
dir=$1
shift
[ "$(stat -f -c %T "$dir")" != overlayfs ] || exec "$@"
map=
[ "$(id -u)" = 0 ] || map=--map-root-user
# shellcheck disable=SC2086 # an option or nothing
unshare --mount $map true 2>/dev/null || exit 125
# shellcheck disable=SC2086
exec unshare --mount $map sh "$0" --inside "$dir" "$@"
