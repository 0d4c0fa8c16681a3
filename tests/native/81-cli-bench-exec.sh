#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign bench exec: each way of mapping code is what its name says, the figures agree with each
# other, and no file is left behind, whatever ends it.
# timeout: 180
# serial
. "$(dirname "$0")/prime-lib.sh"
need jq strace
need_large_folios

dir=$TMP/dir
mkdir "$dir"
bytes=$((32 << 20))
measure() {
	cli 0 bench exec --dir "$dir" --size 32M --rounds 5 --calls 50000 "$@"
	[ ! -s "$TMP/err" ] || fail "on standard error: $(cat "$TMP/err")"
	[ -z "$(ls -A "$dir")" ] || fail "left: $(ls -A "$dir")"
}

# --- What was measured
measure --json
expect .schema execalign-bench-exec-1
expect .size_bytes "$bytes"
expect .rounds 5
expect .calls 50000
expect '.variants | map(.name) | join(" ")' 'misplaced congruent advised anonymous hugetlb'
variant() {
	expect ".variants[] | select(.name == \"$1\") | $2" "$3"
}
variant misplaced .as_claimed true
variant misplaced .mapped_large_bytes 0
mostly_large() {
	nearly_all ".variants[] | select(.name == \"$1\") | .mapped_large_bytes" "$bytes"
}
mostly_large advised
mostly_large anonymous
jq -e '.variants | map(select(.error == null)) | all(
	.cold_ms.p10 > 0 and .cold_ms.p10 <= .cold_ms.median and .cold_ms.median <= .cold_ms.p90 and
	.random_ns.p10 > 0 and .random_ns.p10 <= .random_ns.median and .random_ns.median <= .random_ns.p90 and
	.left_cached_bytes == 0)' "$TMP/out" >/dev/null || fail "figures: $(cat "$TMP/out")"
jq -e '.comparisons | length >= 8 and all(
	.ratio > 0 and .low <= .ratio and .ratio <= .high and
	.inside_noise == (.low <= 1 and .high >= 1) and .variant != .against)' \
	"$TMP/out" >/dev/null || fail "comparisons: $(cat "$TMP/out")"
headline "advised against misplaced: cold $(query '.comparisons[] |
	select(.variant == "advised" and .against == "misplaced" and .metric == "cold_ms") | .ratio'), random $(query \
	'.comparisons[] | select(.variant == "advised" and .against == "misplaced" and .metric == "random_ns") | .ratio')"

# --- The hugetlb pool, if there is one, and if not
pool=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
if [ "$(id -u)" = 0 ] && [ -w $pool ]; then
	pool_was=$(cat $pool)
	restore_pool() {
		echo "$pool_was" >$pool
	}
	trap 'restore_pool; rm -rf "${cleanup_list[@]}"' EXIT
	echo 0 >$pool
	measure
	said out 'hugetlb: not measured: the pool does not have 16 free pages'
	echo 16 >$pool
	if [ "$(cat $pool)" = 16 ]; then
		measure --json
		variant hugetlb .error null
		variant hugetlb .mapped_large_bytes "$bytes"
		variant hugetlb .as_claimed true
	else
		note "a pool of 16 pages: not to be had here"
	fi
	restore_pool
else
	note "hugetlb: not tried, the pool cannot be changed"
fi

# --- For people
measure
for name in misplaced congruent advised anonymous; do
	grep -qE "^$name +[0-9]+ [KM]iB +[0-9.]+ \([0-9.]+ - [0-9.]+\)" "$TMP/out" || fail "$name: $(cat "$TMP/out")"
done
grep -qE '^advised .*  [0-9.]+ \[[0-9.]+, [0-9.]+\] .* \[[0-9.]+, [0-9.]+\]$' "$TMP/out" || fail "no ratios: $(cat "$TMP/out")"
said out 'advised against anonymous, random: '

# --- Without root: what is mapped by PMD entries smaps tells everybody
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$TMP"
	chmod 777 "$dir"
	cli_prefix=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	measure --json
	mostly_large advised
	variant misplaced .mapped_large_bytes 0
	cli_prefix=()
fi

# --- A file that cannot be evicted: the times are not called cold
measure_strace() {
	strace -f -qq -o "$TMP/trace" "$@" "$CLI" bench exec --dir "$dir" --size 16M --rounds 2 --calls 1000 --json \
		>"$TMP/out" 2>"$TMP/err" || fail "under strace: $(cat "$TMP/err")"
}
measure_strace -e inject=fadvise64:retval=0
variant congruent .cold_ms null
jq -e '.variants[] | select(.name == "congruent") | .left_cached_bytes > 0 and .random_ns.median > 0' "$TMP/out" \
	>/dev/null || fail "not evicted: $(cat "$TMP/out")"

# --- A kernel that maps nothing large: said so, and not hidden in a figure
measure_strace -e inject=madvise:retval=0
variant advised .as_claimed false
variant anonymous .as_claimed "$(grep -q '\[always\]' /sys/kernel/mm/transparent_hugepage/enabled &&
	echo true || echo false)"

# --- Bad input
#       status thing         text
refuses 2 bench              'nothing to measure is named' bench
refuses 2 frobnicate         'unknown benchmark'   bench frobnicate
refuses 2 --frobnicate       'unknown option'      bench --frobnicate
refuses 2 --size             'too small'           bench exec --size 8M
refuses 2 --size             "'x' is not a size"   bench exec --size x
refuses 2 --rounds           "'0' is not a number" bench exec --rounds 0
refuses 2 --rounds           "'-1' is not"         bench exec --rounds -1
refuses 2 --calls            "'1e3' is not"        bench exec --calls 1e3
refuses 2 true               'takes no operand'    bench exec true
refuses 2 'bench exec'       'of memory'           bench exec --dir "$dir" --size 1024G
refuses 2 "$dir/none"        'No such file'        bench exec --dir "$dir/none"
refuses 2 "$SHIM"            'Not a directory'     bench exec --dir "$SHIM"
refuses 2 /proc/self         'name another --dir'  bench exec --dir /proc/self
cli_prefix=(prlimit --fsize=$((20 << 20)) --)
refuses 2 "$dir"             'no room for a file of 32 MiB' bench exec --dir "$dir" --size 32M
cli_prefix=(strace -f -qq -o "$TMP/trace" -e inject=pwrite64:error=ENOSPC:when=3)
refuses 2 "$dir"             'no room for a file of 32 MiB' bench exec --dir "$dir" --size 32M
cli_prefix=()
if [ "$(id -u)" = 0 ]; then
	mkdir "$TMP/other"
	# shellcheck disable=SC2016 # the inner shell's
	inside='mount -t tmpfs tmpfs "$1" && mount -t tmpfs -o noexec,size=40m tmpfs "$1" && exec "$2" bench exec --dir "$1"'
	cli_prefix=(unshare -m sh -c "$inside" sh "$TMP/other")
	refuses_in() {
		"${cli_prefix[@]}" "$CLI" >"$TMP/out" 2>"$TMP/err" && fail "it succeeded: $(cat "$TMP/out")"
		[ "$(wc -l <"$TMP/err")" = 1 ] || fail "not one line: $(cat "$TMP/err")"
		said err "$1"
	}
	refuses_in 'in memory'
	# shellcheck disable=SC2016
	inside='mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" bench exec --dir "$1"'
	cli_prefix=(unshare -m sh -c "$inside" sh "$TMP/other")
	refuses_in 'Read-only file system'
	# shellcheck disable=SC2016
	inside='mount --bind "$1" "$1" && mount -o remount,bind,noexec "$1" && exec "$2" bench exec --dir "$1" --size 16M'
	cli_prefix=(unshare -m sh -c "$inside" sh "$TMP/other")
	refuses_in 'no code can be written and mapped there'
	[ -z "$(ls -A "$TMP/other")" ] || fail "left: $(ls -A "$TMP/other")"
	cli_prefix=()
fi
[ -z "$(ls -A "$dir")" ] || fail "left: $(ls -A "$dir")"

# --- Interrupted: while it writes the file, while it measures, and by what cannot be caught
interrupt() {
	local signal=$1 status=0 pid _
	shift
	# What a script starts in the background ignores SIGINT, and so would the command.
	env "${int:---default-signal=INT}" "$CLI" bench exec --dir "$dir" --size 256M --rounds 1000 >"$TMP/out" 2>"$TMP/err" &
	pid=$!
	for _ in $(seq 500); do
		"$@" "$pid" && break
		sleep 0.02
	done
	"$@" "$pid" || fail "$*: it never came to that: $(cat "$TMP/err")"
	kill "-$signal" "$pid"
	[ "${int:-}" != --ignore-signal=INT ] || still_measures
	wait "$pid" || status=$?
	[ -z "$(ls -A "$dir")" ] || fail "$signal left: $(ls -A "$dir")"
	[ ! -s "$TMP/out" ] || fail "$signal: on standard output: $(cat "$TMP/out")"
	ended=$status
}
writing() {
	[ "$(find "/proc/$1/fd" -lname "$dir/*" 2>/dev/null | wc -l)" = 2 ]
}
measuring() {
	grep -q "r-xp.*$dir/" "/proc/$1/maps" 2>/dev/null
}
for signal in INT TERM HUP; do
	for moment in writing measuring; do
		interrupt $signal $moment
		[ "$ended" = 2 ] || fail "$signal, $moment: exit status $ended: $(cat "$TMP/err")"
		[ "$(cat "$TMP/err")" = 'execalign: bench exec: interrupted; nothing is left behind, start it again' ] ||
			fail "$signal, $moment: $(cat "$TMP/err")"
	done
done
interrupt KILL measuring
[ "$ended" = 137 ] || fail "killed: exit status $ended"

# What is ignored stays ignored.
still_measures() {
	local _
	sleep 0.3
	for _ in $(seq 500); do
		measuring "$pid" && break
		sleep 0.02
	done
	measuring "$pid" || fail "an ignored $signal ended it: $(cat "$TMP/err")"
	kill -TERM "$pid"
}
int=--ignore-signal=INT
interrupt INT measuring
[ "$ended" = 2 ] || fail "TERM after an ignored INT: exit status $ended"
