#!/bin/bash
# SPDX-License-Identifier: MIT
# EXECALIGN_LOG: one line per library with what happened, appended to a file or to stderr; it agrees
# with the maps; names with quotes, spaces and newlines stay on one line; a log that cannot be
# written changes nothing. Reasons are there for everything that is not congruent.
. "$(dirname "$0")/lib.sh"
misaligning_root

app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" "open:$FIXTURES/libtext300k.so")
plain_command=("${app[@]}")
run plain "${app[@]}"
misplaced_without
line='^execalign pid=[0-9]+ event=(library|promotion|mapping|[a-z]+) ([a-z_]+=("[^"]*"|[^" ]+) ?)+$'
for mode in audit preload; do
	: >"$TMP/log"
	run_env=("EXECALIGN_LOG=$TMP/log")
	run "$mode" "${app[@]}"
	same "$mode"
	! grep -vE "$line" "$TMP/log" || fail "$mode: a line of the log is malformed"
	for library in text5m text10m text6m; do
		wanted="event=library path=\"$FIXTURES/lib$library.so\".* result=congruent .*how="
		[ "$(grep -c "$wanted" "$TMP/log")" = 1 ] ||
			fail "$mode: not one line for lib$library.so: $(cat "$TMP/log")"
	done
	grep -q "libtext300k.so.* result=ineligible .*reason=\"[^\"]" "$TMP/log" ||
		fail "$mode: $(cat "$TMP/log")"
	congruent "$mode"
	# Appended, not truncated.
	lines=$(wc -l <"$TMP/log")
	run "$mode" "${app[@]}"
	[ "$(wc -l <"$TMP/log")" = $((2 * lines)) ] || fail "$mode: the log was not appended to"

	run_env=(EXECALIGN_LOG=stderr)
	run "$mode" "${app[@]}"
	grep -q '^execalign pid=.*event=library.*result=congruent' "$TMP/$mode.err" ||
		fail "$mode: nothing on stderr"
	for file in /nonexistent/log /proc/version / "$TMP/plain.out/x" /dev/full; do
		run_env=("EXECALIGN_LOG=$file")
		run "$mode" "${app[@]}"
		cmp -s "$TMP/plain.out" "$TMP/$mode.out" || fail "$mode: EXECALIGN_LOG=$file: the output differs"
		[ "$(cat "$TMP/$mode.status")" = 0 ] || fail "$mode: EXECALIGN_LOG=$file: status"
		[ "$(wc -l <"$TMP/$mode.err")" -le 1 ] ||
			fail "$mode: EXECALIGN_LOG=$file: $(cat "$TMP/$mode.err")"
		congruent "$mode" >/dev/null
	done
done
grep -q 'event=promotion result=done' "$TMP/log" || fail "the log does not tell of the promotion"

odd=$TMP/$(printf 'a "quoted"\nname\\with \001 and \t')
mkdir "$odd"
cp "$FIXTURES/libtext300k.so" "$odd/"
: >"$TMP/log"
run_env=("EXECALIGN_LOG=$TMP/log")
run plain "$FIXTURES/app" "open:$odd/libtext300k.so"
run audit "$FIXTURES/app" "open:$odd/libtext300k.so"
same audit
grep -qF '/a \x22quoted\x22\x0aname\x5cwith \x01 and \x09/libtext300k.so"' "$TMP/log" ||
	fail "odd name: $(cat "$TMP/log")"
! grep -vE "$line" "$TMP/log" || fail "an odd name makes a malformed line"
# A FIFO that nobody reads must not stop the program.
mkfifo "$TMP/fifo"
run_env=("EXECALIGN_LOG=$TMP/fifo")
run_prefix=(timeout 20)
run_keeps_maps=
run plain "${app[@]}"
for mode in audit preload; do
	run "$mode" "${app[@]}"
	cmp -s "$TMP/plain.out" "$TMP/$mode.out" || fail "$mode: a FIFO as log stops the program"
done
