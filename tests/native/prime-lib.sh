# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# prime-lib.sh - what the scenarios of execalign prime have in common; sources cli-lib.sh
#
# Whether a block is in one folio is judged by cli_map, which touches it in a congruent mapping, and by
# smaps, which counts the PMD entries that came of it. That is neither how prime looks nor how it reads.

. "$(dirname "${BASH_SOURCE[0]}")/cli-lib.sh"
need_x86_64 "smaps shows PMD mappings only"
need jq python3

# need_large_folios - skip unless $TMP lies where the kernel can have folios of 2 MiB
need_large_folios() {
	local major minor kind thp=/sys/kernel/mm/transparent_hugepage/enabled
	[ -e "$thp" ] || skip "this kernel has no transparent huge pages"
	! grep -q '\[never\]' "$thp" || skip "transparent huge pages are off"
	read -r major minor _ < <(uname -r | tr .- '  ')
	[ "$((major * 100 + minor))" -ge 616 ] || skip "Linux $major.$minor may have no large folios of files"
	kind=$(stat -f -c %T "$TMP")
	case $kind in
	ext2/ext3 | xfs | overlayfs) ;;
	*) skip "$TMP is on $kind, which may have no large folios" ;;
	esac
}

# cached_pages FILE - how many there are
cached_pages() {
	"$FIXTURES/evict" -n "$1" | sed 's/.*: \([0-9]*\) pages cached/\1/'
}

# evicted FILE... - nothing of them is cached afterwards
evicted() {
	local file
	for file; do
		for _ in {1..20}; do
			"$FIXTURES/evict" "$file" >/dev/null
			[ "$(cached_pages "$file")" != 0 ] || continue 2
			sleep 0.1
		done
		fail "$file stays cached"
	done
}

# small FILE - all of it is cached in small folios afterwards: at random, nothing is read ahead
small() {
	evicted "$1"
	python3 - "$1" <<-'END'
		import os, sys
		fd = os.open(sys.argv[1], os.O_RDONLY)
		os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
		for offset in range(0, os.fstat(fd).st_size, 4096):
		    os.pread(fd, 1, offset)
	END
}

# nearly_all FILTER BYTES - jq's answer is BYTES, or a little less: pages that the kernel moves at this
# moment, to make room for large ones, are not seen
nearly_all() {
	local answer
	answer=$(query "$1")
	[ "$answer" -le "$2" ] && [ "$answer" -ge $(($2 * 9 / 10)) ] || fail "$1 is $answer, not $2"
}

# whole_blocks FILE - file offset and size of the whole 2 MiB blocks of its only text
whole_blocks() {
	readelf -lW "$1" | python3 -c '
import re, sys
for line in sys.stdin:
    fields = line.split()
    if fields[:1] == ["LOAD"] and "R E" in line:
        offset, size, block = int(fields[1], 16), int(fields[4], 16), 2 << 20
        first, end = -(-offset // block) * block, -(-(offset + size) // 4096) * 4096 // block * block
        print(first, end - first)'
}

# pmd_mapped FILE - bytes of its whole blocks that a program which touches all of them gets by PMD entries
pmd_mapped() {
	local offset bytes
	read -r offset bytes < <(whole_blocks "$1")
	start_map "$1" "$offset" "$bytes" 0 "touch=$bytes"
	smaps_sum FilePmdMapped
	end_map
}
