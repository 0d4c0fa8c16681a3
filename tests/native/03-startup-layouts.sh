#!/bin/bash
# SPDX-License-Identifier: MIT
# Libraries of every layout that linkers make (GNU ld and lld; p_align of 4K, 64K, 2M; text in the
# first segment; first address not 0, aligned and not; text whose offset differs from its address;
# two text segments) become congruent, together in one program and each in a program of its own.
# These take both of ld.so's ways: one mmap, and an anonymous over-allocation when p_align exceeds a
# page.
. "$(dirname "$0")/lib.sh"
misaligning_root

compare --at-least 15 "$FIXTURES/layouts"
placement plain --expect-misplaced --only 'libl_bfd.so' >/dev/null ||
	note "libl_bfd.so lay well by luck"

misplaced=
for library in "$FIXTURES"/libl_*.so; do
	name=$(basename "$library")
	case $name in
	libl_none.so | libl_300k.so | libl_100k.so) continue ;;
	esac
	run plain "$FIXTURES/app" "open:$library"
	placement plain --only "$name" --expect-congruent >/dev/null || misplaced="$misplaced $name"
	for mode in audit preload; do
		run "$mode" "$FIXTURES/app" "open:$library"
		same "$mode"
		congruent "$mode" --only "$name" >/dev/null
	done
done
# Those with p_align of 2M are congruent anyway; the others are not.
[ "$(wc -w <<<"$misplaced")" -ge 8 ] || fail "plain misplaced too few of them:$misplaced"
note "alone, plain misplaced:$misplaced"
