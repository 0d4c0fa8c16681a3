#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign doctor recognises the patched loader by its note, with the default that it was built with and
# LD_EXEC_ALIGN, and not stock musl. report names the switch, not the shim, where it is off. What a
# program maps itself the shim places as ever.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
musl_loaders
need jq readelf
misaligning_root
CLI=$BUILD/execalign
[ -x "$CLI" ] || fail "there is no $CLI; build it first (make)"

# ask PATH FILTER - of what doctor says of that program's loader
ask() {
	"$CLI" doctor --json "$1" | jq -r --arg loader "$3" \
		'.checks[] | select(.name == "loader" and .subject == $loader) | '"$2"
}
is() {
	[ "$1" = "$2" ] || fail "$3: '$1', not '$2'"
}

sed '1i #define LIBRARIES X(text5m)' "$EA_TOP/tests/loader/libraries.c" >"$TMP/libraries.c"
words='"\(.status) \(.values.places_text) \(.values.rule_version) \(.values.on_by_default)"'
musl_program "$patched" "$TMP/patched" "$TMP/libraries.c" text5m
musl_program "$stock" "$TMP/stock" "$TMP/libraries.c" text5m
is "$(ask "$TMP/patched" "$words" "$patched")" 'ok true 1 true' patched
is "$(LD_EXEC_ALIGN=0 ask "$TMP/patched" "$words" "$patched")" 'limits false 1 true' LD_EXEC_ALIGN=0
is "$(ask "$TMP/stock" "$words" "$stock")" 'limits false null null' stock
text=$("$CLI" doctor "$TMP/patched")
grep -q "^ok  *loader .*$patched: places text by itself" <<<"$text" || fail "for people: $text"
"$CLI" doctor "$TMP/stock" | grep "$stock: does not place text by itself" >/dev/null || fail "stock, for people"

MUSL_CONFIGURE=--disable-exec-align loader_part musl "$EXECALIGN_MUSL" x86_64
off=$part/lib/ld-musl-x86_64.so.1
musl_program "$off" "$TMP/off" "$TMP/libraries.c" text5m
is "$(ask "$TMP/off" "$words" "$off")" 'limits false 1 false' --disable-exec-align
is "$(ask "$TMP/off" .remedy "$off")" 'set LD_EXEC_ALIGN=1' '--disable-exec-align, remedy'
is "$(LD_EXEC_ALIGN=1 ask "$TMP/off" "$words" "$off")" 'ok true 1 false' '--disable-exec-align and 1'

# Debian's strip leaves the note.
cp "$patched" "$TMP/ld-musl-stripped.so.1"
strip "$TMP/ld-musl-stripped.so.1"
is "$("$CLI" doctor --json "$TMP/ld-musl-stripped.so.1" | jq -r --arg loader "$TMP/ld-musl-stripped.so.1" \
	'.checks[] | select(.subject == $loader and .name == "loader") | .status')" ok stripped

# reported LOADER-PROGRAM [VARIABLE] - why the library is misplaced; one in 512 is not
reported() {
	local program=$1
	shift
	for _ in 1 2 3; do
		env "$@" "$CLI" report --json -- "$program" >"$TMP/report" 2>"$TMP/report.err" ||
			fail "report: $(cat "$TMP/report.err")"
		reason=$(jq -r '.processes[0].objects[] | select(.path | endswith("/libtext5m.so")) |
			if .congruent then "congruent" else .reason.text end' "$TMP/report")
		[ "$reason" = congruent ] || break
	done
}
reported "$TMP/patched" A=1
is "$reason" congruent "report, patched"
reported "$TMP/patched" LD_EXEC_ALIGN=0
[[ $reason == *"its loader would place it with LD_EXEC_ALIGN=1"* ]] || fail "report, off: $reason"
reported "$TMP/off" A=1
[[ $reason == *"its loader would place it with LD_EXEC_ALIGN=1"* ]] || fail "report, off by default: $reason"
reported "$TMP/stock" A=1
[[ $reason == *'it takes a patched loader' ]] || fail "report, stock: $reason"

# The shim beside the loader: the library by the loader, what the program maps itself by the shim.
musl_program "$patched" "$TMP/mapper" "$EA_TOP/tests/fixtures/mmap_exec.c" text5m
run plain "$TMP/mapper" "$FIXTURES/libtext10m.so" "$TMP/witness.plain"
works plain
congruent plain --only libtext5m.so --at-least 1
grep -q misplaced "$TMP/witness.plain" || fail "plain, nothing is misplaced: $(cat "$TMP/witness.plain")"
run preload "$TMP/mapper" "$FIXTURES/libtext10m.so" "$TMP/witness.preload"
same preload
congruent preload --only libtext5m.so --at-least 1
[ "$(grep -c congruent "$TMP/witness.preload")" = 5 ] || fail "preload: $(cat "$TMP/witness.preload")"
