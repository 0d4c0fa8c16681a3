#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh BUILD - clang compiles a small file, plain and under execalign: what became of its text?
#
# clang's code is in shared libraries with about 170 MiB of text. Both runs begin with these files
# out of the page cache, and from a place where the kernel does not align mappings by itself: an
# overlay of /usr as in a container, or a copy in a tmpfs where nobody may mount an overlay.
# Exit: 0 shown, 2 could not.
set -eu

fail() {
	echo "run: $*" >&2
	exit 2
}

[ -x "${1-}/execalign" ] || fail "${1-no directory}: nothing is built there; use 'make run'"
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
execalign=$build/execalign
rounds=40

# The first call finds a place to run clang from, and calls this script again inside it.
if [ -z "${2-}" ]; then
	unset LD_PRELOAD LD_AUDIT GLIBC_TUNABLES "${!EXECALIGN@}"
	command -v clang++ >/dev/null || fail "clang is missing; on Debian: apt-get install clang"
	if [ "$(stat -f -c %T /usr)" = overlayfs ]; then
		exec "$0" "$build" 'the overlay that /usr is on'
	elif "$here/../../bench/overlay.sh" /usr true; then
		exec "$here/../../bench/overlay.sh" /usr "$0" "$build" 'an overlay of /usr'
	fi
	exec "$0" "$build" tmpfs
fi
place=$2

scratch=$(mktemp -d)
trap 'rm -rf "$scratch" ${copy:+"$copy"}' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP PIPE

clang=$(readlink -f "$(command -v clang++)")
mapfile -t libraries < <(ldd "$clang" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }')

# A copy has clang's own compilation headers where they were, and its libraries beside it.
if [ "$place" = tmpfs ]; then
	place='a copy in a tmpfs, as nobody may mount an overlay here'
	cache='a tmpfs is memory, so nothing is read from a disk and large folios are rare'
	set -- -resource-dir "$("$clang" -print-resource-dir)"
	copy=$(mktemp -d /dev/shm/execalign-run.XXXXXX) || fail "cannot write to /dev/shm"
	cp -L "${libraries[@]}" "$clang" "$copy" || fail "no room for clang's libraries in /dev/shm"
	clang=$copy/${clang##*/}
	libraries=("${libraries[@]/#*\//$copy/}")
	export LD_LIBRARY_PATH=$copy
else
	cache='nothing of its libraries is cached at first'
	set --
fi
[ ${#libraries[@]} -gt 0 ] || fail "$clang is linked statically here; there is nothing to show"
compile=("$clang" --driver-mode=g++ "$@" -std=c++17 -O2 -c -o "$scratch/words.o" "$here/words.cc")

# evict - drop the large libraries from the page cache; prints "LEFT TOTAL" in KiB. Another clang
# that runs at this moment keeps them there: it may be gone a little later.
evict() {
	local result seconds

	[ -z "${copy-}" ] || return 0
	for seconds in 1 1 1 1 0; do
		result=$(find -L "${libraries[@]}" -size +4096k -exec "$build/bench/evict" {} +)
		case ${result%% *} in
		unknown | ? | ?? | ???) break ;;
		esac
		sleep "$seconds"
	done
	echo "$result"
}

# report NAME [OPTION]... - compile with a cold cache and keep the report on it
report() {
	local name=$1

	shift
	evict >"$scratch/$name.evicted"
	"$execalign" report --json --output "$scratch/$name.json" "$@" -- "${compile[@]}" ||
		fail "no report on clang ($name)"
	[ "$(jq .command.exit_status "$scratch/$name.json")" = 0 ] || fail "clang failed ($name)"
}

# The two reports, joined by file: path, text, and for each run: congruent, distance, touched, mapped.
join_reports() {
	jq -rn --slurpfile plain "$scratch/plain.json" --slurpfile shim "$scratch/shim.json" '
		def facts: [.congruent, .distance_bytes, .touched_bytes, .block_mapped_bytes];
		($plain[0].processes[0].objects | map({key: .path, value: .}) | from_entries) as $before |
		$shim[0].processes[0].objects | map(select(.eligible and $before[.path])) |
		sort_by(-.text_bytes)[] |
		["library", (.path | sub(".*/"; "")), .text_bytes] + ($before[.path] | facts) + facts |
		map(. // (if . == false then "false" else "unknown" end)) | @tsv'
	jq -rn --slurpfile plain "$scratch/plain.json" --slurpfile shim "$scratch/shim.json" '
		def facts: [.congruent_objects, .eligible_objects, .touched_bytes, .block_mapped_bytes];
		["total", "all", $shim[0].totals.eligible_text_bytes] +
		($plain[0].totals | facts) + ($shim[0].totals | facts) | map(. // "unknown") | @tsv'
	jq -r '.processes[0].objects[] | select(.eligible and .reason) |
		["reason", (.path | sub(".*/"; "")), .reason.text] | @tsv' "$scratch/shim.json"
}

# Start-up with a warm cache: median, 10th and 90th percentile of each, and the ratio.
time_start_up() {
	"$build/bench/interleave" -n "$rounds" \
		+ plain "$clang" --version \
		+ execalign "$execalign" run -- "$clang" --version >"$scratch/times" ||
		fail "cannot time clang"
	awk -F '\t' -v OFS='\t' '
	NR == 2 { plain = $3; range = $4 OFS $5 }
	NR == 3 { print "time", plain, range, $3, $4, $5, $3 / plain }' "$scratch/times"
}

print_table() {
	awk -F '\t' -v rounds="$rounds" '
	function size(bytes) {
		if (bytes == "unknown")
			return bytes
		return bytes < 1048576 ? sprintf("%d KiB", bytes / 1024) : \
			sprintf("%.1f MiB", bytes / 1048576)
	}
	function placed(congruent, distance) {
		return congruent == "true" ? "congruent" : size(distance) " off"
	}
	function large(touched, mapped) {
		if (touched == "unknown" || mapped == "unknown")
			return "unknown"
		return sprintf("%s of %s", size(mapped), size(touched)) \
			(touched ? sprintf(" (%d%%)", 100 * mapped / touched) : "")
	}
	function row(name, text, a, b, c, d) {
		printf "  %-19s %10s   %-12s %-27s %-12s %s\n", name, text, a, b, c, d
	}
	function timing(median, p10, p90) {
		return sprintf("%.1f ms (%.1f - %.1f)", median / 1e3, p10 / 1e3, p90 / 1e3)
	}
	BEGIN {
		row("", "", "plain", "", "execalign")
		row("library", "text", "placed", "large entries, of touched", "placed",
			"large entries, of touched")
	}
	$1 == "library" {
		row($2, size($3), placed($4, $5), large($6, $7), placed($8, $9), large($10, $11))
	}
	$1 == "total" {
		row($2, size($3), $4 " of " $5, large($6, $7), $8 " of " $9, large($10, $11))
		aligned_before = $4 == $5
		aligned_after = $8 == $9
		libraries = $9
		before = large($6, $7)
		after = large($10, $11)
	}
	$1 == "time" {
		row("start-up", "", "", timing($2, $3, $4), "",
			timing($5, $6, $7) sprintf(", %+.0f%%", ($8 - 1) * 100))
	}
	$1 == "reason" { reasons = reasons sprintf("  %s: %s\n", $2, $3) }
	END {
		printf "\ntouched: text in whole blocks that clang executed or the kernel mapped along with it\n" \
			"start-up: clang --version, warm cache, median (10th - 90th percentile) of %d " \
			"alternating runs\n", rounds
		if (reasons != "")
			printf "\nNot large under execalign, and why:\n%s", reasons
		if (aligned_before)
			printf "\nNothing is misplaced here by default, so there was nothing to place. "
		else
			printf "\nexecalign placed %s %d large libraries on block boundaries. ",
				aligned_after ? "all" : "not all of the", libraries
		printf "In large entries: %s before,\n%s after.\n", before, after
	}'
}

print_left() {
	local left total

	read -r left total <"$scratch/$1.evicted" || return 0
	case $left in
	unknown)
		echo "It cannot be seen whether the page cache was cold: that needs root."
		;;
	*)
		[ "$left" -lt 1024 ] ||
			echo "$((left / 1024)) of $((total / 1024)) MiB stayed cached before the run" \
				"'$1': other programs have these files mapped; their folios stay."
		;;
	esac
}

echo "clang compiles words.cc from $place; $cache."
echo "$(uname -sr), $(uname -m), $("$clang" --version | head -n 1)"
report plain --plain
report shim
print_left plain
print_left shim
echo
{
	join_reports
	time_start_up
} | print_table
