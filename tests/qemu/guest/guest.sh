# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# guest.sh - what the host asks of a guest; sourced by init. The shell is busybox's.
#
# A filesystem is mounted at /mnt/NAME with all that programs expect, and programs run in a chroot
# of it. /tools (the shim, the command, the probe) is the same directory everywhere; it is in memory.

READY_TENTHS=600

# The block device whose serial number is NAME.
disk_of() {
	for disk in /sys/block/vd*; do
		[ "$(cat "$disk/serial")" = "$1" ] && basename "$disk" && return
	done
	echo "guest: no disk $1" >&2
	return 1
}

# furnish NAME - what a program needs beside its files
furnish() {
	mount -t proc proc "/mnt/$1/proc" && mount --bind /sys "/mnt/$1/sys" &&
		mount --bind /dev "/mnt/$1/dev" && mount -t tmpfs tmp "/mnt/$1/tmp" &&
		mount --bind /tools "/mnt/$1/tools"
}

# mount_image NAME TYPE - mounts disk NAME, which holds a filesystem of TYPE
mount_image() {
	mkdir -p "/mnt/$1"
	options=ro
	# Images of the same kind have the same UUID, which xfs mounts only once.
	[ "$2" != xfs ] || options=ro,nouuid
	mount -t "$2" -o "$options" "/dev/$(disk_of "$1")" "/mnt/$1" && furnish "$1"
}

# mount_overlay NAME LOWER - an overlay of a mounted filesystem, as a container has it
mount_overlay() {
	mkdir -p "/mnt/$1" "/overlay/$1"
	mount -t tmpfs tmp "/overlay/$1" && mkdir "/overlay/$1/upper" "/overlay/$1/work" &&
		mount -t overlay -o "lowerdir=/mnt/$2,upperdir=/overlay/$1/upper,workdir=/overlay/$1/work" \
			overlay "/mnt/$1" && furnish "$1"
}

# read_ahead KIB - of all disks
read_ahead() {
	for disk in /sys/block/vd*; do
		echo "$1" >"$disk/queue/read_ahead_kb"
	done
}

# Nothing of any file is cached afterwards, but what running programs have mapped. Free memory is in
# large pieces: that a folio finds none in what earlier cases left is no fault of what is tested.
cold() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	echo 1 >/proc/sys/vm/compact_memory
}

# warm_small NAME FILE... - has files cached in the smallest folios that there are
warm_small() {
	root=/mnt/$1
	shift
	cold
	read_ahead 0
	for file; do
		cat "$root$file" >/dev/null || return
	done
}

# Bytes that were read from disks since boot, and in how many requests.
disk_reads() {
	cat /sys/block/vd*/stat | awk '{ reads += $1; sectors += $3 }
		END { printf "%.0f %d\n", sectors * 512, reads }'
}

# What a METHOD puts into a program's environment.
method_environment() {
	case $1 in
	plain | patched | aligned) ;;
	audit) echo "LD_AUDIT=/tools/libexecalign.so" ;;
	preload) echo "LD_PRELOAD=/tools/libexecalign.so" ;;
	thp) echo "GLIBC_TUNABLES=glibc.elf.thp=1" ;;
	*) echo "guest: no method $1" >&2 && return 1 ;;
	esac
}

# Where the userland has the newer glibc, which is the first with glibc.elf.thp.
NEWER=/opt/glibc-2.44/lib

# in_root NAME METHOD PROGRAM ARGUMENT... - runs it, with the method from the first instruction on
in_root() {
	name=$1
	method=$2
	settings=$(method_environment "$method") || return
	shift 2
	if [ "$method" = thp ]; then
		set -- "$NEWER/ld-linux-aarch64.so.1" --library-path "$NEWER:/usr/lib/aarch64-linux-gnu" "$@"
	fi
	# busybox is static: what is set here first matters to the program itself.
	# shellcheck disable=SC2163
	if [ -n "$settings" ]; then export "$settings"; fi
	# shellcheck disable=SC2086 # a list
	exec env HOME=/tmp PATH=/usr/bin:/bin:/usr/sbin:/sbin $EXTRA_ENVIRONMENT chroot "/mnt/$name" "$@"
}

# start_probe NAME METHOD PROBE ARGUMENT... - leaves its pid in /tmp/probe.pid
start_probe() {
	# What an earlier probe said must be gone before anybody waits for this one's words.
	: >/tmp/probe.out
	(in_root "$@") >>/tmp/probe.out 2>&1 &
	echo $! >/tmp/probe.pid
	tenths=0
	while ! grep -q ^READY /tmp/probe.out; do
		if ! kill -0 $! 2>/dev/null || [ $tenths -ge $READY_TENTHS ]; then
			echo "guest: the probe is not ready: $(cat /tmp/probe.out)" >&2
			stop_probe
			return 1
		fi
		usleep 100000
		tenths=$((tenths + 1))
	done
	cat /tmp/probe.out
}

# look_at_probe NAME - its mappings, and what execalign says about them
look_at_probe() {
	pid=$(cat /tmp/probe.pid)
	echo '@@maps'
	# Names as the chroot shows them.
	sed "s# /mnt/$1/# /#" "/proc/$pid/maps" || return
	echo '@@report'
	chroot "/mnt/$1" /tools/execalign report --json "$pid"
}

# Afterwards nothing of the probe is mapped any more: what is mapped stays in the page cache. A zombie
# has given up its memory; before, its maps may be empty already while it still does so.
stop_probe() {
	pid=$(cat /tmp/probe.pid)
	kill -9 "$pid" 2>/dev/null
	while state=$(sed 's/.*) \(.\).*/\1/' "/proc/$pid/stat" 2>/dev/null) && [ "$state" != Z ]; do
		usleep 10000
	done
}
