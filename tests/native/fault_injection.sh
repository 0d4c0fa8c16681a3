# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# fault_injection.sh - each system call of the shim made to fail in turn; sourced after lib.sh

inject="$FIXTURES/fail_shim_syscall"
[ -x "$inject" ] || fail "there is no $inject"
library=$FIXTURES/libtext6m.so
# shellcheck disable=SC2034 # used by the scenarios
app=("$FIXTURES/app" call "open:$library" "fail:$TMP/missing.so" close child)
mapper=("$FIXTURES/mmap_exec" "$FIXTURES/libtext10m.so" /dev/null placed)

# once VARIABLE N ERRNO COMMAND... - the output must be that of plain
once() {
	local variable=$1 n=$2 errno=$3 status=0
	local told=()
	shift 3
	[ -z "${TRACER_IS_SEEN:-}" ] || told=(EXECALIGN_PROMOTE=always)
	"$inject" "$TMP/report" "$SHIM" "$n" "$errno" "$variable=$SHIM" "${settings[@]}" \
		"${told[@]}" "$@" \
		>"$TMP/out" 2>"$TMP/err" </dev/null || status=$?
	# A log that cannot be written is told of in a line of its own.
	[ "${settings[0]}" = EXECALIGN_LOG= ] || sed -i '/^execalign: EXECALIGN_LOG=/d' "$TMP/err"
	if [ "$status" != 0 ] || ! cmp -s "$TMP/out" "$TMP/plain.out" || [ -s "$TMP/err" ]; then
		diff "$TMP/plain.out" "$TMP/out" | head -5 || :
		fail "$variable, call $n ($(grep -m1 failed "$TMP/report")), errno $errno: status $status:" \
			"$(head -c 500 "$TMP/err")"
	fi
}
errnos=(12 1 22 24)
all_of() {
	local variable=$1 count n errno total=0
	shift
	run_plain "$@"
	once "$variable" 0 0 "$@"
	count=$(awk '$1 == "calls" { print $2 }' "$TMP/report")
	[ "$count" -gt 0 ] || fail "$variable: the shim makes no system call in $*"
	for ((n = 1; n <= count; n++)); do
		for errno in "${errnos[@]}"; do
			once "$variable" "$n" "$errno" "$@"
			total=$((total + 1))
		done
		# From here on everything fails. When the program's own mmap goes through the shim,
		# that is its call that fails.
		[ "$1" = "${mapper[0]}" ] || once "$variable" "-$n" 1 "$@"
	done
	headline "$variable, ${settings[0]%=*}, $(basename "$1"): $count calls, $total runs with one failing"
}
