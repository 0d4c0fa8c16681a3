#!/bin/bash
# SPDX-License-Identifier: MIT
# With a loader that says that it places text by itself, the shim stands aside: no second start, an
# auditor that does nothing, and the reason in the log. With glibc.elf.exec_align=0, and with a note
# that is not right, it works as ever. (This loader only says so: tests/loader/ has real ones.)
. "$(dirname "$0")/lib.sh"
need gcc
misaligning_root

stock=$(realpath /lib64/ld-linux-x86-64.so.2 2>/dev/null || realpath /lib/ld-linux-aarch64.so.1)
reason='reason="the loader places text by itself"'

# use VERSION DEFAULT - from here on $TMP/program has a loader with such a note
use() {
	"$EA_TOP/tests/native/marked_loader.py" "$stock" "$TMP/ld.so" "$@" || fail "no loader with a note"
}
sed '1i #define LIBRARIES X(text5m) X(text10m)' "$EA_TOP/tests/loader/libraries.c" >"$TMP/libraries.c"
gcc -O1 -o "$TMP/program" "$TMP/libraries.c" -L"$FIXTURES" -ltext5m -ltext10m \
	-Wl,-rpath,"$FIXTURES" -Wl,-dynamic-linker,"$TMP/ld.so" || fail "gcc cannot build the program"
program=("$TMP/program" "$FIXTURES/libtext6m.so")

# logged MODE - run it so, with a log of its own
logged() {
	: >"$TMP/log"
	run_env=("EXECALIGN_LOG=$TMP/log" "${settings[@]}")
	run "$1" "${program[@]}"
	same "$1"
}

# aside - neither copy does anything, and both say why
aside() {
	logged audit
	grep -q "event=auditor result=inactive $reason" "$TMP/log" || fail "$1: audit: $(cat "$TMP/log")"
	logged preload
	grep -q "event=promotion result=declined $reason" "$TMP/log" ||
		fail "$1: preload: $(cat "$TMP/log")"
	! grep -q event=library "$TMP/log" || fail "$1: preload: $(cat "$TMP/log")"
}

at_work() {
	local mode
	for mode in audit preload; do
		logged "$mode"
		! grep -q "$reason" "$TMP/log" || fail "$1: $mode: $(cat "$TMP/log")"
		congruent "$mode" --at-least 3
	done
	grep -q 'event=promotion result=done' "$TMP/log" || fail "$1: not promoted: $(cat "$TMP/log")"
}

settings=()
use 1 1
run_plain "${program[@]}"
misplaced_without
aside "the note"
settings=(EXECALIGN_PROMOTE=always)
aside EXECALIGN_PROMOTE=always
settings=(GLIBC_TUNABLES=glibc.elf.exec_align=2097152)
aside "a block"
settings=(GLIBC_TUNABLES=glibc.elf.exec_align=0)
at_work "switched off"
settings=(GLIBC_TUNABLES=glibc.malloc.check=0:glibc.elf.exec_align=0)
at_work "switched off behind another tunable"

settings=()
use 2 1
aside "a newer version"
use 1 0
at_work "off by default"
settings=(GLIBC_TUNABLES=glibc.elf.exec_align=1)
aside "switched on"
settings=()
use 0 1
at_work "version 0"

# `execalign run` starts it under the auditor at once, which then has nothing to do.
use 1 1
run plain "${program[@]}"
[ -x "$BUILD/execalign" ] || fail "there is no $BUILD/execalign; build it first (make)"
"$BUILD/execalign" run --log "$TMP/run.log" -- "${program[@]}" >"$TMP/run.out" 2>"$TMP/run.err" ||
	fail "run: exit status $?: $(cat "$TMP/run.err")"
cmp "$TMP/plain.out" "$TMP/run.out" || fail "run: another output"
[ ! -s "$TMP/run.err" ] || fail "run: $(cat "$TMP/run.err")"
grep -q "$reason" "$TMP/run.log" || fail "run: $(cat "$TMP/run.log")"
! grep -q event=library "$TMP/run.log" || fail "run: $(cat "$TMP/run.log")"
