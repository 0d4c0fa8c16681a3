#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign report -- CMD: programs of any length are seen whole, before and after the shim; their
# output, signals and status stay their own; with and without ptrace.
. "$(dirname "$0")/cli-lib.sh"
need_x86_64 "the fixtures' libraries are eligible for 2 MiB blocks"
need jq python3 strace
misaligning_root

app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so")
library() {
	echo "[.processes[0].objects[] | select(.path | endswith(\"/$1\"))][0]"
}

# --- Before and after; what is opened last is seen too
run plain "${app[@]}"
for _ in 1 2 3; do
	cli 0 report --plain --json --output "$TMP/report" -- "${app[@]}"
	cmp -s "$TMP/plain.out" "$TMP/out" || fail "CMD's output: $(cat "$TMP/out")"
	cp "$TMP/report" "$TMP/out"
	consistent
	expect '.processes[0].shim' absent
	expect '.totals.eligible_objects' 3
	# One in 512 is in the right place by luck.
	[ "$(query '.totals.congruent_objects')" = 0 ] || continue
	break
done
expect '.totals.congruent_objects' 0
[ "$EA_ROOT" = as-is ] || [[ $(query "$(library libtext6m.so) | .reason.text") == *'overlay does not align mappings'* ]] ||
	fail "reason: $(query "$(library libtext6m.so) | .reason.text")"

cli 0 report --json --output "$TMP/report" -- "${app[@]}"
cmp -s "$TMP/plain.out" "$TMP/out" || fail "CMD's output: $(cat "$TMP/out")"
cp "$TMP/report" "$TMP/out"
consistent
expect '.processes[0].shim' auditing
expect '.totals.eligible_objects' 3
expect '.totals.congruent_objects' 3
expect '.command.argv | join(" ")' "${app[*]}"
expect '.command.ended' true
expect '.command.exit_status' 0
expect '.command.signal' null
expect "$(library libtext6m.so) | .distance_bytes" 0

# The policy is the reason where it is.
cli 0 report --json --output "$TMP/report" --deny 'libtext10*' -- "${app[@]}"
cp "$TMP/report" "$TMP/out"
expect '.totals.congruent_objects' 2
expect "$(library libtext10m.so) | .reason.code" policy
cli 0 report --deny 'libtext10*' --check -- true
cli 1 report --deny 'libtext10*' --check -- "${app[@]}"
said out 'policy: EXECALIGN_DENY'

# --- The shortest programs, every time
for _ in $(seq 30); do
	cli 0 report -- true
	said out 'process '
done

# --- Status and signals are said, and do not become the report's
cli 0 report -- sh -c 'exit 7'
said out 'sh ended with exit status 7'
for signal in TERM KILL SEGV; do
	cli 0 report --json -- sh -c "ulimit -c 0; kill -$signal \$\$"
	expect .command.signal "$(kill -l $signal)"
	expect .command.exit_status null
	consistent
done
refuses 2 "$TMP" 'is a directory' report -- "$TMP"
echo 'exit 5' >"$TMP/text"
chmod +x "$TMP/text"
cli 0 report -- "$TMP/text"
said out 'ended with exit status 5'
printf '\177ELF' >"$TMP/broken"
chmod +x "$TMP/broken"
refuses 2 "$TMP/broken" 'not a program' report -- "$TMP/broken"

# --- Execution of another program in the same process: the last one is reported
cli 0 report --json -- sh -c 'exec sh -c "exec true"'
expect '.processes[0].comm' true
# By a thread that is not the first, after which the process is no longer traced.
cli 0 report --json -- python3 -c '
import os, threading
t = threading.Thread(target=lambda: os.execv("/bin/sleep", ["sleep", "0.5"]))
t.start()
t.join()'
expect '.processes[0].comm' sleep
expect .command.exit_status 0

# --- A process whose first thread ends before the others
cat >"$TMP/leader.c" <<-'END'
	#include <pthread.h>
	#include <unistd.h>
	static void *other(void *unused)
	{
		usleep(300000);
		_exit(9);
	}
	int main(void)
	{
		pthread_t thread;
		pthread_create(&thread, NULL, other, NULL);
		pthread_exit(NULL);
	}
END
gcc -pthread -o "$TMP/leader" "$TMP/leader.c"
cli 0 report --json -- "$TMP/leader"
expect .command.exit_status 9
expect '.totals.objects > 1' true

# --- Job control and signals
timeout 20 "$CLI" report -- sh -c 'kill -STOP $$; exit 3' >"$TMP/out" 2>"$TMP/err" &
reporter=$!
for _ in $(seq 100); do
	child=$(pgrep -P "$(pgrep -P $reporter || echo 0)" || :)
	[ -z "$child" ] || [ "$(awk '{ print $3 }' "/proc/$child/stat")" != t ] || break
	sleep 0.05
done
sleep 0.2
if [ -z "$child" ] || ! kill -0 "$child"; then
	fail "a stopped command did not stay stopped"
fi
kill -CONT "$child"
wait $reporter
said out 'exit status 3'

"$CLI" report -- sleep 60 >"$TMP/out" 2>"$TMP/err" &
reporter=$!
for _ in $(seq 100); do
	[ "$(pgrep -x -P $reporter sleep || :)" = "" ] || break
	sleep 0.05
done
kill -TERM $reporter
wait $reporter || fail "exit status $? after SIGTERM"
said out 'sleep was ended by signal 15'

# Ignored signals stay ignored in CMD, and so does the mask.
(trap '' INT CHLD && exec "$CLI" report -- grep -E '^Sig(Ign|Blk)' /proc/self/status >"$TMP/out")
(trap '' INT CHLD && exec grep -E '^Sig(Ign|Blk)' /proc/self/status >"$TMP/plain.out")
head -2 "$TMP/out" | cmp -s - "$TMP/plain.out" || fail "signals: $(head -2 "$TMP/out"; cat "$TMP/plain.out")"

# --- While it runs
rm "$TMP/report"
"$CLI" report --json --output "$TMP/report" --after 0.5 -- sleep 60 >"$TMP/cmd.out" 2>"$TMP/err" &
reporter=$!
for _ in $(seq 200); do
	if [ -s "$TMP/report" ] && jq -e .schema "$TMP/report" >/dev/null 2>&1; then break; fi
	sleep 0.05
done
child=$(pgrep -x -P $reporter sleep) || fail "CMD does not run any more, or the report is not there"
cp "$TMP/report" "$TMP/out"
consistent
expect .command.ended false
expect '.processes[0].pid' "$child"
kill "$child"
wait $reporter || fail "exit status $?"
cli 0 report --after 20 -- true
said out 'ended with exit status 0'

# --- Without ptrace: by looking again and again
cli_prefix=(strace -qq -e signal=none -e trace=ptrace -e inject=ptrace:error=EPERM -o /dev/null)
cli 0 report --json --output "$TMP/report" -- "${app[@]}" spin:3000000000
cp "$TMP/report" "$TMP/out"
consistent
expect '.totals.eligible_objects' 3
expect '.totals.congruent_objects' 3
# Whoever ignores SIGCHLD loses the status of a child that nobody traces.
cli_prefix=(timeout 20 "${cli_prefix[@]}" python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])')
cli 0 report -- sh -c 'sleep 0.3; exit 6'
said out 'exit status 6'
cli_prefix=()
