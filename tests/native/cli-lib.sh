# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# cli-lib.sh - what the scenarios of the command execalign have in common; sources lib.sh

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

CLI=$BUILD/execalign
[ -x "$CLI" ] || fail "there is no $CLI; build it first (make)"

# cli STATUS ARGUMENT... - run it, with output in $TMP/out and $TMP/err; it must exit with STATUS
cli() {
	local expected=$1 status=0
	shift
	"${cli_prefix[@]}" "$CLI" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null || status=$?
	[ "$status" = "$expected" ] ||
		fail "execalign $*: exit status $status, not $expected: $(head -c 2000 "$TMP/err")"
}
cli_prefix=()

# said FILE TEXT - $TMP/FILE holds this text
said() {
	grep -qF -- "$2" "$TMP/$1" || fail "'$2' is not in $1: $(head -c 2000 "$TMP/$1")"
}

# refuses STATUS THING TEXT ARGUMENT... - exactly one line, "execalign: THING: ...; ...", that holds
# TEXT, and nothing on standard output
refuses() {
	local status=$1 thing=$2 text=$3
	shift 3
	cli "$status" "$@"
	[ "$(wc -l <"$TMP/err")" = 1 ] || fail "execalign $*: not one line: $(cat "$TMP/err")"
	[ ! -s "$TMP/out" ] || fail "execalign $*: something on standard output: $(cat "$TMP/out")"
	said err "execalign: $thing: "
	said err "$text"
	grep -q '; ' "$TMP/err" || fail "execalign $*: no remedy: $(cat "$TMP/err")"
}

# query FILTER - jq's answer to the report in $TMP/out
query() {
	jq -r "$1" "$TMP/out"
}

# expect FILTER VALUE - the answer has to be VALUE
expect() {
	local answer
	answer=$(query "$1") || fail "no JSON: $(head -c 500 "$TMP/out")"
	[ "$answer" = "$2" ] || fail "$1 is $answer, not $2"
}

# consistent - the JSON report in $TMP/out agrees with itself
consistent() {
	jq -e '
		def total(f): if any(.[]; f == null) then null else map(f) | add // 0 end;
		def folios: if . == null then null else map(.text_bytes) | add // 0 end;
		def totals_of(objects):
			.objects == (objects | length) and
			.eligible_objects == (objects | map(select(.eligible)) | length) and
			.congruent_objects == (objects | map(select(.congruent)) | length) and
			.text_bytes == (objects | total(.text_bytes)) and
			.eligible_text_bytes == (objects | map(select(.eligible)) | total(.text_bytes)) and
			.congruent_text_bytes == (objects | map(select(.congruent)) | total(.text_bytes)) and
			.whole_blocks_bytes == (objects | total(.whole_blocks_bytes)) and
			.touched_bytes == (objects | total(.touched_bytes)) and
			.block_mapped_bytes == (objects | total(.block_mapped_bytes));
		def sane:
			.text_bytes == (.texts | total(.text_bytes)) and
			.whole_blocks_bytes == (.texts | total(.whole_blocks_bytes)) and
			.whole_blocks_bytes <= .text_bytes and
			(.touched_bytes == null or .touched_bytes <= .whole_blocks_bytes) and
			(.touched_bytes == null or .block_mapped_bytes == null or
				.block_mapped_bytes <= .touched_bytes) and
			(.folios == null or (.folios | folios) == .present_bytes) and
			.eligible == (.block_bytes != null) and
			.eligible == (.whole_blocks_bytes > 0) and
			(.congruent == null) == (.eligible | not) and
			(.congruent != true or .distance_bytes == 0) and
			(.congruent != false or (.distance_bytes > 0 and .reason != null)) and
			(.eligible or .reason != null) and
			(.block_bytes == null or .whole_blocks_bytes % .block_bytes == 0);
		.schema == "execalign-report-1" and
		(.processes | all(.objects | all(sane))) and
		(.processes | all(.objects as $objects | .totals | totals_of($objects))) and
		([.processes[].objects[]] as $objects | .totals | totals_of($objects))
	' "$TMP/out" >/dev/null || fail "the report contradicts itself: $(head -c 3000 "$TMP/out")"
}

# start_map ARGUMENT... - start cli_map, leaving its PID in $map_pid and the address in $map_address
start_map() {
	exec {map_hold}> >(exec "$FIXTURES/cli_map" "$@" >"$TMP/address" 2>"$TMP/map.err")
	map_pid=$!
	map_address=
	for _ in $(seq 100); do
		map_address=$(cat "$TMP/address")
		[ -z "$map_address" ] || return 0
		sleep 0.05
	done
	fail "cli_map $*: $(cat "$TMP/map.err")"
}

# end_map - let it end
end_map() {
	exec {map_hold}>&-
	while kill -0 "$map_pid" 2>/dev/null; do sleep 0.01; done
	: >"$TMP/address"
}

# smaps_sum FIELD - of all mappings of the file at $map_address, in bytes
smaps_sum() {
	awk -v field="$1:" -v address="${map_address#0x}" '
		/^[0-9a-f]+-[0-9a-f]+ / { split($1, range, "-"); inode[++n] = $5; start[n] = range[1]; exec[n] = $2 ~ /x/ }
		$1 == field { value[n] = $2 }
		END {
			for (i = 1; i <= n; i++) if (start[i] == address) wanted = inode[i]
			for (i = 1; i <= n; i++) if (inode[i] == wanted && exec[i]) sum += value[i]
			printf "%d\n", sum * 1024
		}' "/proc/$map_pid/smaps"
}
