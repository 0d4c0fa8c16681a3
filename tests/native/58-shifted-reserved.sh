#!/bin/bash
# SPDX-License-Identifier: MIT
# A library whose text has another address than offset (lld's layout), with p_align above a page, on
# a filesystem that aligns: ld.so reserves anonymous memory for it, so the filesystem is not asked,
# and any place is possible. The shim took it for the filesystem's decision and gave up.
. "$(dirname "$0")/lib.sh"

aligns "$FIXTURES/libtext10m.so" ||
	skip "the filesystem of $FIXTURES does not align; ext4, xfs and btrfs do"
for name in libl_lld64k.so libl_align64k.so; do
	for mode in audit preload; do
		run "$mode" "$FIXTURES/app" "open:$FIXTURES/$name"
		congruent "$mode" --only "$name"
	done
done
