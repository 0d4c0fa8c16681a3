#!/bin/bash
# SPDX-License-Identifier: MIT
# The command's help, version, and one-line answers to bad input.
. "$(dirname "$0")/cli-lib.sh"

for arguments in --help -h help 'run --help' 'help run' 'report --help' 'help report' \
	'doctor --help' 'help doctor' 'elf --help' 'help elf' 'prime --help' 'help prime' \
	'bench --help' 'help bench' 'bench exec --help' \
	'run -h'; do
	# shellcheck disable=SC2086 # several words
	cli 0 $arguments
	said out 'Usage: execalign'
	[ ! -s "$TMP/err" ] || fail "execalign $arguments: $(cat "$TMP/err")"
done
cli 0 --version
grep -Eqx 'execalign [0-9]+\.[0-9]+\.[0-9]+' "$TMP/out" || fail "--version: $(cat "$TMP/out")"
for command in run report doctor elf prime bench; do
	cli 0 --help
	said out "  $command "
done

#       status thing           text
refuses 2 usage                'no command'
refuses 2 frobnicate           'unknown command'   frobnicate
refuses 2 --frobnicate         'unknown option'    --frobnicate
refuses 2 frobnicate           'unknown command'   help frobnicate
for command in run report doctor elf prime 'bench exec'; do
	read -ra words <<<"$command"
	refuses 2 --frobnicate 'unknown option' "${words[@]}" --frobnicate
	refuses 2 -Z 'unknown option' "${words[@]}" -Z
	refuses 2 -Zx 'unknown option' "${words[@]}" -Zx
	said err "execalign $command --help"
done
refuses 2 run                  'no command is given' run
refuses 2 run                  'no command is given' run --no-advise --
refuses 2 --block              'needs a value'     run --block
refuses 2 --no-advise=1        'takes no value'    run --no-advise=1 true
refuses 2 --a                  'more than one'     run --a x true
for size in 3M 0 '' 2G -2M 2M2 64KB 0x200000 99999999999999999999 1; do
	refuses 2 --block "'$size' is not a block size" run --block "$size" true
	refuses 2 --block "'$size' is not a block size" report --block "$size" -- true
done
refuses 2 --advise             "'maybe' is not one" run --advise maybe true
refuses 2 --promote            "'maybe' is not one" run --promote maybe true
refuses 2 --allow              'empty'             run --allow '' true
refuses 2 --deny               'empty'             run --deny '' true
refuses 2 --log                'no file'           run --log '' true

refuses 2 report               'nothing to report' report
refuses 2 report               'exclude each other' report --all 1
refuses 2 report               'exclude each other' report 1 -- true
refuses 2 2                    'one PID at a time' report 1 2
refuses 2 report               'add -- CMD'        report --plain 1
refuses 2 report               'add -- CMD'        report --deny x --all
refuses 2 --after              'not a number'      report --after soon -- true
refuses 2 --after              'not a number'      report --after -1 -- true
refuses 2 --after              'not a number'      report --after nan -- true
for pid in 0 -1 1x '' true 99999999999 ' 1'; do
	case $pid in
	-1) refuses 2 -1 'unknown option' report -1 ;;
	*) refuses 2 "$pid" 'not a PID' report "$pid" ;;
	esac
done
refuses 2 $((1 << 30))         'no such process'   report $((1 << 30))
refuses 2 /nonexistent/report  'No such file'      report --output /nonexistent/report 1
refuses 2 nonexistent          'not found in PATH' report -- nonexistent
refuses 2 /nonexistent         'no such program'   report -- /nonexistent
refuses 2 /nonexistent         'No such file'      doctor / /nonexistent
refuses 2 /dev/null/x          'Not a directory'   doctor /dev/null/x

if [ "$(uname -m)" = x86_64 ]; then
	refuses 2 --block 'no blocks of 64K; its blocks are 2 MiB' report --block 64K $$
fi

# A newline in a name does not make two lines of a message.
refuses 127 '/no\x0asuch' 'no such program' run "/no"$'\n'"such"

# What cannot be written is a failure, not an empty report.
if [ -w /dev/full ]; then
	for arguments in '--help' 'report --all' 'doctor' 'report --json --all'; do
		status=0
		# shellcheck disable=SC2086 # several words
		"$CLI" $arguments >/dev/full 2>"$TMP/err" || status=$?
		[ "$status" = 2 ] || fail "execalign $arguments >/dev/full: exit status $status"
	done
fi

# Colour on a terminal only, and not there either if it is unwanted.
need script
in_terminal() {
	TERM=xterm script -qec "$*" "$TMP/typescript" >/dev/null
	grep -q "$(printf '\033')" "$TMP/typescript"
}
in_terminal "unset NO_COLOR; $CLI doctor" || fail "no colour on a terminal"
! in_terminal "NO_COLOR=1 $CLI doctor" || fail "colour in spite of NO_COLOR"
cli 0 doctor
! grep -q "$(printf '\033')" "$TMP/out" || fail "colour in a file"
