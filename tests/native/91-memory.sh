#!/bin/bash
# SPDX-License-Identifier: MIT
# Private dirty memory that the shim costs a process: at most 12 KiB, as auditor, preloaded and
# promoted, with the mappings of its file and what it mapped for itself counted from smaps.
# timeout: 30
. "$(dirname "$0")/lib.sh"
misaligning_root

# Of the library's own mappings, and of the anonymous memory right behind them as far as .bss goes.
dirty() {
	/usr/bin/python3 - "$1" "$SHIM" <<-'END'
		import re, struct, sys
		image = open(sys.argv[2], "rb").read(4096)
		(table,), count = struct.unpack_from("<Q", image, 32), struct.unpack_from("<H", image, 56)[0]
		loads = [struct.unpack_from("<IIQQQQQQ", image, table + 56 * index) for index in range(count)]
		last = [load for load in loads if load[0] == 1][-1]
		file_end, memory_end = ((last[3] + size + 4095) // 4096 for size in (last[5], last[6]))
		bss_kib = (memory_end - file_end) * 4
		total, last_end = 0, None
		for entry in re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", open(sys.argv[1]).read()):
		    head = entry.split("\n", 1)[0].split(None, 5)
		    start, end = head[0].split("-")
		    name = head[5] if len(head) > 5 else ""
		    kib = int(re.search(r"^Private_Dirty:\s+(\d+)", entry, re.M).group(1))
		    if name == sys.argv[2]:
		        total += kib
		        last_end = end
		    elif name == "" and start == last_end:
		        total += min(kib, bss_kib)
		print(total)
	END
}
for how in audit preload promoted; do
	case $how in
	audit) assign=("LD_AUDIT=$SHIM") ;;
	preload) assign=("LD_PRELOAD=$SHIM" EXECALIGN_PROMOTE=never) ;;
	promoted) assign=("LD_PRELOAD=$SHIM" EXECALIGN_PROMOTE=always) ;;
	esac
	"$FIXTURES/exit_maps" -s "$TMP/smaps" env "${assign[@]}" "$FIXTURES/app" call \
		"open:$FIXTURES/libtext6m.so" >/dev/null || fail "$how: the program failed"
	grep -q "$SHIM" "$TMP/smaps" || fail "$how: the shim is not mapped"
	kib=$(dirty "$TMP/smaps")
	copies=$(grep -c "r-xp.* $SHIM\$" "$TMP/smaps")
	note "$how: $kib KiB private dirty in $copies copies"
	[ "$kib" -le 12 ] || fail "$how: $kib KiB of private dirty memory"
	[ "$kib" -gt 0 ] || fail "$how: nothing found in smaps"
done
