#!/bin/bash
# SPDX-License-Identifier: MIT
# With the patched loader the shim stands aside, preloaded and as auditor, and says why; the libraries
# are congruent all the same, by the loader. With glibc.elf.exec_align=0 the shim works as ever. Under
# stock glibc of the same version nothing of this. doctor tells the two apart.
# timeout: 5400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/glibc.sh"
glibc_loaders
need jq
misaligning_root
CLI=$BUILD/execalign
[ -x "$CLI" ] || fail "there is no $CLI; build it first (make)"

sed '1i #define LIBRARIES X(text5m) X(text10m) X(l_lld)' "$EA_TOP/tests/loader/libraries.c" \
	>"$TMP/libraries.c"
glibc_program "$patched" "$TMP/patched" "$TMP/libraries.c" text5m text10m l_lld
glibc_program "$stock" "$TMP/stock" "$TMP/libraries.c" text5m text10m l_lld
later=$FIXTURES/libtext6m.so
reason='reason="the loader places text by itself"'

# logged MODE COMMAND... - with a log of its own
logged() {
	: >"$TMP/log"
	run_env=("EXECALIGN_LOG=$TMP/log" "${settings[@]}")
	run "$@"
	works "$1"
}

aside() {
	logged preload "$TMP/patched" "$later"
	congruent preload --at-least 4
	# One process, which declines: a second start would have left lines of its own.
	[ "$(grep -c . "$TMP/log")" = 1 ] || fail "preload: $(cat "$TMP/log")"
	grep -q "event=promotion result=declined $reason" "$TMP/log" || fail "preload: $(cat "$TMP/log")"
	logged audit "$TMP/patched" "$later"
	congruent audit --at-least 4
	[ "$(grep -c . "$TMP/log")" = 1 ] || fail "audit: $(cat "$TMP/log")"
	grep -q "event=auditor result=inactive $reason" "$TMP/log" || fail "audit: $(cat "$TMP/log")"
}

# at_work PROGRAM
at_work() {
	logged preload "$1" "$later"
	congruent preload --at-least 4
	grep -q 'event=promotion result=done' "$TMP/log" || fail "$1: preload: $(cat "$TMP/log")"
	! grep -q "$reason" "$TMP/log" || fail "$1: preload: $(cat "$TMP/log")"
	logged audit "$1" "$later"
	congruent audit --at-least 4
	[ "$(grep -c 'event=library.*result=congruent' "$TMP/log")" = 4 ] || fail "$1: audit: $(cat "$TMP/log")"
}

settings=()
aside
settings=(GLIBC_TUNABLES=glibc.elf.exec_align=1)
aside
settings=()
at_work "$TMP/stock"
settings=(GLIBC_TUNABLES=glibc.elf.exec_align=0)
# Without the shim they are misplaced then, but for luck.
plain_command=("$TMP/patched" "$later")
run_env=("${settings[@]}")
run plain "${plain_command[@]}"
misplaced_without
at_work "$TMP/patched"

# Started by the loader there is no AT_BASE to look at: both are at work, and do not get in each
# other's way.
settings=()
logged audit "$patched/$rtld" "$TMP/patched" "$later"
congruent audit --at-least 4

# As `execalign run` starts it.
"$CLI" run --log "$TMP/run.log" -- "$TMP/patched" "$later" >"$TMP/run.out" 2>"$TMP/run.err" ||
	fail "run: exit status $?: $(cat "$TMP/run.err")"
[ ! -s "$TMP/run.err" ] || fail "run: $(cat "$TMP/run.err")"
grep -q "$reason" "$TMP/run.log" || fail "run: $(cat "$TMP/run.log")"

# asks PROGRAM LOADER - what doctor says of that program's loader
asks() {
	"$CLI" doctor --json "$1" | jq -r --arg loader "$2" '.checks[] |
		select(.name == "loader" and .subject == $loader) |
		"\(.status) \(.values.places_text) \(.values.rule_version) \(.values.on_by_default)"'
}
is() {
	[ "$1" = "$2" ] || fail "doctor, $3: '$1', not '$2'"
}
is "$(asks "$TMP/patched" "$patched/$rtld")" 'ok true 1 true' patched
is "$(asks "$TMP/stock" "$stock/$rtld")" 'limits false null null' stock
export GLIBC_TUNABLES=glibc.elf.exec_align=0
is "$(asks "$TMP/patched" "$patched/$rtld")" 'limits false 1 true' 'patched, off'
unset GLIBC_TUNABLES
headline "preload and audit stand aside; at work with glibc.elf.exec_align=0 and under stock glibc"
