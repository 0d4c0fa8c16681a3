#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that maps code from a file in huge pages, whose lengths the kernel rounds up in its own
# units: nothing is mapped over, nothing left behind.
# serial
. "$(dirname "$0")/lib.sh"

pages=/proc/sys/vm/nr_hugepages
free_pages() {
	sed -n 's/^HugePages_Free: *//p' /proc/meminfo
}
grep -q '^Hugepagesize: *2048 kB' /proc/meminfo || skip "huge pages are not of 2 MiB"
if [ "$(free_pages)" -lt 4 ]; then
	need_root "to have huge pages set aside"
	before=$(cat "$pages")
	trap 'echo "$before" >"$pages"; rm -rf "${cleanup_list[@]}"' EXIT
	echo $((before + 4)) >"$pages" || skip "huge pages cannot be set aside"
	[ "$(free_pages)" -ge 4 ] || skip "the kernel finds no huge pages"
fi
run plain "$FIXTURES/hugetlb_exec"
[ "$(cat "$TMP/plain.status")" != 77 ] || skip "huge pages cannot be mapped"
compare_output "$FIXTURES/hugetlb_exec"
[ "$(grep -c ': done, 4096 KiB more' "$TMP/plain.out")" = 20 ] ||
	fail "plain: $(cat "$TMP/plain.out")"
