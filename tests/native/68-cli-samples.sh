#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign report -- CMD samples how CMD executes: a busy library goes through 2 MiB entries under the
# shim and through 4 KiB entries without; threads count, other programs do not; the program notices
# nothing; where sampling is refused, that is said.
. "$(dirname "$0")/cli-lib.sh"
need_x86_64 "the library is full of x86-64 instructions"
need jq gcc
read -r major minor _ < <(uname -r | tr .- '  ')

# A library that is executed from one end to the other, cold, and a program that does so ROUNDS times
# in a thread. The overlay comes last: what is below it can be evicted, and it does not align.
if [ -z "${EA_ROOT:-}" ]; then
	mkdir "$TMP/lib" "$TMP/lower"
	CC=gcc "$EA_TOP/tests/fixtures/make_library.sh" "$TMP/lib/libbusy.so" 10240 bfd
	gcc -O1 -x c -pthread -o "$TMP/busy" - -L"$TMP/lib" -lbusy -Wl,-rpath,"$TMP/lib" <<-'END'
		#include <pthread.h>
		#include <stdint.h>
		#include <stdlib.h>

		extern int busy_first(void);

		/* The filler between the library's first function and busy_spin() does nothing. */
		static void *execute(void *rounds)
		{
			uintptr_t filler = (uintptr_t)busy_first + (4 << 20);
			long (*through_filler_to_spin)(long) = (long (*)(long))filler;

			for (long i = 0; i < (long)rounds; i++)
				through_filler_to_spin(0);
			return NULL;
		}

		int main(int argc, char **argv)
		{
			pthread_t thread;

			return argc != 2 || pthread_create(&thread, NULL, execute, (void *)atol(argv[1])) ||
				pthread_join(thread, NULL);
		}
	END
	cached=$("$FIXTURES/evict" "$TMP/lib/libbusy.so" | awk '{ print $2 }')
	[ "$cached" = 0 ] || skip "the library stays in the page cache"
fi
misaligning_root
if [ "$EA_ROOT" = inside ]; then
	mount -t overlay -o "lowerdir=$TMP/lib:$TMP/lower" execalign "$TMP/lib"
	trap 'umount "$TMP/lib"; rm -rf "${cleanup_list[@]}"' EXIT
fi
busy=$TMP/busy
report=$TMP/report

# sampled OPTION... - report CMD; its JSON goes to $TMP/out and has to agree with itself
sampled() {
	cli 0 report --json --output "$report" "$@"
	mv "$TMP/out" "$TMP/cmd.out"
	mv "$report" "$TMP/out"
	consistent
	jq -e '
		def total: map(.samples) | add // 0;
		[.processes[].objects[]] as $objects | .samples |
		.interval_ns > 0 and
		if .count == null then
			.reason != null and .entries == null and .elsewhere == null and .lost == null and
			($objects | all(.samples == null))
		else
			.reason == null and .count > 0 and (.entries | total) == .count and
			($objects | all(.samples.count == (.samples.entries | total))) and
			($objects | map(.samples.count) | add // 0) + .elsewhere == .count
		end' "$TMP/out" >/dev/null || fail "the samples contradict themselves: $(head -c 1000 "$TMP/out")"
}
in_busy='.processes[0].objects[] | select(.path | endswith("/libbusy.so")) | .samples'
# share ENTRY_BYTES - of the busy library's samples, in percent
share() {
	query "$in_busy | ([.entries[] | select(.entry_bytes == $1) | .samples] | add // 0) * 100 / .count | floor"
}

sampled -- "$busy" 200
if [ "$(query .samples.count)" = null ]; then
	reason=$(query .samples.reason)
	[ $((major * 100 + minor)) -lt 513 ] || [[ $reason = 'perf events are refused'* ]] || fail "$reason"
	skip "$reason"
fi
# Under other programs' load it may be seen less often.
for _ in 1 2 3; do
	[ "$(query "$in_busy.count")" -lt 100 ] || break
	sampled -- "$busy" 1000
done
[ "$(query "$in_busy.count")" -ge 100 ] || fail "not seen executing: $(query "$in_busy.count") samples"
headline "under the shim $(share $((2 << 20)))% of $(query "$in_busy.count") samples at 2 MiB"
folios=$(query '.processes[0].objects[] | select(.path | endswith("/libbusy.so")) | .block_mapped_bytes')
if [ "$folios" -ge $((6 << 20)) ]; then
	[ "$(share $((2 << 20)))" -ge 90 ] || fail "$(query "$in_busy")"
else
	note "the page cache has no 2 MiB folios here: $folios bytes are block-mapped"
fi

# --- Plain, the same folios are mapped by 4 KiB entries
for _ in 1 2 3; do
	sampled --plain -- "$busy" 200
	[ "$(query '.processes[0].objects[] | select(.path | endswith("/libbusy.so")) | .congruent')" = true ] || break
done
expect '.processes[0].objects[] | select(.path | endswith("/libbusy.so")) | .congruent' false
[ "$(share 4096)" = 100 ] || fail "plain: $(query "$in_busy")"
[ "$(query "($in_busy.count) * 100 / .samples.count | floor")" -ge 80 ] || fail "$(query .samples)"

# --- The table says the same
cli 0 report --plain -- "$busy" 200
grep -Eq '^ +sampled [0-9]+ times \([0-9]+%\): 100% at 4 KiB$' "$TMP/out" || fail "$(cat "$TMP/out")"
grep -Eq '^samples: [0-9]+, by entry: 100% at 4 KiB' "$TMP/out" || fail "$(cat "$TMP/out")"
cli 0 report $$
! grep -q '^samples' "$TMP/out" || fail "samples of a process that was not started: $(cat "$TMP/out")"
cli 0 report --json $$
expect .samples null
expect '[.processes[0].objects[].samples] | unique | length' 1

# --- What was executed before an execve(), or by another program, is not CMD's
sampled --plain -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exec "$0" 200' "$busy"
[ "$(query '.samples | .elsewhere * 10 < .count')" = true ] || fail "before execve(): $(query .samples)"
sampled --plain -- sh -c '"$0" 200; exit 3' "$busy"
expect .command.exit_status 3
[ "$(query '(.samples.count // 0) < 50')" = true ] || fail "of another program: $(query .samples)"

# --- In time with --after, and the program goes on
sampled --plain --after 1 -- "$busy" 20000
expect .command.exit_status null
[ "$(query .samples.count)" -gt 0 ] || fail "--after: $(query .samples)"

# --- The program has no descriptor and no signal of it
# SigQ is of all of the user's processes.
sampled --plain -- sh -c 'ls -l /proc/self/fd; grep "^Sig[^Q]" /proc/self/status'
sh -c 'ls -l /proc/self/fd; grep "^Sig[^Q]" /proc/self/status' >"$TMP/plain.out" </dev/null 2>"$TMP/err"
for file in cmd plain; do
	sed -E 's/.* ([0-9]+ -> [^0-9]*).*/\1/; s/^total.*//' "$TMP/$file.out" >"$TMP/$file.seen"
done
cmp -s "$TMP/cmd.seen" "$TMP/plain.seen" || fail "seen by the program: $(cat "$TMP/cmd.out" "$TMP/plain.out")"

# --- Refused: all the rest is reported, and why there are no samples
cli_prefix=("$FIXTURES/seccomp_run" perf-eperm)
sampled -- "$busy" 20
expect .samples.count null
[[ $(query .samples.reason) = 'perf events are refused (Operation not permitted, perf_event_paranoid '*', under a seccomp filter); '* ]] ||
	fail "$(query .samples.reason)"
cli 0 report -- "$busy" 20
said out 'samples: unknown: perf events are refused (Operation not permitted'
