#!/bin/bash
# SPDX-License-Identifier: MIT
# A promoted program sees what it would see plain: its environment in order (odd entries included),
# the auxiliary vector behind it (Go's runtime walks there), comm, argv, AT_EXECFN, and no trace of
# the variables that promotion used, also in /proc/PID/environ. Whatever its name and size.
. "$(dirname "$0")/lib.sh"
misaligning_root

filter='/^env LD_(PRELOAD|AUDIT)=/d; s/^(fd 1 .* )position.*/\1/'
state=("$FIXTURES/state" env auxv names fds signals limits)

# Every start is by this: the environment as a list, with entries that shells would not pass on.
cat >"$TMP/start.py" <<'END'
import ctypes, os, sys
mode, shim, count, argv = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
environ = [b"A=1", b"no-equals-sign", b"A=2", b"=empty-name", b"B=", b"LD_LIBRARY_PATH="]
environ += [b"Z=" + b"z" * 3000] + [b"N%d=%s" % (i, b"x" * 90) for i in range(count)]
if "TRACER_IS_SEEN" in os.environ:
    environ.append(b"EXECALIGN_PROMOTE=always")
if mode == "preload":
    environ.insert(3, b"LD_PRELOAD=" + os.fsencode(shim))
elif mode == "audit":
    environ.insert(3, b"LD_AUDIT=" + os.fsencode(shim))
libc = ctypes.CDLL(None, use_errno=True)
def array(strings):
    return (ctypes.c_char_p * (len(strings) + 1))(*strings, None)
libc.execve(os.fsencode(argv[0]), array([os.fsencode(word) for word in argv[1:]]), array(environ))
sys.exit("execve: %s" % os.strerror(ctypes.get_errno()))
END
start() {
	local mode
	run_env=()
	for mode in plain audit preload; do
		status=0
		"$FIXTURES/exit_maps" "$TMP/$mode.maps" /usr/bin/python3 "$TMP/start.py" "$mode" "$SHIM" "$@" \
			>"$TMP/$mode.out" 2>"$TMP/$mode.err" </dev/null || status=$?
		echo "$status" >"$TMP/$mode.status"
		[ "$mode" = plain ] || same "$mode" sed -E "$filter"
	done
}
start 0 "$FIXTURES/state" "${state[@]}"
grep -q '^auxv: [12]' "$TMP/plain.out" || fail "the fixture did not run: $(cat "$TMP/plain.err")"
congruent preload
for name in "" "-weird name" "$(printf 'a\nb')" "$(printf 'x%.0s' {1..3000})"; do
	start 0 "$FIXTURES/state" "$name" env auxv names
	congruent preload
done
start 1000 "$FIXTURES/state" "${state[@]}"
congruent preload
# No argument at all: newer kernels make argv[0] an empty string.
start 0 "$FIXTURES/state"
congruent preload

# Started by a path with links, by a relative path, through PATH.
ln -s "$FIXTURES/state" "$TMP/other-name"
run_env=("LD_LIBRARY_PATH=$FIXTURES")
compare_output --filter "$filter" "$TMP/other-name" env auxv names
congruent preload
run_prefix=(env -C "$FIXTURES")
run_env=()
compare_output --filter "$filter" ./state env auxv names
congruent preload
run_prefix=()
run_env=("PATH=$FIXTURES:$PATH")
compare_output --filter "$filter" state env auxv names
congruent preload

run_env=()
run plain "$FIXTURES/state" visible
run preload "$FIXTURES/state" visible
same preload

# So many arguments that what promotion adds no longer fits (2 MiB with the usual stack limit): it
# must go on without.
cat >"$TMP/long.sh" <<'END'
word=$(printf '%131000s' | tr ' ' x)
rest=$(printf "%$3s" | tr ' ' x)
exec env -i LD_PRELOAD="$1" EXECALIGN_PROMOTE="$2" "$4" "$rest" "$rest" \
	$word $word $word $word $word $word $word $word $word $word $word $word $word $word $word
END
start_size() {
	sh "$TMP/long.sh" "$SHIM" "$1" "$2" "$FIXTURES/state" >"$TMP/size.out" 2>&1
}
ulimit -S -s 8192 || skip "the stack limit cannot be set to 8 MiB"
low=1000 high=131000
start_size never "$low" ||
	fail "the program does not start with 2 MB of arguments: $(head -c 300 "$TMP/size.out")"
! start_size never "$high" || fail "the program starts with more arguments than the kernel takes"
while [ $((high - low)) -gt 1 ]; do
	middle=$(((low + high) / 2))
	if start_size never "$middle"; then low=$middle; else high=$middle; fi
done
for less in 0 8 50 75 100 150 200 300 1000; do
	start_size auto $((low - less)) ||
		fail "dies with arguments $((2 * less)) bytes below the limit: $(head -c 300 "$TMP/size.out")"
	grep -qx 'state 2' "$TMP/size.out" ||
		fail "wrong output near the limit of arguments: $(head -c 300 "$TMP/size.out")"
done
