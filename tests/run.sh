#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [-j JOBS] GROUP... - run the tests of these groups: unit, fuzz, native, qemu, kernel,
# musl, glibc, package (these three are of patched loaders), deb
#
# Prints one line per test program or scenario,
#
#	PASS name - note		FAIL name - reason		SKIP name - reason
#
# then which took longest, and last "N passed, N failed, N skipped". A program that ends with such a
# line of its own (", N skipped" may be missing) counts as so many tests. Exit: 0 nothing failed,
# 1 something did, 2 wrong use.
#
# A test passes with exit status 0, fails with any other, and is skipped with 77 after a line
# "SKIP: reason"; without a reason it fails. "NOTE: text" is shown beside a pass. Output goes to
# $BUILD/test-logs/NAME.log. A scenario may contain the comments "# timeout: SECONDS" (default 300: it
# is for what hangs, and no measure of speed) and "# serial", for one that must run alone.
set -euo pipefail

cd "$(dirname "$0")/.."
BUILD=$(realpath -m "${BUILD:-build}")
export BUILD
unset MAKEFLAGS MFLAGS MAKELEVEL
logs=$BUILD/test-logs
default_timeout=300
# From nothing: fetching packages, building the 64K kernel and filesystem images takes most of it.
qemu_seconds=2400
# From nothing: a kernel is built, which may take a quarter of an hour.
kernel_seconds=2400
fuzz_seconds=${FUZZ_SECONDS:-60}

usage() {
	echo "usage: tests/run.sh [-j JOBS] unit|fuzz|native|qemu|kernel|musl|glibc|package|deb..." >&2
	exit 2
}

jobs=2
while getopts j: option; do
	case $option in
	j) jobs=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
for number in "$jobs" "$fuzz_seconds"; do
	[[ $number =~ ^[1-9][0-9]*$ ]] || usage
done

# The tests: by name, the command, its timeout and whether it must run alone.
names=()
declare -A commands=() timeouts=() serials=()

# add NAME TIMEOUT SERIAL COMMAND
add() {
	names+=("$1")
	timeouts[$1]=$2
	serials[$1]=$3
	commands[$1]=$4
}

add_unit() {
	local program
	for program in unit-native unit-clang unit-musl; do
		add "$program" "$default_timeout" no "$BUILD/tests/$program"
	done
	add unit-aarch64 "$default_timeout" no "qemu-aarch64-static $BUILD/tests/unit-aarch64"
}

# The seconds are shared out among the targets.
add_fuzz() {
	local sources=(tests/fuzz/fuzz_*.c) source target seconds
	seconds=$(((fuzz_seconds + ${#sources[@]} - 1) / ${#sources[@]}))
	for source in "${sources[@]}"; do
		target=${source#tests/fuzz/fuzz_}
		target=${target%.c}
		add "fuzz-$target" $((seconds + 60)) no "tests/fuzz/run.sh $target $seconds"
	done
}

# add_scenarios FILE... - what the comments in them say
add_scenarios() {
	local scenario seconds serial
	for scenario; do
		[ -e "$scenario" ] || continue
		seconds=$(sed -n 's/^# timeout: \([0-9]\+\)$/\1/p' "$scenario" | head -n 1)
		serial=no
		! grep -qx '# serial' "$scenario" || serial=yes
		add "$(basename "$scenario" .sh)" "${seconds:-$default_timeout}" "$serial" "$scenario"
	done
}

add_native() {
	add_scenarios tests/native/[0-9][0-9]-*.sh
}

add_musl() {
	add_scenarios tests/loader/musl-[0-9][0-9]-*.sh
}

add_glibc() {
	local name
	add_scenarios tests/loader/glibc-[0-9][0-9]-*.sh
	# Some of the shim's, without the shim.
	while read -r name; do
		add "patched-$name" "$default_timeout" no "tests/loader/native.sh $name"
	done < <(grep -v '^#' tests/loader/native.txt)
}

add_package() {
	add_scenarios tests/loader/package-[0-9][0-9]-*.sh
}

add_deb() {
	add_scenarios tests/deb/deb-[0-9][0-9]-*.sh
}

# One program that runs many cases, and prints what it counted.
add_qemu() {
	add qemu-quick "$qemu_seconds" no "tests/qemu/check.py --quick --build $BUILD"
}

# Alone: builds of two kernels at a time would each take twice as long.
add_kernel() {
	add kernel-quick "$kernel_seconds" yes "tests/qemu/kernel_check.py --quick --build $BUILD"
}

for group; do
	case $group in
	unit | fuzz | native | qemu | kernel | musl | glibc | package | deb) "add_$group" ;;
	*) usage ;;
	esac
done

passed=0
failed=0
skipped=0
declare -A running=() # pid -> name
declare -A began=() took=() # by name, in seconds

stop_all() {
	trap - INT TERM
	# Each is a timeout(1), which passes the signal on to the test.
	for pid in "${!running[@]}"; do
		kill "$pid" 2>/dev/null || true
	done
	echo "interrupted"
	exit 1
}
trap stop_all INT TERM

start() {
	local command
	read -ra command <<<"${commands[$1]}"
	timeout --kill-after=10 "${timeouts[$1]}" "${command[@]}" \
		</dev/null >"$logs/$1.log" 2>&1 &
	running[$!]=$1
	began[$1]=$SECONDS
}

# last_of PATTERN LOG - what follows the pattern in the last line that begins with it
last_of() {
	sed -n "s/^\(.*: \)\?$1: //p" "$2" | tail -n 1
}

report_failure() {
	local name=$1 status=$2 log=$logs/$1.log reason
	reason=$(last_of FAILED "$log")
	if [ "$status" = 124 ] || [ "$status" = 137 ]; then
		reason="no end after ${timeouts[$name]} s"
	elif [ "$status" -gt 128 ]; then
		reason="killed by signal $((status - 128))"
	fi
	echo "FAIL $name - ${reason:-exit status $status}"
	# A program that runs many cases names each that failed, long before the end of what it prints.
	{
		grep -a '^FAIL ' "$log" | head -n 20 || true
		tail -n 30 "$log"
	} | sed 's/^/     | /'
}

# report NAME STATUS - print the outcome and count it
report() {
	local name=$1 status=$2 log=$logs/$1.log note counts own_passed=1 own_failed=0 own_skipped=0
	if [ "$status" = 77 ]; then
		note=$(last_of SKIP "$log")
		if [ -n "$note" ]; then
			skipped=$((skipped + 1))
			echo "SKIP $name - $note"
			return
		fi
		echo "FAILED: skipped without a reason" >>"$log"
	fi

	note=$(last_of NOTE "$log")
	counts=$(grep -aE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -n 1) ||
		counts=
	if [ -n "$counts" ]; then
		read -r own_passed _ own_failed _ own_skipped _ <<<"$counts"
		note="$own_passed tests"
		skipped=$((skipped + ${own_skipped:-0}))
		# Each with its reason.
		grep -a '^SKIP ' "$log" || true
	fi
	if [ "$status" = 0 ] && [ "$own_failed" = 0 ] && [ "$own_passed" -gt 0 ]; then
		passed=$((passed + own_passed))
		echo "PASS $name${note:+ - $note}"
		return
	fi
	[ -n "$counts" ] || own_passed=0
	[ "$own_failed" -gt 0 ] || own_failed=1
	passed=$((passed + own_passed))
	failed=$((failed + own_failed))
	report_failure "$name" "$status"
}

finish_one() {
	local pid status=0
	wait -n -p pid "${!running[@]}" 2>/dev/null || status=$?
	took[${running[$pid]}]=$((SECONDS - began[${running[$pid]}]))
	report "${running[$pid]}" "$status"
	unset "running[$pid]"
}

# run_all SERIAL JOBS - run the tests that are so
run_all() {
	local name
	for name in "${names[@]}"; do
		[ "${serials[$name]}" = "$1" ] || continue
		[ ${#running[@]} -lt "$2" ] || finish_one
		start "$name"
	done
	while [ ${#running[@]} -gt 0 ]; do
		finish_one
	done
}

mkdir -p "$logs"
run_all no "$jobs"
run_all yes 1

for name in "${!took[@]}"; do
	echo "$name ${took[$name]} s"
done | sort -k 2 -n -r | head -n 12 | paste -s -d , | sed 's/,/, /g; s/^/longest: /'
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
