#!/bin/bash
# SPDX-License-Identifier: MIT
# foreign.sh COMMAND... - run a command where programs for arm64 run under qemu-user
#
# Since Linux 6.7 a user namespace has interpreters of its own, so nothing is registered on the machine.
# All users are what they are outside.
# Exit: the command's status; 2 if there can be no such place (one line on stderr says why).
set -euo pipefail

die() {
	echo "foreign: $*" >&2
	exit 2
}

if [ "${1:-}" = --inside ]; then
	# Until the users are there.
	read -r _
	emulator=$2
	shift 2
	mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc 2>/dev/null ||
		die "a user namespace cannot have interpreters of its own before Linux 6.7"
	# The header of a 64-bit little-endian program or library for aarch64. F: opened now, so that it is
	# there in every root.
	printf '%s' ':execalign-arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:' \
		'\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:' \
		"$emulator:F" >/proc/sys/fs/binfmt_misc/register || die "$emulator cannot be registered"
	exec "$@" <&3 3<&-
fi

[ "$(id -u)" = 0 ] || die "needs root"
emulator=$(command -v qemu-aarch64-static) || die "qemu-aarch64-static is not installed"
exec 3<&0
fifo=$(mktemp -u "${TMPDIR:-/tmp}/execalign-foreign.XXXXXX")
mkfifo -m 600 "$fifo"
trap 'rm -f "$fifo"' EXIT
unshare --user --mount --propagation private bash "$0" --inside "$emulator" "$@" <"$fifo" &
child=$!
exec 4>"$fifo"
# It is another namespace's as soon as it reads.
for _ in $(seq 100); do
	[ "$(readlink /proc/self/ns/user)" = "$(readlink "/proc/$child/ns/user")" ] || break
	kill -0 "$child" 2>/dev/null || die "no user namespace can be made"
	sleep 0.05
done
for map in uid_map gid_map; do
	echo '0 0 4294967295' >"/proc/$child/$map" || die "users cannot be mapped into a user namespace"
done
echo >&4
exec 4>&-
status=0
wait "$child" || status=$?
exit "$status"
