#!/bin/bash
# SPDX-License-Identifier: MIT
# Whatever the patched loader asks for and stock musl does not, it can be refused: the program runs.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
need strace
musl_loaders
misaligning_root

sed '1i #define LIBRARIES X(text5m) X(text10m) X(text300k) X(l_lld)' \
	"$EA_TOP/tests/loader/libraries.c" >"$TMP/libraries.c"
musl_program "$patched" "$TMP/program" "$TMP/libraries.c" text5m text10m text300k l_lld
run_keeps_maps=

# survives WHAT OPTION... - the program's answers are right under these faults
survives() {
	local what=$1 status=0
	shift
	strace -o "$TMP/trace" "$@" "$TMP/program" "$FIXTURES/libtext6m.so" >"$TMP/out" 2>&1 || status=$?
	[ "$status" = 0 ] || fail "$what: exit status $status: $(cat "$TMP/out")"
	grep -q INJECTED "$TMP/trace" || fail "$what: nothing was injected"
	count=$((count + 1))
}

count=0
strace -o "$TMP/plain" "$TMP/program" "$FIXTURES/libtext6m.so" || fail "cannot be traced"
for call in uname fstatfs madvise munmap; do
	grep -q "^$call(" "$TMP/plain" || {
		note "this kernel or filesystem makes no $call"
		continue
	}
	survives "$call" -e inject="$call":error=ENOSYS
done
# Each of the mappings at a chosen address; fixed ones stock musl makes, too, and one without an
# address it could not do without.
grep '^mmap(' "$TMP/plain" | grep -n MAP_FIXED_NOREPLACE | cut -d : -f 1 >"$TMP/chosen"
[ -s "$TMP/chosen" ] || fail "nothing was mapped at a chosen address"
while read -r number; do
	for error in ENOMEM EEXIST EPERM; do
		survives "mmap $number" -e inject=mmap:error=$error:when="$number"
	done
done <"$TMP/chosen"
# A kernel before 4.17 takes the address for a hint, and may map elsewhere: here, where it did before.
first=$(head -n 1 "$TMP/chosen")
before=$(grep '^mmap(' "$TMP/plain" | sed -n "$((first - 1))s/.* = //p")
[ -n "$before" ] || fail "no address before the first chosen one"
headline "$count refusals survived"
