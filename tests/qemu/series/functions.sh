# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# functions.sh - what the host asks of a guest about its kernel; sourced after guest.sh

SERIES=/tools/series

# writable NAME - the image can be written to from now on; what is written, nobody keeps
writable() {
	[ -d "/mnt/$1/opt/series" ] && return
	mount -o remount,rw "/mnt/$1" && mkdir "/mnt/$1/opt/series"
}

# programs_on NAME - the programs of the series, at /opt/series of an image. They must not run from
# memory: what is asked is what the filesystem and the page cache do.
programs_on() {
	writable "$1" || return
	[ -e "/mnt/$1/opt/series/pie-large" ] || cp "$SERIES"/* "/mnt/$1/opt/series" && sync
}

# sparse NAME BYTES - a file /opt/series/sparse without a block on the disk
sparse() {
	writable "$1" && truncate -s "$2" "/mnt/$1/opt/series/sparse"
}

# smaps_of_probe NAME - of start_probe's program; then the sizes of the files that it maps as text
smaps_of_probe() {
	pid=$(cat /tmp/probe.pid)
	echo '@@smaps'
	sed "s# /mnt/$1/# /#" "/proc/$pid/smaps" || return
	echo '@@sizes'
	awk -v root="/mnt/$1" '$2 ~ /x/ && $6 ~ /^\// { sub(root, "", $6); print root $6 }' \
		"/proc/$pid/maps" | sort -u | xargs stat -c '%s %n' | sed "s# /mnt/$1/# /#"
}

# run_in NAME COMMAND... - in the background, silently, in a chroot; prints its pid
run_in() {
	name=$1
	shift
	(in_root "$name" plain "$@") </dev/null >/dev/null 2>&1 &
	echo $!
}

# start_system NAME - some of what a small machine runs all the time; leaves the pids in /tmp/system
start_system() {
	{
		run_in "$1" /usr/bin/bash -c 'sleep 1000; :'
		run_in "$1" /usr/bin/dash -c 'sleep 1000; :'
		run_in "$1" /usr/bin/perl -e 'use POSIX; use Data::Dumper; print Dumper(\%ENV); sleep 1000'
		run_in "$1" /usr/bin/vmstat 1000
		run_in "$1" /usr/bin/watch -n 1000 true
		run_in "$1" /usr/bin/sqlite3 /tmp/words.db 'create table if not exists t (a)' '.shell sleep 1000'
		run_in "$1" /usr/bin/python3 -c "$PYTHON_SLEEPS"
		run_in "$1" /usr/bin/redis-server --port 0 --unixsocket /tmp/system.sock --save ''
	} >/tmp/system
}

PYTHON_SLEEPS='import hashlib, json, sqlite3, ssl, time
ssl.create_default_context(); json.dumps([1]); sqlite3.connect(":memory:"); time.sleep(1000)'

# start_redis NAME - with what its clients ask of it; leaves the pid in /tmp/system
start_redis() {
	run_in "$1" /usr/bin/redis-server --port 0 --unixsocket /tmp/series.sock --save '' \
		>/tmp/system
	tenths=0
	until [ -S "/mnt/$1/tmp/series.sock" ] || [ $tenths -ge "$READY_TENTHS" ]; do
		usleep 100000
		tenths=$((tenths + 1))
	done
	(in_root "$1" plain /usr/bin/redis-cli -s /tmp/series.sock \
		eval 'local s = 0 for i = 1, 1000 do redis.call("set", i, s) s = s + i end return s' 0)
}

start_python() {
	run_in "$1" /usr/bin/python3 -c "$PYTHON_SLEEPS" >/tmp/system
}

# settled - until the programs of /tmp/system do next to nothing, or for half a minute: redis wakes up
# ten times a second, which is much on a slow machine
settled() {
	last=-1000 tenths=0
	while now=$(xargs -I '{}' cat '/proc/{}/stat' </tmp/system | awk '{ ticks += $14 + $15 }
			END { print ticks }') && [ $((now - last)) -gt 5 ] && [ $tenths -lt 300 ]; do
		last=$now
		tenths=$((tenths + 10))
		sleep 1
	done
}

end_system() {
	xargs kill -9 </tmp/system
	sleep 0.2
}

# limited LIMIT NAME PROGRAM... - in_root, in a memory cgroup of its own; prints, after what the
# program prints, how long it took and what the cgroup has counted
limited() {
	control=/sys/fs/cgroup
	[ -e $control/cgroup.controllers ] || mount -t cgroup2 cgroup $control || return
	group=$control/limited.$1
	echo +memory >$control/cgroup.subtree_control && mkdir "$group" || return
	echo "$1" >"$group/memory.max" || return
	name=$2
	shift 2
	began=$(cut -d ' ' -f 1 /proc/uptime)
	# The shell itself moves; what it becomes is charged for what it reads from then on.
	(echo 0 >"$group/cgroup.procs" && in_root "$name" plain "$@")
	status=$?
	echo "@@limited status=$status began=$began ended=$(cut -d ' ' -f 1 /proc/uptime)"
	sed 's/^/event_/' "$group/memory.events"
	cat "$group/memory.stat"
	echo "peak $(cat "$group/memory.peak" 2>/dev/null || echo unknown)"
	# What is in the page cache keeps it alive no longer than the page cache.
	cold
	rmdir "$group"
}
