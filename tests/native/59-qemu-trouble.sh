#!/bin/bash
# SPDX-License-Identifier: MIT
# What the tests on arm64 kernels do where they cannot run: one line that says what is missing, exit
# status 2, or 77 for the part that make check runs. A guest that does not boot, and an interruption,
# leave no QEMU and no file behind.
. "$(dirname "$0")/lib.sh"
need qemu-system-aarch64 python3

check=$EA_TOP/tests/qemu/check.py
export EXECALIGN_QEMU_CACHE=$TMP/cache
unset CI

# expect STATUS PATTERN COMMAND... - the last line that it prints is all that it says
expect() {
	local wanted=$1 pattern=$2 status=0
	shift 2
	"$@" >"$TMP/said" 2>&1 || status=$?
	[ "$status" = "$wanted" ] || fail "$*: exit status $status, not $wanted: $(tail -n 3 "$TMP/said")"
	tail -n 1 "$TMP/said" | grep -qE "$pattern" || fail "$*: says '$(tail -n 1 "$TMP/said")'"
	! grep -q Traceback "$TMP/said" || fail "$*: $(tail -n 1 "$TMP/said")"
}

mkdir "$TMP/bin"
for tool in python3 env bash; do
	ln -s "$(command -v $tool)" "$TMP/bin/$tool"
done
expect 2 '^check-qemu: no qemu-system-aarch64; install qemu-system-arm$' env PATH="$TMP/bin" "$check"
expect 77 '^SKIP: no qemu-system-aarch64; install' env PATH="$TMP/bin" "$check" --quick
expect 2 'no case is so; --help has the options' "$check" --case nonsense
expect 2 'no case is so' "$check" --pages 8k

# No mirror: nothing listens on port 9.
export http_proxy=http://127.0.0.1:9
expect 2 '^check-qemu: .*cannot fetch' "$check" --build "$TMP/build" --pages 16k
expect 77 '^SKIP: .*cannot fetch' "$check" --build "$TMP/build" --quick
unset http_proxy
leftovers=$(find "$TMP/cache" -name '*.tmp.*')
[ -z "$leftovers" ] || fail "left behind: $leftovers"

if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
	mkdir "$TMP/small"
	EXECALIGN_QEMU_CACHE=$TMP/small expect 2 'GiB free in .*; make room or set EXECALIGN_QEMU_CACHE' \
		unshare --mount sh -c "mount -t tmpfs -o size=64m tmp '$TMP/small' && exec '$check'"
fi

# guest SECONDS - boots what is no kernel; prints what is said about it
guest() {
	head -c 65536 /dev/zero >"$TMP/image"
	/usr/bin/python3 - "$EA_TOP/tests/qemu" "$TMP/image" "$1" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		sys.dont_write_bytecode = True
		import machine
		print('booting', flush=True)
		try:
		    machine.Guest(sys.argv[2], sys.argv[2], {}, boot_seconds=int(sys.argv[3]))
		except machine.GuestError as error:
		    print(error)
	END
}

# The guests of this scenario: the image's name is in their command line.
no_qemu_left() {
	! pgrep -f "qemu-system-aarch64.*$TMP/image" >"$TMP/left" ||
		fail "$1: QEMU is left behind, process $(head -n 1 "$TMP/left")"
}

guest 2 >"$TMP/said"
grep -q '^does not boot within 2 s' "$TMP/said" || fail "no kernel: $(cat "$TMP/said")"
no_qemu_left 'no kernel'

# Killed: nothing of the script runs any more, QEMU ends with its parent.
guest 60 >"$TMP/said" &
for _ in {1..100}; do
	! pgrep -f "qemu-system-aarch64.*$TMP/image" >/dev/null || break
	sleep 0.1
done
script=$(pgrep -f "python3 - $EA_TOP/tests/qemu $TMP/image") || fail "the guest did not start"
kill -9 "$script"
wait || true
sleep 0.5
no_qemu_left killed
