#!/bin/bash
# SPDX-License-Identifier: MIT
# gdb debugs a program whose libraries the shim has placed: it stops at a function of each, start-up
# and dlopened, and names the frames; attached to a running one it finds the symbols as well.
. "$(dirname "$0")/lib.sh"
need gdb
misaligning_root

debug() {
	gdb -nx -nh -batch -iex 'set debuginfod enabled off' -ex 'set startup-with-shell off' \
		-ex 'set disable-randomization off' -ex 'set breakpoint pending on' "$@" \
		-ex 'break text10m_last' -ex 'break text6m_last' -ex run -ex bt -ex 'info symbol $pc' \
		-ex 'info proc mappings' -ex continue -ex bt -ex continue \
		--args "$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" >"$TMP/gdb.out" 2>&1 </dev/null || :
}
check() {
	local said=$1
	! grep -qi 'ptrace: Operation not permitted' "$TMP/gdb.out" || skip "gdb cannot trace here"
	grep -Eq '^#0 .*text10m_last \(\)' "$TMP/gdb.out" ||
		fail "$said: no stop in libtext10m.so: $(cat "$TMP/gdb.out")"
	grep -Eq '^#0 .*text6m_last \(\)' "$TMP/gdb.out" ||
		fail "$said: no stop in libtext6m.so: $(cat "$TMP/gdb.out")"
	[ "$(grep -Ec '^#[1-4] .*main \(' "$TMP/gdb.out")" -ge 2 ] ||
		fail "$said: main is not in the backtraces"
	grep -q 'text10m_last in section .text of' "$TMP/gdb.out" ||
		fail "$said: the address has no symbol"
	grep -q 'exited normally' "$TMP/gdb.out" ||
		fail "$said: the program did not end well: $(cat "$TMP/gdb.out")"
}
debug
check plain
debug -ex "set environment LD_AUDIT=$SHIM"
check audit
# A traced process does not promote itself unless it is told to; gdb follows it then.
debug -ex "set environment LD_PRELOAD=$SHIM"
check preload
debug -ex "set environment LD_PRELOAD=$SHIM" -ex 'set environment EXECALIGN_PROMOTE=always'
check promoted
# gdb itself under the shim, too: the debugged program inherits it.
export LD_PRELOAD=$SHIM
debug
unset LD_PRELOAD
check "gdb preloaded"

for variable in NOTHING= "LD_AUDIT=$SHIM" "LD_PRELOAD=$SHIM"; do
	env "$variable" "$FIXTURES/app" spin:100000000000 &
	pid=$!
	# Until it has computed for a fifth of a second, so is where it stays.
	for _ in {1..100}; do
		[ "$(awk '{ print $14 }' "/proc/$pid/stat")" -lt 20 ] || break
		sleep 0.1
	done
	gdb -nx -nh -batch -iex 'set debuginfod enabled off' -p "$pid" -ex bt \
		>"$TMP/gdb.out" 2>&1 </dev/null || :
	[ "$variable" = NOTHING= ] || "$PLACEMENT" "$pid" --quiet --expect-congruent >/dev/null || {
		kill "$pid"
		fail "$variable: misplaced"
	}
	kill "$pid"
	wait "$pid" 2>/dev/null || :
	grep -Eq '^#0 .*text10m_spin \(\)' "$TMP/gdb.out" ||
		fail "attached, $variable: $(cat "$TMP/gdb.out")"
	grep -Eq '^#[1-4] .*main \(' "$TMP/gdb.out" ||
		fail "attached, $variable: main is not in the backtrace"
done
