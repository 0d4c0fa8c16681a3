# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# lib.sh - what the scenarios of patched loaders have in common, on top of tests/native/lib.sh
#
# Each begins with: . "$(dirname "$0")/lib.sh"
#
# A part is built when it is not in the cache: a minute for musl, ten for glibc.
# shellcheck source=../native/lib.sh
ea_cache=${EXECALIGN_QEMU_CACHE:-} ea_musl=${EXECALIGN_MUSL:-}
. "$(dirname "${BASH_SOURCE[0]}")/../native/lib.sh"
[ -z "$ea_cache" ] || export EXECALIGN_QEMU_CACHE=$ea_cache
# Once more inside a namespace, the variables have to be there again.
export EXECALIGN_MUSL=${ea_musl:-1.2.5}

# loader_part [OPTION...] LIBC VERSION ARCH - sets part to the directory of a built loader
loader_part() {
	part=$("$EA_TOP/tests/loader/part.sh" "$@") && return
	# In CI nothing may be missing.
	[ -z "${CI:-}" ] || fail "the loader cannot be built: $*"
	skip "the loader cannot be built: $*"
}

# shellcheck disable=SC2034 # used by the scenarios
# musl_loaders - sets patched and stock, the two loaders of this machine, of the version under test
musl_loaders() {
	need_x86_64 "aarch64's loader is tested under emulation"
	need musl-gcc
	loader_part musl "$EXECALIGN_MUSL" x86_64
	patched=$part/lib/ld-musl-x86_64.so.1
	loader_part --stock musl "$EXECALIGN_MUSL" x86_64
	stock=$part/lib/ld-musl-x86_64.so.1
}

# musl_program LOADER OUT SOURCE LIBRARY... - a program with that loader and these libraries, which are
# fixtures or in $TMP
musl_program() {
	local loader=$1 out=$2 source=$3
	shift 3
	musl-gcc -O1 -o "$out" "$source" -Wl,-dynamic-linker,"$loader" -L"$TMP" -L"$FIXTURES" \
		"${@/#/-l}" -Wl,-rpath,"$TMP:$FIXTURES" || fail "musl-gcc cannot build $out"
}

# works MODE - the run that was last made did what the fixture does
works() {
	[ "$(cat "$TMP/$1.status")" = 0 ] ||
		fail "$1: exit status $(cat "$TMP/$1.status"): $(head -c 500 "$TMP/$1.err")"
}
