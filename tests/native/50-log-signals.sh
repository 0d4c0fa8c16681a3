#!/bin/bash
# SPDX-License-Identifier: MIT
# What the shim says cannot be written: standard error is a pipe that nobody reads (SIGPIPE), or the
# log file must not grow (SIGXFSZ). The program runs as without it, with the same signals blocked
# and pending; a signal that was blocked and pending before stays so.
. "$(dirname "$0")/lib.sh"
misaligning_root

# A writing end whose reader is gone.
mkfifo "$TMP/fifo"
exec 8<>"$TMP/fifo"
exec 9>"$TMP/fifo" 8<&-
run_keeps_maps=
default=(env --default-signal=PIPE --default-signal=XFSZ)
app=("$FIXTURES/state" signals fds)

run_prefix=("${default[@]}" sh -c 'exec "$@" 2>&9 9>&-' sh)
run plain sh -c 'echo somebody reads >&2'
[ "$(cat "$TMP/plain.status")" != 0 ] || fail "standard error can be written"
for setting in EXECALIGN_BLOCK=3M EXECALIGN_LOG=stderr "EXECALIGN_LOG=$TMP/missing/log"; do
	run_env=("$setting")
	compare_output "${app[@]}"
	# shellcheck disable=SC2016 # for perl
	compare_output perl -e 'use POSIX; $s = POSIX::SigSet->new(SIGPIPE); sigprocmask(SIG_BLOCK, $s);
		kill PIPE => $$; exec @ARGV' "${app[@]}"
	grep -q 'signal 13 blocked 1 pending 1' "$TMP/plain.out" || fail "SIGPIPE is not pending"
done

# Standard output is a pipe here: it could not be written either.
run_prefix=("${default[@]}" bash -c '(ulimit -f 0; exec "$@" 2>&1) | cat
	exit ${PIPESTATUS[0]}' bash)
run plain sh -c 'exec >"$0/too-large"; exec head -c 100000 /dev/zero' "$TMP"
[ "$(cat "$TMP/plain.status")" = 153 ] || fail "files may grow: status $(cat "$TMP/plain.status")"
for file in "$TMP/log" /dev/full; do
	run_env=("EXECALIGN_LOG=$file")
	compare_output "${app[@]}"
done
[ -e "$TMP/log" ] || fail "no log was begun"
[ ! -s "$TMP/log" ] || fail "the log could be written"
