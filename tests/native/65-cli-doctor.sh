#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign doctor says what /proc and /sys say, and what to do about each limit.
. "$(dirname "$0")/cli-lib.sh"
need jq

cli 0 doctor --json
expect .schema execalign-doctor-1
expect '.checks | all(.status == "ok" or .status == "limits" or .status == "unknown")' true
expect '.checks | all(.status != "limits" or .remedy != null)' true
expect '.checks | all((.detail | length) > 0)' true

check() {
	echo ".checks[] | select(.name == \"$1\")"
}
page_bytes=$(getconf PAGESIZE)
expect '.machine.page_bytes' "$page_bytes"
expect '.machine.kernel' "$(uname -r)"
expect "$(check page-size) | .values.page_bytes" "$page_bytes"
thp=/sys/kernel/mm/transparent_hugepage
if [ -e $thp/enabled ]; then
	expect "$(check blocks) | .values.pmd_block_bytes" "$(cat $thp/hpage_pmd_size)"
	expect "$(check thp-mode) | .values.mode" "$(sed 's/.*\[\(.*\)\].*/\1/' $thp/enabled)"
	expect "$(check thp-mode) | .status" ok
fi
if bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null); then
	expect "$(check aslr) | .values.mmap_rnd_bits" "$bits"
	if [ "$(uname -m)" = x86_64 ]; then
		# As many 2 MiB boundaries as the kernel reaches, or the shim's random shift of 2^17.
		expect "$(check aslr) | .values.placed_bits" $((bits - 9 > 17 ? bits - 9 : 17))
		expect "$(check aslr) | .status" "$([ "$bits" -lt 32 ] && echo limits || echo ok)"
	fi
	expect "$(check aslr) | .values.block_cost_bits" \
		"$(echo "l($((2 << 20)) / $page_bytes) / l(2) + 0.5" | bc -l 2>/dev/null | cut -d. -f1 || echo 9)"
else
	expect "$(check aslr) | .status" unknown
fi
expect "$(check perf) | .values.perf_event_paranoid" "$(cat /proc/sys/kernel/perf_event_paranoid)"
expect "$(check glibc) | .values.version" "$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)"
expect "$(check shim) | .status" ok
expect "[$(check alignment)] | length" 2
expect "[$(check alignment)][0].subject" /
expect "[$(check alignment)][1].subject" "$(dirname "$(realpath "$(ldconfig -p | awk '/libc\.so\.6.*(x86-64|AArch64)/ { print $NF; exit }')")")"
device=$(mountpoint -d /)
if [ -e "/sys/class/bdi/$device/read_ahead_kb" ]; then
	kib=$(cat "/sys/class/bdi/$device/read_ahead_kb")
	expect "[$(check read-ahead)][0].values.read_ahead_bytes" $((kib * 1024))
	expect "[$(check read-ahead)][0].status" "$([ "$kib" -gt 128 ] && echo limits || echo ok)"
fi

# The same for people, a remedy under each limit.
limits=$(query '[.checks[] | select(.status == "limits")] | length')
cli 0 doctor
[ "$(grep -c '^limits ' "$TMP/out")" = "$limits" ] || fail "not as many limits as in JSON"
[ "$(grep -cE '^(ok|limits|unknown) ' "$TMP/out")" = "$("$CLI" doctor --json | jq '.checks | length')" ] ||
	fail "not as many lines as in JSON"
# Limits and what follows them.
awk '/^limits / { expected = NR + 1 } NR == expected && !/^ +-> / { exit 1 }' "$TMP/out" || fail "a limit without a remedy"

# Filesystems: what the kernel really does with a file, against the verdict. By Python's mmap, whose
# placement is the kernel's.
if [ "$(uname -m)" = x86_64 ]; then
	library=$FIXTURES/libtext10m.so
	if aligns "$library"; then expected=ok; else expected=limits; fi
	cli 0 doctor --json "$library" "$FIXTURES"
	expect "[$(check alignment) | .status] | join(\" \")" "$expected $expected"
fi
if [ -d /dev/shm ] && [ "$(stat -f -c %T /dev/shm)" = tmpfs ]; then
	cli 0 doctor --json /dev/shm
	expect "$(check alignment) | .status" limits
	expect "$(check alignment) | .values.filesystem" tmpfs
	expect "[$(check read-ahead)] | length" 0
	probe=$(mktemp -d /dev/shm/execalign-XXXXXX)
	cleanup_list+=("$probe")
	echo >"$probe/file"
	cli 0 doctor --json "$probe" "$probe/file"
	expect "[$(check alignment) | .detail] | unique | join(\" \")" 'tmpfs does not align mappings (measured)'
fi
cli 0 doctor --json /proc
expect "[$(check folios)][0].status" unknown

# glibc.elf.thp
cli_prefix=(env GLIBC_TUNABLES=glibc.malloc.check=0:glibc.elf.thp=1)
cli 0 doctor --json
expect "$(check glibc.elf.thp) | .values.set" true
cli_prefix=()

# Huge pages disabled by a parent
cli_prefix=(python3 -c 'import ctypes, os, sys
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)
os.execvp(sys.argv[1], sys.argv[1:])')
cli 0 doctor --json
expect "$(check thp-process) | .status" limits
cli_prefix=()

if [ "$(id -u)" = 0 ]; then
	expect_root=ok
	cli 0 doctor --json
	expect "$(check page-frames) | .status" $expect_root
	if setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$CLI"; then
		cli_prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		cli 0 doctor --json
		expect "$(check page-frames) | .status" limits
		cli_prefix=()
	fi
	# No /proc, no /sys: nothing is guessed, nothing is 0.
	if unshare --mount true 2>/dev/null; then
		cli_prefix=(unshare --mount sh -c 'mount -t tmpfs none /proc && mount -t tmpfs none /sys && exec "$@"' sh)
		cli 0 doctor --json /
		expect "$(check aslr) | .status" unknown
		expect "$(check aslr) | .values.mmap_rnd_bits" null
		expect "$(check page-frames) | .status" limits
		refuses 2 /proc 'not mounted' report --all
		refuses 2 /proc 'not mounted' report 1
		refuses 2 /proc 'not mounted' report -- true
		cli 3 run sh -c 'exit 3'
		[ ! -s "$TMP/err" ] || fail "run without /proc: $(cat "$TMP/err")"
		cli_prefix=()
	fi
fi
