#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign report PID: a mapping made on purpose, congruent and misplaced, whole and in parts; names
# with blanks, newlines and other bytes; deleted files; processes that are not there or not ours.
. "$(dirname "$0")/cli-lib.sh"
need_x86_64 "the figures are those of 2 MiB blocks"
need jq

mib=$((1 << 20))
data=$TMP/data
head -c $((7 * mib)) /dev/urandom >"$data"

# object FILTER - of the one mapped file that is wanted
object() {
	echo "[.processes[0].objects[] | select(.inode == $(stat -c %i "${1:-$data}"))] | length as \$n | .[0]"
}
# report_map - JSON of the process, which has to hold the file once
report_map() {
	cli 0 report --json "$map_pid"
	consistent
	object=$(object "$@")
	expect "$object | \$n" 1
	expect '.processes[0].pid' "$map_pid"
	expect '.processes[0].comm' cli_map
}

# --- Congruent: 7 MiB from file offset 1 MiB on hold the blocks 2..4 and 4..6 MiB
start_map "$data" $mib $((6 * mib)) 0 touch=$((3 * mib))
report_map
expect "$object | .text_bytes" $((6 * mib))
expect "$object | .block_bytes" $((2 * mib))
expect "$object | .whole_blocks_bytes" $((4 * mib))
expect "$object | .congruent" true
expect "$object | .eligible" true
expect "$object | .distance_bytes" 0
expect "$object | .path" "$data"
expect "$object | .deleted" false
expect "$object | .role" library
expect "$object | .texts[0].address" "$map_address"
expect "$object | .texts[0].file_offset_bytes" $mib
expect "$object | .texts[0].vmas" 1
# The witness for all of it: smaps. Of the touched 3 MiB the first one is outside of the blocks.
rss=$(smaps_sum Rss)
[ "$rss" -ge $((3 * mib)) ] || fail "smaps says $rss bytes are resident"
expect "$object | .present_bytes" "$rss"
expect "$object | .touched_bytes" $((rss - mib))
expect "$object | .block_mapped_bytes" "$(smaps_sum FilePmdMapped)"
# As a user that may read the process, but no page frames.
if [ "$(id -u)" = 0 ]; then
	expect "$object | .folios != null" true
	cli_prefix=(setpriv --bounding-set=-sys_admin)
	if "${cli_prefix[@]}" true 2>/dev/null; then
		report_map
		expect "$object | .folios" null
		expect "$object | .touched_bytes" $((rss - mib))
		expect '.totals.folios' null
	fi
	cli_prefix=()
fi
cli 0 report "$map_pid"
said out "process $map_pid (cli_map), without the shim"
grep -Eq "^ +6 MiB +2 MiB +yes +4 MiB .*$data\$" "$TMP/out" || fail "$(cat "$TMP/out")"
end_map
refuses 2 "$map_pid" 'no such process' report "$map_pid"

# --- Misplaced: by how much, and that it fails the check
for distance in 4096 $((mib + 8192)) $((2 * mib - 4096)); do
	start_map "$data" 0 $((4 * mib)) $distance touch=$((4 * mib))
	report_map
	expect "$object | .congruent" false
	expect "$object | .distance_bytes" $distance
	expect "$object | .whole_blocks_bytes" $((4 * mib))
	expect "$object | .touched_bytes" $((4 * mib))
	expect "$object | .block_mapped_bytes" 0
	expect "$object | .reason.code" base
	expect .mapped_large no
	cli 1 report --check "$map_pid"
	said out 'off: '
	end_map
done

# --- Nothing eligible: too small, wherever it is
start_map "$data" 4096 $((3 * mib)) 0
report_map
expect "$object | .eligible" false
expect "$object | .block_bytes" null
expect "$object | .congruent" null
expect "$object | .reason.code" too-small
cli 0 report --check "$map_pid"
cli 0 report "$map_pid"
! grep -qF "$data" "$TMP/out" || fail "shown without --verbose"
cli 0 report --verbose "$map_pid"
said out "$data"
end_map

# --- Congruent, not touched: nothing is missing
start_map "$data" 0 $((4 * mib)) 0
report_map
expect "$object | .touched_bytes" 0
expect "$object | .reason.code" not-touched
cli 0 report --check "$map_pid"
end_map

# --- In several mappings, as after advice: one text. A boundary inside a block keeps it from being one
start_map "$data" 0 $((6 * mib)) 0 advise=$((3 * mib)) touch=$((6 * mib))
report_map
expect "$object | .texts | length" 1
expect "$object | .texts[0].vmas" 2
expect "$object | .text_bytes" $((6 * mib))
expect "$object | .whole_blocks_bytes" $((6 * mib))
expect "$object | .reason.code" vma-end
end_map

# --- What is writable for now is not text
start_map "$data" 0 $((6 * mib)) 0 touch=$((6 * mib)) split=$((3 * mib))
report_map
expect "$object | .texts | length" 2
expect "$object | .text_bytes" $((6 * mib - 4096))
end_map

# --- An ELF library, of which the headers say what the text is
library=$FIXTURES/libtext10m.so
read -r lib_offset lib_bytes < <(readelf -lW "$library" | awk '$1 == "LOAD" && $0 ~ / R E / { print $2, $5 }')
elf_address=$((lib_offset))
# Where the block was mapped large, the hole unmaps the rest of it until it is touched again.
start_map "$library" $((elf_address & ~4095)) $(((lib_bytes + 4095) & ~4095)) 0 touch=$((8 * mib)) \
	hole=$((5 * mib)) touch=$((8 * mib))
report_map "$library"
expect "$object | .text_bytes" $((lib_bytes))
expect "$object | .texts | length" 1
expect "$object | .texts[0].vmas" 2
expect "$object | .texts[0].file_offset_bytes" "$elf_address"
expect "$object | .congruent" true
expect "$object | .reason.code" not-from-file
cli 1 report --check "$map_pid"
end_map

# --- Huge pages disabled
start_map "$data" 0 $((4 * mib)) 0 disable touch=$((4 * mib))
report_map
expect "$object | .reason.code" thp-disabled
end_map

# --- Read in large folios, if this filesystem and kernel do that: then the check says yes
huge=$TMP/huge
head -c $((6 * mib)) /dev/urandom >"$huge"
"$FIXTURES/evict" "$huge" >/dev/null 2>&1 || :
start_map "$huge" 0 $((6 * mib)) 0 advise=$((6 * mib)) touch=$((6 * mib))
report_map "$huge"
expect "$object | .block_mapped_bytes" "$(smaps_sum FilePmdMapped)"
if [ "$(smaps_sum FilePmdMapped)" = $((6 * mib)) ]; then
	expect "$object | .reason" null
	expect .mapped_large yes
	[ "$(id -u)" != 0 ] || expect "$object | .folios[-1] | .folio_bytes, .text_bytes" \
		"$(printf '%s\n' $((2 * mib)) $((6 * mib)))"
	cli 0 report --check "$map_pid"
else
	note "NOTE: no file is mapped by PMDs here"
	expect .mapped_large no
fi
end_map

# --- Names
for name in 'with blank' $'new\nline' 'back\012slash' $'\001\033[31m' $'latin\351' 'name (deleted)' "quote\"'"; do
	path=$TMP/$name
	cp "$data" "$path"
	start_map "$path" 0 $((2 * mib)) 0
	report_map "$path"
	expect "$object | .deleted" false
	case $name in
	latin*) expect "$object | .path" "$TMP/latin\\xe9" ;;
	*) [ "$(query "$object | .path")" = "$path" ] || fail "$name: $(query "$object | .path")" ;;
	esac
	cli 0 report "$map_pid"
	[ "$(grep -c "$TMP" "$TMP/out")" = 1 ] || fail "$name: $(cat -v "$TMP/out")"
	! grep -q $'\001\|\033' "$TMP/out" || fail "$name: control characters on the terminal"
	end_map
	rm "$path"
done

# The name alone leads to the file where map_files is out of reach; then its headers tell how large the
# text is.
for name in $'new\nline' 'back\012slash'; do
	path=$TMP/$name
	cp "$library" "$path"
	start_map "$path" $((elf_address & ~4095)) $((4 * mib)) 0
	cli_prefix=()
	[ "$(id -u)" != 0 ] || cli_prefix=(setpriv "--bounding-set=-sys_admin,-checkpoint_restore")
	report_map "$path"
	expect "$object | .text_bytes" $((lib_bytes))
	cli_prefix=()
	end_map
	rm "$path"
done

# --- Deleted, and replaced by another file of that name
cp "$library" "$TMP/gone"
start_map "$TMP/gone" $((elf_address & ~4095)) $(((lib_bytes + 4095) & ~4095)) 4096
inode=$(stat -c %i "$TMP/gone")
cp "$data" "$TMP/other"
mv "$TMP/other" "$TMP/gone"
cli 0 report --json "$map_pid"
consistent
object="[.processes[0].objects[] | select(.inode == $inode)][0]"
expect "$object | .path" "$TMP/gone"
expect "$object | .deleted" true
expect "$object | .distance_bytes" 4096
expect "$object | .block_bytes" $((2 * mib))
# Through map_files, by which root reaches the file itself, the text is the ELF segment's.
[ "$(id -u)" != 0 ] || expect "$object | .text_bytes" $((lib_bytes))
cli 0 report "$map_pid"
said out "$TMP/gone (deleted)"
end_map

# --- Not there, not ours, not a program
sh -c 'exit 0' &
zombie=$!
sleep 0.2
if [ "$(awk '{ print $3 }' "/proc/$zombie/stat" 2>/dev/null)" = Z ]; then
	refuses 2 "$zombie" 'has ended' report "$zombie"
fi
wait
for pid in /proc/[0-9]*; do
	if [ -z "$(tr -d '\0' <"$pid/cmdline" 2>/dev/null)" ] && [ "$(awk '{ print $3 }' "$pid/stat")" != Z ]; then
		refuses 2 "${pid#/proc/}" 'kernel thread' report "${pid#/proc/}"
		break
	fi
done
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$CLI"; then
	start_map "$data" 0 $((2 * mib)) 0
	cli_prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	refuses 2 "$map_pid" 'not yours to read' report "$map_pid"
	cli 0 report --json --all
	consistent
	[ "$(query .skipped.denied)" -ge 1 ] || fail "nothing was denied"
	expect .mapped_large unknown
	cli 2 report --check --all
	said err 'cannot tell'
	cli 0 report --all
	said out 'that you may not read'
	cli_prefix=()
	end_map
fi

# --- All processes: the sum of the parts
start_map "$data" 0 $((4 * mib)) 4096
cli 0 report --json --all
consistent
object="[.objects[] | select(.inode == $(stat -c %i "$data"))][0]"
expect "$object | .processes" 1
expect "$object | .congruent_processes" 0
expect "$object | .whole_blocks_bytes" $((4 * mib))
expect '([.objects[].whole_blocks_bytes] | add) == .totals.whole_blocks_bytes' true
expect '([.objects[].processes] | add) == ([.processes[].objects | length] | add)' true
expect "[.processes[] | select(.pid == $map_pid)] | length" 1
cli 1 report --check --all
said out "$data"
end_map
