#!/bin/bash
# SPDX-License-Identifier: MIT
# shell -> env -> python -> subprocess -> perl -> a program with eligible libraries: each sees the
# environment of a plain run plus LD_PRELOAD, in the same order; each decides for itself, and the
# last one's libraries are congruent.
. "$(dirname "$0")/lib.sh"
need perl
misaligning_root

cat >"$TMP/chain.sh" <<'END'
env | sed 's/^/shell: /'
exec env CHAIN=1 /usr/bin/python3 -c '
import os, subprocess, sys
for name, value in os.environ.items():
    print("python: %s=%s" % (name, value))
sys.stdout.flush()
sys.exit(subprocess.run(["perl", "-e", """
	$| = 1;
	print "perl: $_=$ENV{$_}\n" for sort keys %ENV;
	system("env | sed s/^/from-perl:/");
	exec @ARGV;
""", *sys.argv[1:]]).returncode)
' "$@"
END
witness() {
	run_env=(CHAIN=0 "EMPTY=" "GLIBC_TUNABLES=glibc.malloc.tcache_count=5")
	# The environment's length moves the position of the output's descriptor.
	compare_output --filter '/^([a-z-]+: ?|env )LD_(PRELOAD|AUDIT)=/d; s/^(fd 1 .* )position.*/\1/' \
		sh "$TMP/chain.sh" "$@"
}
witness "$FIXTURES/state" env auxv names fds signals limits
grep -q '^env CHAIN=1' "$TMP/plain.out" || fail "the chain is broken: $(cat "$TMP/plain.err")"
[ "$(grep -c "LD_PRELOAD=$SHIM\$" "$TMP/preload.out")" -ge 5 ] || fail "a child lost LD_PRELOAD"
! grep -q 'LD_AUDIT=' "$TMP/preload.out" || fail "a child inherited LD_AUDIT"
witness "$FIXTURES/exit_maps" "$TMP/last.maps" "$FIXTURES/app" call child
"$PLACEMENT" "$TMP/last.maps" --exe "$FIXTURES/app" --quiet --expect-congruent --at-least 2 ||
	fail "the last program's libraries are misplaced"
