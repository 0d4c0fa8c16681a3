#!/bin/bash
# SPDX-License-Identifier: MIT
# Private memory that the shim costs a process: at most 12 KiB, as auditor, preloaded and promoted. The
# program itself counts the pages in the span of the shim's copies that are not the page cache's.
. "$(dirname "$0")/lib.sh"
misaligning_root

span_bytes=$(($(readelf -lW "$SHIM" | awk '$1 == "LOAD" { end = $3 " + " $6 } END { print end }')))
for how in audit preload promoted; do
	case $how in
	audit) assign=("LD_AUDIT=$SHIM") ;;
	preload) assign=("LD_PRELOAD=$SHIM" EXECALIGN_PROMOTE=never) ;;
	promoted) assign=("LD_PRELOAD=$SHIM" EXECALIGN_PROMOTE=always) ;;
	esac
	kib=$(env "${assign[@]}" "$FIXTURES/private_memory" "$(basename "$SHIM")" "$span_bytes") ||
		fail "$how: the program failed"
	note "$how: $kib KiB"
	[ "$kib" -le 12 ] || fail "$how: $kib KiB of private memory"
	[ "$kib" -gt 0 ] || fail "$how: the shim is not there"
done
