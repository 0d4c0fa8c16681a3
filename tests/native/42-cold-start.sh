#!/bin/bash
# SPDX-License-Identifier: MIT
# clang started with its libraries evicted from the page cache: under the shim at least 95% of the
# touched whole 2 MiB blocks of libLLVM and libclang-cpp are mapped by one PMD entry each, as smaps
# says at exit. Plain on a file system that does not align there are none.
# serial
. "$(dirname "$0")/lib.sh"
need_x86_64 "smaps shows PMD mappings only"
need clang
read -r major minor _ < <(uname -r | tr .- '  ')
[ "$((major * 100 + minor))" -ge 518 ] ||
	skip "Linux $major.$minor does not read PMD-sized folios when advised"
thp=/sys/kernel/mm/transparent_hugepage/enabled
[ -e "$thp" ] || skip "this kernel has no transparent huge pages"
! grep -q '\[never\]' "$thp" || skip "transparent huge pages are off"

# Evicted from the lower file system, before the overlay is mounted; after that nothing may touch
# the libraries but the run that counts, not even ldd.
if [ -z "${EA_COLD:-}" ]; then
	EA_COLD=$(ldd "$(command -v clang)" | awk '/libLLVM|libclang-cpp/ { print $3 }' |
		xargs -r realpath)
	[ "$(wc -w <<<"$EA_COLD")" = 2 ] || skip "this clang does not use libLLVM and libclang-cpp"
	export EA_COLD
	mapfile -t libraries <<<"$EA_COLD"
	kind=$(stat -f -c %T "${libraries[0]}")
	case $kind in
	ext2/ext3 | xfs) ;;
	*) skip "$kind may have no large folios" ;;
	esac
	for _ in {1..10}; do
		cached=$("$FIXTURES/evict" "${libraries[@]}" | awk '{ sum += $2 } END { print sum }')
		[ "$cached" != 0 ] || break
		sleep 2
	done
	[ "$cached" = 0 ] || skip "another process has the libraries mapped: $cached pages stay cached"
fi
mapfile -t libraries <<<"$EA_COLD"
misaligning_root

printf 'int main(void) { return 0; }\n' >"$TMP/input.c"
# Shares of the mappings with the whole blocks: PMD-mapped of resident.
share() {
	/usr/bin/python3 - "$1" "${libraries[@]}" <<-'END'
		import re, sys
		block = 2 << 20
		resident = mapped = 0
		for entry in re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", open(sys.argv[1]).read()):
		    head = entry.split("\n", 1)[0].split(None, 5)
		    if len(head) < 6 or head[5] not in sys.argv[2:] or "x" not in head[1]:
		        continue
		    start, end = (int(part, 16) for part in head[0].split("-"))
		    # Head and tail of the text lie in no whole block; when advised they are mappings
		    # of their own.
		    if end - start < block:
		        continue
		    field = lambda name: int(re.search(r"^%s:\s+(\d+)" % name, entry, re.M).group(1))
		    resident += field("Rss")
		    mapped += field("FilePmdMapped")
		print(resident, mapped)
	END
}
cold_run() {
	"$FIXTURES/exit_maps" -s "$TMP/smaps" env "$1" clang -O2 -c -o "$TMP/output.o" "$TMP/input.c" ||
		fail "$1: clang failed"
	read -r resident mapped < <(share "$TMP/smaps")
	headline "$1: $resident KiB of whole blocks resident, $mapped KiB of them PMD-mapped"
}
cold_run "LD_AUDIT=$SHIM"
[ "$resident" -ge 10000 ] || fail "clang touched only $resident KiB"
[ "$((mapped * 100))" -ge "$((resident * 95))" ] || fail "less than 95% block-mapped"
cold_run NOTHING=
[ "$mapped" = 0 ] || skip "the plain run has PMD mappings, too: this file system aligns"
