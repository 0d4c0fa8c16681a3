# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034,SC2154 # what is set for the scenarios, and by lib.sh
# glibc.sh - what the scenarios of the patched glibc have in common; sourced behind lib.sh
#
# EXECALIGN_GLIBC: the version under test.
export EXECALIGN_GLIBC=${EXECALIGN_GLIBC:-2.41}
: "${EA_TOP:?lib.sh comes first}"

# glibc_loaders - sets patched and stock, two directories with ld.so and the libraries of its libc
glibc_loaders() {
	need_x86_64 "aarch64's loader is tested under emulation"
	loader_part glibc "$EXECALIGN_GLIBC" x86_64
	patched=$part/lib
	loader_part --stock glibc "$EXECALIGN_GLIBC" x86_64
	stock=$part/lib
}

rtld=ld-linux-x86-64.so.2

# glibc_program DIR OUT SOURCE LIBRARY... - a program that the kernel starts with that libc
glibc_program() {
	local dir=$1 out=$2 source=$3
	shift 3
	gcc -O1 -o "$out" "$source" -Wl,--no-as-needed -L"$FIXTURES" "${@/#/-l}" \
		-Wl,-dynamic-linker,"$dir/$rtld" -Wl,--disable-new-dtags \
		-Wl,-rpath,"$dir:$FIXTURES" || fail "gcc cannot build $out"
}
