#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign run: the program's signals, status and descriptors are its own; what cannot be placed
# runs unchanged after a note; what cannot run is told apart.
. "$(dirname "$0")/cli-lib.sh"

plain_environment=$(/usr/bin/env | sort)

# --- Status, signals, arguments, standard input, the process itself
for status in 0 1 2 42 126 127 255; do
	cli "$status" run -- sh -c "exit $status"
done
for signal in TERM KILL SEGV; do
	cli $((128 + $(kill -l $signal))) run -- sh -c "ulimit -c 0; kill -$signal \$\$"
done
[ "$(echo hello | "$CLI" run cat)" = hello ] || fail "standard input"
cli 0 run -- printf '%s|' a '' 'b c' --help -- -x
[ "$(cat "$TMP/out")" = 'a||b c|--help|--|-x|' ] || fail "arguments: $(cat "$TMP/out")"
cli 0 run printf %s --log
[ "$(cat "$TMP/out")" = --log ] || fail "options behind CMD: $(cat "$TMP/out")"
"$CLI" run -- sh -c 'echo $$' >"$TMP/pid" &
wait $!
[ "$(cat "$TMP/pid")" = $! ] || fail "CMD is another process"

# --- Environment
shim_found=$(realpath "$SHIM")
added() {
	comm -13 <(echo "$plain_environment") <(sort "$TMP/out") | grep -v '^_=' || :
}
cli 0 run env
[ "$(added)" = "LD_PRELOAD=$shim_found" ] || fail "environment: $(added)"
cli 0 run --block 2MiB --allow 'liba*' --allow libb --deny libc --log - --advise hugepage \
	--promote never -- env
expected="EXECALIGN_ADVISE=hugepage
EXECALIGN_ALLOW=liba*:libb
EXECALIGN_BLOCK=2M
EXECALIGN_DENY=libc
EXECALIGN_LOG=stderr
EXECALIGN_PROMOTE=never
LD_PRELOAD=$shim_found"
[ "$(added)" = "$expected" ] || fail "environment: $(added)"
cli 0 run --no-advise env
said out EXECALIGN_ADVISE=never
other=$FIXTURES/other_preload.so
cli_prefix=(env LD_PRELOAD="$other")
cli 0 run env
said out "LD_PRELOAD=$shim_found:$other"
cli_prefix=(env LD_PRELOAD="$other:$shim_found")
cli 0 run env
said out "LD_PRELOAD=$other:$shim_found"
cli_prefix=()
cli 0 run "$CLI" run env
said out "LD_PRELOAD=$shim_found"
cli_prefix=(env EXECALIGN=off)
cli 0 run true
said err "execalign: EXECALIGN: is set to 'off'"
cli_prefix=()

# --- Under the auditor from the start: two copies of the shim and no second execution
# starts COPIES VARIABLES... - CMD sees these variables, LD_PRELOAD, and no others of ours
starts() {
	local copies=$1
	shift
	cli_prefix=(env EXECALIGN_LOG="$TMP/starts.log" "$@")
	rm -f "$TMP/starts.log"
	cli 0 run -- env
	[ "$(added)" = "$(printf '%s\n' "$@" "EXECALIGN_LOG=$TMP/starts.log" "LD_PRELOAD=$shim_found" |
		grep -v ^EXECALIGN_P | sort)" ] || fail "with $*: environment: $(added)"
	cli 0 run -- cat /proc/self/maps
	[ "$(grep -c 'r-xp.*/libexecalign\.so$' "$TMP/out")" = "$copies" ] ||
		fail "with $*: not $copies copies of the shim: $(cat "$TMP/out")"
	cli_prefix=()
}
starts 2
starts 2 EXECALIGN_PADDING=x EXECALIGN_PROMOTED=9:0:
starts 2 GLIBC_TUNABLES=glibc.malloc.check=0
starts 2 GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0x800
# What glibc may refuse as a whole is not added to; cat has nothing to gain from a promotion.
starts 1 GLIBC_TUNABLES=glibc.malloc.check=0=0
starts 1 GLIBC_TUNABLES=glibc.malloc.check=0::glibc.malloc.perturb=0
# Static TLS that glibc refuses under any auditor, since nothing else is aligned so far.
gcc -shared -fPIC -o "$TMP/libaligned.so" -x c - <<-'END'
	__thread char tls[64] __attribute__((aligned(4096), tls_model("initial-exec")));
	int misalignment(void) { return (unsigned long)tls % 4096; }
END
echo 'int misalignment(void); int main(void) { return misalignment(); }' |
	gcc -o "$TMP/aligned" -x c - -L"$TMP" -laligned -Wl,-rpath,"$TMP"
cli 0 run -- "$TMP/aligned"
# A filter that is inherited, too; one of the program's own leaves only the preloaded copy.
for how in inherited own; do
	cli_prefix=("$FIXTURES/seccomp_run" allow)
	[ $how = own ] || cli_prefix+=(/bin/sh -c '"$@"; exit $?' sh)
	cli 0 run -- env
	[ "$(added)" = "LD_PRELOAD=$shim_found" ] || fail "$how filter: environment: $(added)"
	cli 0 run -- cat /proc/self/maps
	[ "$(grep -c 'r-xp.*/libexecalign\.so$' "$TMP/out")" = "$([ $how = own ] && echo 1 || echo 2)" ] ||
		fail "$how filter: $(cat "$TMP/out")"
	cli_prefix=()
done
# An auditor whose path begins with the shim's is another one.
mkdir "$TMP/beside"
cp "$CLI" "$SHIM" "$TMP/beside/"
cp "$FIXTURES/other_auditor.so" "$TMP/beside/libexecalign.so.other"
cli_prefix=(env LD_AUDIT="$TMP/beside/libexecalign.so.other")
built=$CLI
CLI=$TMP/beside/execalign
cli 0 run -- cat /proc/self/maps
[ "$(grep -c 'r-xp.*/libexecalign\.so$' "$TMP/out")" = 2 ] || fail "another auditor is taken for the shim"
CLI=$built
cli_prefix=()

# --- The log
mkdir "$TMP/elsewhere"
(
	cd "$TMP" || exit
	"$CLI" run --log a.log --promote always -- sh -c 'cd elsewhere && exec true'
)
[ -s "$TMP/a.log" ] || fail "nothing in the log"
[ ! -e "$TMP/elsewhere/a.log" ] || fail "the log's path was not made absolute"
for log in /nonexistent/log "$TMP"; do
	cli 3 run --log "$log" -- sh -c 'exit 3'
	said err "execalign: $log: cannot write the log"
	[ "$(wc -l <"$TMP/err")" = 1 ] || fail "more than a line: $(cat "$TMP/err")"
	cli_prefix=(env EXECALIGN_LOG="$log")
	cli 0 run --log "$log" -- env
	! grep -q EXECALIGN_LOG "$TMP/out" || fail "EXECALIGN_LOG is set to what cannot be written"
	cli_prefix=()
done

# --- 127 and 126
refuses 127 nonexistent 'not found in PATH' run nonexistent
refuses 127 /nonexistent/x 'no such program' run /nonexistent/x
refuses 127 "''" 'no such program' run ''
refuses 126 "$TMP" 'is a directory' run "$TMP"
echo 'exit 5' >"$TMP/plain-text"
refuses 126 "$TMP/plain-text" 'not executable' run "$TMP/plain-text"
chmod +x "$TMP/plain-text"
cli 5 run "$TMP/plain-text"
head -c 100 /bin/true >"$TMP/truncated"
printf '\177ELF' >"$TMP/four-bytes"
printf '#!/nonexistent/interpreter -x\n' >"$TMP/bad-script"
printf '#! %s\n' "$TMP/loop" >"$TMP/loop"
printf '#!\n' >"$TMP/empty-script"
cp /bin/true "$TMP/no-loader"
python3 - "$TMP/no-loader" <<-'END'
	import sys
	path = sys.argv[1]
	data = open(path, 'rb').read()
	at = data.index(b'/lib64/ld-linux') if b'/lib64/ld-linux' in data else data.index(b'/lib/ld-linux')
	open(path, 'wb').write(data[:at] + b'/nix' + data[at + 4:])
END
chmod +x "$TMP/truncated" "$TMP/four-bytes" "$TMP/bad-script" "$TMP/loop"
refuses 126 "$TMP/truncated" 'not a program' run "$TMP/truncated"
refuses 126 "$TMP/four-bytes" 'not a program' run "$TMP/four-bytes"
refuses 126 "$TMP/bad-script" 'its interpreter /nonexistent/interpreter' run "$TMP/bad-script"
refuses 126 "$TMP/loop" 'from script to script' run "$TMP/loop"
refuses 126 "$TMP/no-loader" 'its loader /nix' run "$TMP/no-loader"

# PATH: what cannot be executed is passed over; an empty entry is the current directory.
mkdir "$TMP/first" "$TMP/second"
echo 'exit 6' >"$TMP/second/tool"
chmod +x "$TMP/second/tool"
echo not executable >"$TMP/first/tool"
cli_prefix=(env PATH="$TMP/first:$TMP/second:$PATH")
cli 6 run tool
cli_prefix=(env PATH="$TMP/first:$PATH")
refuses 126 "$TMP/first/tool" 'not executable' run tool
cli_prefix=(env -C "$TMP/second" PATH="$PATH:")
cli 6 run tool
cli_prefix=()

# --- Scripts are followed
printf '#!/bin/sh\nexit 7\n' >"$TMP/script"
printf '#!%s with arguments\n' "$TMP/script" >"$TMP/script-of-script"
printf '#!/usr/bin/env python3\nimport os, sys\nsys.exit(8 if "libexecalign" in os.environ["LD_PRELOAD"] else 9)\n' \
	>"$TMP/env-script"
chmod +x "$TMP/script" "$TMP/script-of-script" "$TMP/env-script"
cli 7 run "$TMP/script"
cli 7 run "$TMP/script-of-script"
cli 8 run "$TMP/env-script"
[ ! -s "$TMP/err" ] || fail "said: $(cat "$TMP/err")"

# --- What the shim cannot place runs unchanged, after a note
# unchanged STATUS NOTE COMMAND...
unchanged() {
	local status=$1 note=$2
	shift 2
	cli "$status" run "$@"
	[ "$(wc -l <"$TMP/err")" = 1 ] || fail "$1: not one line: $(cat "$TMP/err")"
	said err "$note"
	! grep -q 'PRELOAD=.*libexecalign' "$TMP/out" || fail "$1: the environment was changed"
}
printf '#!%s\n' "$FIXTURES/static" >"$TMP/static-script"
chmod +x "$TMP/static-script"
"$FIXTURES/static" >"$TMP/static.out" || static_status=$?
for command in "$FIXTURES/static" "$TMP/static-script"; do
	unchanged "${static_status:-0}" 'statically linked' "$command"
	cmp -s "$TMP/static.out" "$TMP/out" || fail "$command: $(cat "$TMP/out")"
done
cat >"$TMP/show.c" <<-'END'
	#include <stdio.h>
	extern char **environ;
	int main(void)
	{
		for (char **v = environ; *v; v++)
			puts(*v);
		return 4;
	}
END
gcc -static-pie -o "$TMP/static-pie" "$TMP/show.c"
unchanged 4 'statically linked' "$TMP/static-pie"
# A loader has no loader either, but is none of these.
cli 0 run "$(readelf -l /bin/true | sed -n 's/.*interpreter: \(.*\)]/\1/p')" /bin/true
[ ! -s "$TMP/err" ] || fail "ld.so: $(cat "$TMP/err")"

# Another class or machine: here it cannot be executed, so that the note is followed by the error.
python3 - "$TMP" <<-'END'
	import sys
	data = bytearray(open('/bin/true', 'rb').read())
	data[4], data[18] = 1, 3
	open(sys.argv[1] + '/32bit', 'wb').write(data)
	data[4] = 2
	data[18:20] = (0xf3).to_bytes(2, 'little')
	open(sys.argv[1] + '/foreign', 'wb').write(data)
END
chmod +x "$TMP/32bit" "$TMP/foreign"
cli 126 run "$TMP/32bit"
said err 'a 32-bit program'
cli 126 run "$TMP/foreign"
said err 'built for another machine (RISC-V)'
if command -v musl-gcc >/dev/null; then
	musl-gcc -o "$TMP/musl" "$TMP/show.c"
	cli 4 run "$TMP/musl"
	said err 'linked with musl'
	said out "LD_PRELOAD=$shim_found"
fi

# --- Privileges
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$CLI"; then
	gcc -o "$TMP/show" "$TMP/show.c"
	for mode in 4755 2755; do
		cp "$TMP/show" "$TMP/privileged"
		chmod "$mode" "$TMP/privileged"
		# Root gains nothing from a program of root's.
		cli 4 run "$TMP/privileged"
		[ ! -s "$TMP/err" ] || fail "$mode as root: $(cat "$TMP/err")"
		said out libexecalign.so
		cli_prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		unchanged 4 'gains privileges (set-' "$TMP/privileged"
		cli_prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
		cli 4 run "$TMP/privileged"
		[ ! -s "$TMP/err" ] || fail "$mode without new privileges: $(cat "$TMP/err")"
		said out libexecalign.so
		cli_prefix=()
	done
	if command -v setcap >/dev/null && cp "$TMP/show" "$TMP/capable" &&
		setcap cap_net_bind_service+ep "$TMP/capable" 2>/dev/null; then
		cli_prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		unchanged 4 'gains privileges (file capabilities)' "$TMP/capable"
		cli_prefix=()
	fi
	# Executable, but not readable: nothing is known of it, so it is tried.
	cp "$TMP/show" "$TMP/unreadable"
	chmod 711 "$TMP/unreadable"
	cli_prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	cli 4 run "$TMP/unreadable"
	cli_prefix=()
else
	note "NOTE: set-user-ID programs not tried: needs root, and a build that others can read"
fi

# --- The shim is missing, or in a place that LD_PRELOAD cannot name
mkdir "$TMP/alone" "$TMP/with space"
cp "$CLI" "$TMP/alone/"
cp "$CLI" "$SHIM" "$TMP/with space/"
CLI=$TMP/alone/execalign
if ! [ -e "$(strings "$CLI" | grep -m1 '/libexecalign.so$')" ]; then
	cli 5 run "$TMP/plain-text"
	said err 'execalign: libexecalign.so: not found'
	cli 0 run env
	! grep -q LD_PRELOAD "$TMP/out" || fail "LD_PRELOAD without a shim"
fi
CLI="$TMP/with space/execalign"
cli 5 run "$TMP/plain-text"
said err 'LD_PRELOAD cannot hold a path with a space'
