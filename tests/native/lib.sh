# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# lib.sh - what the scenarios have in common; each begins with: . "$(dirname "$0")/lib.sh"
#
# A scenario exits 0 (passed), 1 (failed) or 77 (skipped, after printing "SKIP: reason"). It reads
# BUILD (default build) and EXECALIGN_SHIM (default $BUILD/libexecalign.so).
#
# The usual scenario:
#	misaligning_root			from here on files lie on a filesystem that does not align
#	compare "$FIXTURES/app" call		plain, then LD_AUDIT, then LD_PRELOAD: the same output and
#						status, and every eligible library congruent
#
# Each run leaves $TMP/MODE.{out,err,status,maps}, MODE being plain, audit or preload.
#
# With EXECALIGN_LOADER, a directory with a patched ld.so and its libc (loader-patch/build.sh), the same
# scenario is that loader's: it stands in the place of the machine's own, plain is without its placement
# (glibc.elf.exec_align=0), audit and preload are with it, and there is no shim in any mode.

set -euo pipefail

# The scenario alone decides what is set.
unset "${!LD_@}" GLIBC_TUNABLES MALLOC_PERTURB_ TRACER_IS_SEEN
ea_shim=${EXECALIGN_SHIM:-} ea_loader=${EXECALIGN_LOADER:-}
unset "${!EXECALIGN_@}"
export LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin

EA_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(cd "$EA_TOP" && realpath -m "${BUILD:-build}")
SHIM=$(realpath -m "${ea_shim:-$BUILD/libexecalign.so}")
FIXTURES=$BUILD/fixtures
PLACEMENT=$EA_TOP/tests/native/placement.py
# For the scenario's own copy inside a mount namespace.
export BUILD EXECALIGN_SHIM="$SHIM"
[ -z "$ea_loader" ] || export EXECALIGN_LOADER="$ea_loader"
NAME=$(basename "$0" .sh)

skip() {
	echo "SKIP: $*"
	exit 77
}

fail() {
	echo "$NAME: FAILED: $*" >&2
	exit 1
}

note() {
	echo "$NAME: $*"
}

# headline TEXT - tests/run.sh shows the last one beside the scenario's name
headline() {
	echo "NOTE: $*"
}

# need COMMAND... - skip unless all are there
need() {
	local command
	for command; do
		command -v "$command" >/dev/null || skip "$command is not installed"
	done
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root: $*"
}

need_x86_64() {
	[ "$(uname -m)" = x86_64 ] || skip "only for x86-64: $*"
}

TMP=${EA_TMP:-}
if [ -z "$TMP" ]; then
	TMP=$(mktemp -d "${TMPDIR:-/tmp}/execalign-$NAME.XXXXXX")
	# Programs of other users read what lies there.
	chmod 755 "$TMP"
fi
cleanup_list=("$TMP")
trap 'rm -rf "${cleanup_list[@]}"' EXIT

[ -e "$SHIM" ] || fail "there is no $SHIM; build it first (make)"
[ -x "$FIXTURES/exit_maps" ] ||
	fail "there are no fixtures in $FIXTURES; build them first (make fixtures)"

# exit_maps hides from the program that it is traced. Where it cannot, the shim is told to promote all
# the same (run), in every mode, so that the environments stay equal.
if ! "$FIXTURES/exit_maps" "$TMP/unseen" true 2>/dev/null; then
	export TRACER_IS_SEEN=1
fi

# aligns FILE - does its filesystem give large mappings aligned addresses? Three in a row are no
# luck.
aligns() {
	/usr/bin/python3 - "$1" <<-'END'
		import ctypes, mmap, os, sys
		libc = ctypes.CDLL(None, use_errno=True)
		libc.mmap.restype = ctypes.c_void_p
		libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
		                      ctypes.c_int, ctypes.c_long]
		fd = os.open(sys.argv[1], os.O_RDONLY)
		spots = [libc.mmap(None, (4 << 20) + 4096 * extra, mmap.PROT_READ, mmap.MAP_PRIVATE, fd, 0)
		         for extra in (1, 3, 5)]
		sys.exit(0 if all(spot % (2 << 20) == 0 for spot in spots) else 1)
	END
}

# misaligning_root - start the scenario again where /usr and the fixtures do not align
#
# The kernel aligns large mappings of ext4, xfs and btrfs files by itself, so nothing would be
# misplaced. Overlayfs does not, and containers live on it: /usr and the fixtures are covered by
# read-only overlays of themselves, in a mount namespace of the scenario's own, which ends with it.
# There, a patched loader is put over the machine's: with its libc at once, as one does not run with
# another's.
misaligning_root() {
	local over_usr=''
	case ${EA_ROOT:-} in
	inside | as-is)
		return
		;;
	enter)
		mkdir -p "$TMP/empty"
		if [ -n "$ea_loader" ]; then
			over_usr=$TMP/over-usr
			mkdir -p "$over_usr/lib/$(uname -m)-linux-gnu"
			cp "$ea_loader"/* "$over_usr/lib/$(uname -m)-linux-gnu/"
		fi
		if ! mount -t overlay -o "lowerdir=${over_usr:+$over_usr:}/usr:$TMP/empty" execalign /usr ||
			! mount -t overlay -o "lowerdir=$FIXTURES:$TMP/empty" execalign "$FIXTURES"; then
			skip "an overlay cannot be mounted here"
		fi
		export EA_ROOT=inside
		! aligns "$FIXTURES/libtext10m.so" || skip "the overlay aligns by itself"
		return
		;;
	esac
	if [ -z "$ea_loader" ] && ! aligns "$FIXTURES/libtext10m.so" &&
		! aligns /usr/bin/gdb 2>/dev/null; then
		export EA_ROOT=as-is
		return
	fi
	local unshare=(unshare --mount --propagation private)
	export EA_REAL_UID
	EA_REAL_UID=$(id -u)
	[ "$EA_REAL_UID" = 0 ] || unshare+=(--map-root-user)
	"${unshare[@]}" true 2>/dev/null ||
		skip "the filesystem aligns by itself and no mount namespace can be made"
	trap - EXIT
	EA_TMP=$TMP EA_ROOT=enter exec "${unshare[@]}" bash "$0"
}

# run MODE COMMAND... - run it plain, with LD_AUDIT (audit) or with LD_PRELOAD (preload)
#
# run_env: assignments for all modes. run_prefix: a command that executes its arguments, outside the
# shim. run_stdin: file for standard input. run_audit, run_preload: what LD_AUDIT and LD_PRELOAD are
# set to. run_keeps_maps: set to nothing to run without ptrace.
run_env=()
run_prefix=()
run_stdin=/dev/null
run_audit=$SHIM
run_preload=$SHIM
run_keeps_maps=1
run() {
	local mode=$1 status=0
	local assign=() keeper=()
	shift
	case $mode${ea_loader:+-loader} in
	plain) ;;
	plain-loader) assign=(GLIBC_TUNABLES=glibc.elf.exec_align=0) ;;
	# As long as the other, so that the stacks are alike.
	audit*-loader | preload*-loader) assign=(GLIBC_TUNABLES=glibc.elf.exec_align=1) ;;
	audit*) assign=(LD_AUDIT="$run_audit") ;;
	preload*) assign=(LD_PRELOAD="$run_preload") ;;
	*) fail "no such mode: $mode" ;;
	esac
	[ -z "$run_keeps_maps" ] || keeper=("$FIXTURES/exit_maps" "$TMP/$mode.maps")
	case "${TRACER_IS_SEEN:-}:${run_env[*]}" in
	:* | *EXECALIGN_PROMOTE=never*) ;;
	*) assign+=(EXECALIGN_PROMOTE=always) ;;
	esac
	rm -f "$TMP/$mode.maps"
	"${keeper[@]}" "${run_prefix[@]}" env "${run_env[@]}" "${assign[@]}" "$@" \
		>"$TMP/$mode.out" 2>"$TMP/$mode.err" <"$run_stdin" || status=$?
	echo "$status" >"$TMP/$mode.status"
	[ -z "$run_keeps_maps" ] || [ "$status" != 99 ] || fail "exit_maps: $(cat "$TMP/$mode.err")"
}

# same MODE [FILTER...] - the run's output, errors and status are those of plain; FILTER: a command
# through which the outputs are passed first
same() {
	local mode=$1 kind
	shift
	[ "$#" != 0 ] || set -- cat
	for kind in status out err; do
		"$@" <"$TMP/plain.$kind" >"$TMP/plain.$kind.filtered"
		"$@" <"$TMP/$mode.$kind" >"$TMP/$mode.$kind.filtered"
		if ! cmp -s "$TMP/plain.$kind.filtered" "$TMP/$mode.$kind.filtered"; then
			diff -a "$TMP/plain.$kind.filtered" "$TMP/$mode.$kind.filtered" | head -20 >&2 || :
			[ "$kind" != status ] || head -c 2000 "$TMP/$mode.err" >&2
			fail "$mode: $kind differs from plain"
		fi
	done
}

# placement MODE OPTION... - the witness's word on the run's maps
placement() {
	local mode=$1
	shift
	"$PLACEMENT" "$TMP/$mode.maps" --exe "$(cat "$TMP/$mode.maps.exe")" --quiet "$@" 2>&1
}

# misplaced_without - without the shim something eligible is misplaced, or the scenario shows
# nothing
misplaced_without() {
	local tries
	for tries in 1 2 3; do
		# One in 512 lands well by luck, so two or three times is no accident.
		! placement plain --expect-misplaced "$@" >/dev/null || return 0
		[ "$tries" = 3 ] || run plain "${plain_command[@]}"
	done
	[ "${EA_ROOT:-as-is}" = as-is ] ||
		fail "nothing is misplaced without the shim: $(placement plain "$@")"
	skip "nothing is misplaced without the shim here"
}

congruent() {
	local mode=$1 said
	shift
	said=$(placement "$mode" --expect-congruent "$@") || fail "$mode: $said"
	note "$mode: $said"
}

# compare [--at-least N] [--filter SCRIPT] [--only PATTERN] COMMAND... - in all three modes
# --filter: sed script for what may differ in the output, such as process ids
# expected_status: the plain program's exit status; another one means that it did not do its work.
plain_command=()
expected_status=0
run_plain() {
	plain_command=("$@")
	run plain "$@"
	[ "$(cat "$TMP/plain.status")" = "$expected_status" ] ||
		fail "plain: exit status $(cat "$TMP/plain.status"): $(head -c 2000 "$TMP/plain.err")"
}

compare() {
	local options=() through=(cat) mode
	while :; do
		case $1 in
		--at-least | --only) options+=("$1" "$2") ;;
		--filter) through=(sed -E "$2") ;;
		*) break ;;
		esac
		shift 2
	done
	run_plain "$@"
	[ -z "${EA_ROOT:-}" ] || misplaced_without "${options[@]}"
	for mode in audit preload; do
		run "$mode" "$@"
		same "$mode" "${through[@]}"
		congruent "$mode" "${options[@]}"
	done
}

# compare_output [--filter SCRIPT] COMMAND... - only that output and status are the same
compare_output() {
	local through=(cat) mode
	if [ "$1" = --filter ]; then
		through=(sed -E "$2")
		shift 2
	fi
	run_plain "$@"
	for mode in audit preload; do
		run "$mode" "$@"
		same "$mode" "${through[@]}"
	done
}
