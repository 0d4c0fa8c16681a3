#!/bin/bash
# SPDX-License-Identifier: MIT
# What execalign elf --set-align writes is what loaders act upon: ld.so places the library, the kernel
# the program, on multiples of the block, every time, on a filesystem that does not align by itself.
# timeout: 120
. "$(dirname "$0")/cli-lib.sh"
need_x86_64 "the files are of 2 MiB blocks"
need python3 gcc ld.lld

# tmpfs does not align.
[ -d /dev/shm ] || skip "no /dev/shm"
shm=$(mktemp -d /dev/shm/execalign-XXXXXX)
cleanup_list+=("$shm")
block=$((2 << 20))

# distance MAPS NAME - of each text of this file in the maps, from congruent
distance() {
	python3 - "$1" "$2" "$block" <<-'END'
		import re, sys
		found = [(int(m[1], 16) - int(m[2], 16)) % int(sys.argv[3])
		         for line in open(sys.argv[1])
		         if (m := re.match(r"([0-9a-f]+)-\S+ r-xp ([0-9a-f]+) .*/" + re.escape(sys.argv[2]) + "$", line))]
		print(*(found or ["none"]))
	END
}

# placed NAME COMMAND... - how many of eight starts have this file congruent
placed() {
	local name=$1 count=0 off
	shift
	for _ in 1 2 3 4 5 6 7 8; do
		"$FIXTURES/exit_maps" "$TMP/maps" "$@" >"$TMP/run.out" 2>&1 || fail "$*: $(head -c 500 "$TMP/run.out")"
		off=$(distance "$TMP/maps" "$name")
		[ "$off" != none ] || fail "$name is not in the maps of $*"
		[ "$off" != 0 ] || count=$((count + 1))
	done
	echo $count
}

# becomes_placed NAME COMMAND... - not by itself, but with the alignment, and not without it again
becomes_placed() {
	local name=$1 before
	before=$(placed "$@")
	[ "$before" -lt 4 ] || fail "$name is placed in $before of 8 starts without the alignment"
	cli 0 elf --set-align auto "$shm/$name"
	said out changed
	[ "$(placed "$@")" = 8 ] || fail "$name is not placed in every start"
	cli 0 elf --check "$shm/$name"
	note "$name: $before of 8 starts before, 8 of 8 after"
	cli 0 elf --restore "$shm/$name"
	[ "$(placed "$@")" -lt 4 ] || fail "$name is placed after --restore"
}

# A library, by ld.so. Of its segments only the text's is raised, which suffices.
if [[ $(getconf GNU_LIBC_VERSION) =~ ^glibc\ 2\.([0-9]+)$ ]] && [ "${BASH_REMATCH[1]}" -lt 35 ]; then
	skip "glibc before 2.35 does not heed p_align"
fi
cp "$FIXTURES"/{app,libtext5m.so,libtext10m.so} "$shm"
for library in libtext5m.so libtext10m.so; do
	becomes_placed $library "$shm/app" call
done

# A real one, with many relocations, from a program that opens it.
llvm=$(realpath -q /usr/lib/*/libLLVM-1[0-9].so.1 | head -n 1) || llvm=
if [ -n "$llvm" ]; then
	cp "$llvm" "$shm/libLLVM.so"
	becomes_placed libLLVM.so python3 -c 'import ctypes, sys
llvm = ctypes.CDLL(sys.argv[1])
llvm.LLVMContextCreate.restype = ctypes.c_void_p
assert llvm.LLVMContextCreate()' "$shm/libLLVM.so"
fi

# Programs, by the kernel: position-independent ones.
cat >"$shm/main.c" <<'END'
#include <stdio.h>
__asm__(".text\n\t.fill 5 * 1024 * 1024 / 4, 4, 0x90909090");
int main(void) { return puts("done") == EOF; }
END
kernel() {
	local major minor
	IFS=.- read -r major minor _ < <(uname -r)
	[ $((major * 1000 + minor)) -ge $(($1 * 1000 + $2)) ]
}
gcc -O1 -fPIE -pie -o "$shm/pie" "$shm/main.c"
if kernel 5 10; then becomes_placed pie "$shm/pie"; fi
if kernel 6 11 && gcc -O1 -fPIE -static-pie -o "$shm/static" "$shm/main.c" 2>/dev/null; then
	becomes_placed static "$shm/static"
fi

# What the two linkers need so that it can be raised: the flag that the command recommends.
library() {
	CC=gcc "$EA_TOP/tests/fixtures/make_library.sh" "$shm/$1" "${@:2}"
}
open_library() {
	python3 -c 'import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
assert getattr(library, sys.argv[2] + "_last")() == 2' "$shm/lib$1.so" "$1"
}
library libmislaid.so 5120 lld
refuses 2 "$shm/libmislaid.so" '-Wl,-z,max-page-size=0x200000' elf --set-align auto "$shm/libmislaid.so"
said err 'Wl,-z,separate-code'
said err LLD
library libseparate.so 5120 lld -z separate-code
cli 0 elf --set-align auto "$shm/libseparate.so"
library libpages.so 5120 lld -z max-page-size=0x200000
cli 0 elf --check "$shm/libpages.so"
library libbased.so 5120 bfd -Ttext-segment=0x20001000
refuses 2 "$shm/libbased.so" 'link without -Ttext-segment' elf --set-align auto "$shm/libbased.so"
library libmultiple.so 5120 bfd -Ttext-segment=0x20000000
cli 0 elf --set-align auto "$shm/libmultiple.so"
for name in separate pages multiple; do
	open_library $name || fail "lib$name.so cannot be used"
	[ "$(placed lib$name.so python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$shm/lib$name.so")" = 8 ] ||
		fail "lib$name.so is not placed in every start"
done

# Raised beside what does not heed it, programs run as before.
if command -v musl-gcc >/dev/null; then
	printf 'int text5m_last(void); int main(void) { return text5m_last() != 2; }' >"$shm/musl.c"
	if musl-gcc -o "$shm/musl" "$shm/musl.c" -L"$shm" -ltext5m -Wl,-rpath,"$shm"; then
		cli 0 elf --set-align auto "$shm/libtext5m.so"
		"$shm/musl" || fail "a musl program does not run with it"
	fi
fi
headline "on tmpfs, 8 of 8 starts congruent"
