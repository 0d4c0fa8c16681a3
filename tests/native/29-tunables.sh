#!/bin/bash
# SPDX-License-Identifier: MIT
# GLIBC_TUNABLES that were set already stay in force in a promoted program, and the program and its
# children see the variable as the user wrote it.
. "$(dirname "$0")/lib.sh"
misaligning_root

filter='/^env LD_(PRELOAD|AUDIT)=/d'
perturb=glibc.malloc.perturb=165
run_env=("GLIBC_TUNABLES=$perturb")
compare --at-least 1 --filter "$filter" "$FIXTURES/state" env heap
grep -qx 'heap 5a' "$TMP/plain.out" ||
	fail "the tunable has no effect even plain: $(cat "$TMP/plain.out")"
tls=glibc.rtld.optional_static_tls
# What glibc versions read differently: nothing is promised but the output.
for value in ":$perturb" "not-a-tunable" "$tls=junk:$perturb" "$tls=:$perturb" "=" ":" "::" \
	"$perturb::$tls=1"; do
	run_env=("GLIBC_TUNABLES=$value")
	compare_output --filter "$filter" "$FIXTURES/state" env heap
done
for value in "$perturb:$tls=3000" "$tls=3000:$perturb" "$perturb:" "" "glibc.nothing=1:$perturb" \
	"$perturb:glibc.malloc.perturb=90" "$perturb:$tls=0"; do
	run_env=("GLIBC_TUNABLES=$value")
	compare --at-least 1 --filter "$filter" "$FIXTURES/state" env heap
done
run_env=("GLIBC_TUNABLES=$perturb")
compare_output --filter "/LD_(PRELOAD|AUDIT)=/d" perl -e 'system("env | sort"); print "done\n"'
