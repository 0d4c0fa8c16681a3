#!/bin/sh
# SPDX-License-Identifier: MIT
# redis.sh - starts redis on a socket, pings, sets and gets, and ends it
#
# UNDER: a command to run the server under.

socket=/tmp/redis.sock
# shellcheck disable=SC2086 # a command and its arguments
${UNDER-} redis-server --port 0 --unixsocket $socket --save '' --daemonize no --dir /tmp >/tmp/redis.log 2>&1 &
tries=0
until [ -S $socket ]; do
	tries=$((tries + 1))
	[ $tries -lt 300 ] || { cat /tmp/redis.log; exit 1; }
	sleep 0.1
done
redis-cli -s $socket ping
redis-cli -s $socket set word execalign
redis-cli -s $socket get word
redis-cli -s $socket eval 'local s = 0 for i = 1, 1000 do s = s + i end return s' 0
redis-cli -s $socket shutdown nosave
wait
