#!/bin/bash
# SPDX-License-Identifier: MIT
# startup.sh BUILD [--json] [--rounds N] - what the shim costs at start-up
#
# Every figure comes from runs that alternate between the variants (interleave.c), and is processor
# time, user and system. "plain again" is the same as "plain": how far its ratio is from 1 is the
# noise of this machine at this moment.
# Exit: 0 measured, whatever the figures are; 2 could not measure.
set -eu

usage() {
	echo "startup: $*; usage: startup.sh BUILD [--json] [--rounds N]" >&2
	exit 2
}

here=$(cd "$(dirname "$0")" && pwd)
[ -e "${1-}/libexecalign.so" ] || usage "${1-no directory}: not built there; run make bench-startup"
build=$(cd "$1" && pwd)
shift
rounds=60
json=
while [ $# -gt 0 ]; do
	case $1 in
	--json) json=yes ;;
	--rounds)
		[[ ${2-} =~ ^[1-9][0-9]*$ ]] || usage "--rounds ${2-}: not a number above 0"
		rounds=$2
		shift
		;;
	*) usage "$1: unknown option" ;;
	esac
	shift
done

shim=$build/libexecalign.so
nothing=$build/bench/audit-nothing.so
plt_loop=$build/bench/plt-loop
interleave=$build/bench/interleave
cpu=$(sed -n 's/^Cpus_allowed_list:.*[^0-9]\([0-9]*\)$/\1/p' /proc/self/status)
unset LD_PRELOAD LD_AUDIT GLIBC_TUNABLES "${!EXECALIGN@}"

# Goals: the ratio of a variant to plain, and what a library may take.
goal_auditor=1.05
goal_idle=1.10
goal_library_us=15
goal_text_bytes=32768
goal_private_kib=12

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP PIPE
: >"$scratch/timings"
: >"$scratch/measures"
exec 3>&1
[ -z "$json" ] || exec 3>/dev/null

say() {
	# shellcheck disable=SC2059 # the first argument is the format
	printf "$@" >&3
}

# verdict LOW HIGH GOAL - of an interval against "at most GOAL"
verdict() {
	awk -v low="$1" -v high="$2" -v goal="$3" 'BEGIN {
		print (high <= goal ? "met" : low > goal ? "missed" : "inside the noise") }'
}

# measure NAME VALUE LOW HIGH UNIT GOAL VERDICT - print and keep one figure; "-" is "none"
measure() {
	local interval='' goal=''

	[ "$3" = - ] || interval="[$3, $4]"
	[ "$6" = - ] || goal="goal <= $6: $7"
	say '  %-52s %9s %-5s %-18s %s\n' "$1" "$2" "$5" "$interval" "$goal"
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$@" >>"$scratch/measures"
}

# compare TITLE ROUNDS GOALS INTERLEAVE-WORDS... - print and keep a table of variants.
# GOALS: "LABEL<=RATIO" words, or "LABEL=1" for a ratio that must not differ from 1.
compare() {
	local title=$1 count=$2 goals=$3

	shift 3
	# shellcheck disable=SC2086 # a command or nothing
	${wrapper-} "$interleave" -p -c "$cpu" -n "$count" "$@" >"$scratch/last"
	say '\n%s\n  %-20s %10s %19s %8s  %-16s %s\n' "$title ($count rounds)" variant 'median ms' \
		'p10 - p90' ratio 'interval, 95 %' faults
	awk -F '\t' -v OFS='\t' -v title="$title" -v goals="$goals" -v kept="$scratch/timings" '
	function judge(label, low, high) {
		if ((label "<=") in goal)
			return (high <= goal[label "<="] ? "met" : low > goal[label "<="] ? \
				"missed" : "inside the noise")
		# One percent is below what code placement and the clock do by themselves.
		if ((label "=") in goal)
			return (low <= 1.01 && high >= 0.99 ? "met" : "missed")
		return ""
	}
	BEGIN {
		words = split(goals, list, " ")
		for (i = 1; i <= words; i++) {
			match(list[i], /<?=/)
			goal[substr(list[i], 1, RSTART + RLENGTH - 1)] = substr(list[i], RSTART + RLENGTH)
		}
	}
	NR > 1 {
		result = judge($1, $7, $8)
		shown = result == "" ? "" : ($1 "<=") in goal ? \
			"goal <= " goal[$1 "<="] ": " result : "goal 1.00: " result
		printf "  %-20s %10.2f %9.2f - %7.2f %8.3f  [%.3f, %.3f]   %6d  %s\n", $1, $3 / 1000,
			$4 / 1000, $5 / 1000, $6, $7, $8, $12, shown
		print title, $0, ($1 "<=") in goal ? goal[$1 "<="] : ($1 "=") in goal ? 1 : "-", \
			result == "" ? "-" : result >>kept
	}' "$scratch/last" >&3
}

# more_per VARIANT COUNT - fields "median low high" in us of what VARIANT took longer, per COUNT
more_per() {
	awk -F '\t' -v label="$1" -v count="$2" '$1 == label {
		printf "%.1f %.1f %.1f\n", $9 / count, $10 / count, $11 / count }' "$scratch/last"
}

libraries_of() {
	LD_TRACE_LOADED_OBJECTS=1 "$1" | grep -c '=> /'
}

# start_up TITLE ROUNDS GOALS PROGRAM [ARG]... - start-up of PROGRAM in every variant
start_up() {
	local title=$1 count=$2 goals=$3 libraries more

	libraries=$(libraries_of "$4")
	shift 3
	compare "$title, $libraries libraries" "$count" "$goals" \
		+ plain "$@" + 'plain again' "$@" \
		+ 'bare auditor' LD_AUDIT="$nothing" "$@" \
		+ auditor LD_AUDIT="$shim" "$@" \
		+ promoted LD_PRELOAD="$shim" EXECALIGN_PROMOTE=always "$@" \
		+ 'execalign run' "$build/execalign" run -- "$@"
	more=$(more_per auditor "$libraries")
	# shellcheck disable=SC2086 # three fields
	measure "auditor, per library: $title" $more us "$goal_library_us" \
		"$(verdict ${more#* } "$goal_library_us")"
}

# start_ups WHERE MOUNT-COMMAND - real programs, and 48 libraries that are only mapped
start_ups() {
	local wrapper program

	for program in gdb clang; do
		wrapper=${2:+$2 /usr}
		start_up "$program, $1" "$rounds" "auditor<=$goal_auditor" \
			"$(command -v "$program")" --version
	done
	wrapper=${2:+$2 $build/bench/small}
	start_up "4 KiB of text each, $1" "$((rounds * 3))" '' "$build/bench/small/do-nothing"
	wrapper=${2:+$2 $build/bench/big}
	start_up "4 MiB of text each, $1" "$((rounds * 3))" '' "$build/bench/big/do-nothing"
}

# executions PROGRAM [ARG]... - how many times the process executes something under LD_PRELOAD
executions() {
	strace -f -qq -E LD_PRELOAD="$shim" -e trace=execve,execveat -o "$scratch/strace" "$@" \
		>/dev/null || return
	grep -c ' = 0$' "$scratch/strace"
}

nothing_to_gain() {
	local name=$1 count

	shift
	compare "$name, nothing to gain" "$((rounds * 4))" "preload<=$goal_idle" \
		+ plain "$@" + 'plain again' "$@" + preload LD_PRELOAD="$shim" "$@" \
		+ 'bare auditor' LD_AUDIT="$nothing" "$@" + auditor LD_AUDIT="$shim" "$@"
	count=$(executions "$@")
	measure "executions of $name under LD_PRELOAD" "$count" - - '' 1 \
		"$([ "$count" = 1 ] && echo met || echo missed)"
}

plt_calls() {
	compare '2^28 calls through the PLT' "$(((rounds + 4) / 5))" \
		'auditor=1 preload=1 promoted=1' \
		+ plain "$plt_loop" \
		+ 'plain again' "$plt_loop" \
		+ auditor LD_AUDIT="$shim" "$plt_loop" \
		+ preload LD_PRELOAD="$shim" "$plt_loop" \
		+ promoted LD_PRELOAD="$shim" EXECALIGN_PROMOTE=always "$plt_loop"
}

shell_commands() {
	local script='i=0
		while [ $i -lt 250 ]; do
			/bin/true; expr 1 + 1; basename /usr/bin; cat /dev/null; i=$((i + 1))
		done'

	compare '1,000 commands of a shell script' "$(((rounds + 12) / 13))" '' \
		+ plain sh -c "$script" + preload LD_PRELOAD="$shim" sh -c "$script"
}

size_and_memory() {
	local text needed span

	say '\nSize and memory\n'
	text=$(readelf -lW "$shim" | awk '$1 == "LOAD" && / R E / { print $5 }')
	text=$((text))
	needed=$(readelf -dW "$shim" | grep -c NEEDED) || true
	span=$(readelf -lW "$shim" | awk '$1 == "LOAD" { last = $3 " + " $6 } END { print last }')
	span=$((span))
	measure 'text of libexecalign.so' "$text" - - bytes "$goal_text_bytes" \
		"$(verdict $text $text "$goal_text_bytes")"
	measure 'libraries that libexecalign.so needs' "$needed" - - '' 0 \
		"$(verdict "$needed" "$needed" 0)"
	private_memory $span 'private memory of LD_PRELOAD' LD_PRELOAD="$shim"
	private_memory $span 'private memory of LD_AUDIT' LD_AUDIT="$shim"
	private_memory $span 'private memory when promoted' LD_PRELOAD="$shim" \
		EXECALIGN_PROMOTE=always
}

# private_memory SPAN-BYTES NAME VAR=VALUE... - of the shim's copies in a small process
private_memory() {
	local span=$1 name=$2 kib

	shift 2
	kib=$(env "$@" "$build/bench/private-memory" "${shim##*/}" "$span")
	measure "$name" "$kib" - - KiB "$goal_private_kib" \
		"$(verdict "$kib" "$kib" "$goal_private_kib")"
}

instructions() {
	local count name value

	say '\nInstructions in user mode\n'
	for name in plain auditor; do
		count=("$(command -v gdb)" --version)
		[ "$name" = plain ] || count=(env LD_AUDIT="$shim" "${count[@]}")
		value=$(perf stat -x, -e instructions:u "${count[@]}" 2>&1 >/dev/null | cut -d, -f1) ||
			value=
		case $value in
		'' | *[!0-9]*) value=unknown ;;
		esac
		measure "gdb --version, $name" "$value" - - '' - -
	done
}

print_json() {
	awk -F '\t' -v machine="$machine" -v kernel="$(uname -r)" -v libc="$libc" -v fs="$fs" '
	function quoted(text) {
		gsub(/[\\"]/, "\\\\&", text)
		return "\"" text "\""
	}
	function value(text) {
		return text == "-" || text == "unknown" || text == "" ? "null" : text
	}
	function word(text) {
		return text == "-" || text == "" ? "null" : quoted(text)
	}
	BEGIN {
		printf "{\"schema\":1,\"machine\":{\"cpu\":%s,\"kernel\":%s,\"libc\":%s,\"usr\":%s},\n",
			quoted(machine), quoted(kernel), quoted(libc), quoted(fs)
		printf "\"timings\":["
	}
	FNR == 1 && FILENAME ~ /measures$/ { printf "\n],\n\"measures\":["; file = 2; count = 0 }
	FILENAME ~ /timings$/ {
		printf "%s\n{\"program\":%s,\"variant\":%s,\"rounds\":%s,\"median_us\":%s," \
			"\"p10_us\":%s,\"p90_us\":%s,\"ratio\":%s,\"ratio_low\":%s,\"ratio_high\":%s," \
			"\"more_us\":%s,\"more_low_us\":%s,\"more_high_us\":%s,\"faults\":%s," \
			"\"goal\":%s,\"verdict\":%s}", count++ ? "," : "", quoted($1), quoted($2), $3, $4,
			$5, $6, $7, $8, $9, $10, $11, $12, $13, value($14), word($15)
	}
	FILENAME ~ /measures$/ {
		printf "%s\n{\"name\":%s,\"value\":%s,\"low\":%s,\"high\":%s,\"unit\":%s,\"goal\":%s," \
			"\"verdict\":%s}", count++ ? "," : "", quoted($1), value($2), value($3),
			value($4), word($5), value($6), word($7)
	}
	END { print "\n]}" }' "$scratch/timings" "$scratch/measures"
}

machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
libc=$(getconf GNU_LIBC_VERSION 2>/dev/null || echo unknown)
fs=$(findmnt -n -o FSTYPE -T /usr)
load=$(cut -d' ' -f1 /proc/loadavg)

say 'Linux %s, %s, %s, /usr on %s, cpu %s, load %s\n' "$(uname -r)" "${machine:-$(uname -m)}" "$libc" \
	"$fs" "$cpu" "$load"
awk -v load="$load" 'BEGIN { exit load <= 0.7 }' &&
	say 'Other programs are running: expect wide intervals.\n'
say 'Processor time from exec to exit, user and system, in runs that alternate between the variants.\n'

size_and_memory
nothing_to_gain true /bin/true
nothing_to_gain 'sh -c :' sh -c :
if "$here/overlay.sh" /usr true; then
	start_ups overlay "$here/overlay.sh"
else
	say '\nOverlay: unknown, as neither root nor a user namespace may mount one here.\n'
fi
start_ups "$fs" ''
plt_calls
shell_commands
instructions
[ -z "$json" ] || print_json
