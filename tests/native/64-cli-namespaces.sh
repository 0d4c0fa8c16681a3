#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign report on processes in other mount namespaces and roots, and on files of overlays: the
# file that is mapped is judged, not one that has its name here.
. "$(dirname "$0")/cli-lib.sh"
need_x86_64 "the figures are those of 2 MiB blocks"
need jq unshare
need_root "other mount namespaces and roots"
unshare --mount true 2>/dev/null || skip "no mount namespace can be made"

library=$FIXTURES/libtext10m.so
read -r lib_offset lib_bytes < <(readelf -lW "$library" | awk '$1 == "LOAD" && $0 ~ / R E / { print $2, $5 }')
map_offset=$((lib_offset & ~4095))
# Less than all of the segment, so that its size is known only to who reads the headers.
map_bytes=$((6 << 20))
gcc -static -o "$TMP/cli_map" "$EA_TOP/tests/fixtures/cli_map.c"

# start PREFIX... -- FILE - cli_map on FILE, run by PREFIX
start() {
	local prefix=()
	while [ "$1" != -- ]; do
		prefix+=("$1")
		shift
	done
	exec {map_hold}> >(exec "${prefix[@]}" "$map_program" "$2" $map_offset $map_bytes 8192 \
		touch=$map_bytes >"$TMP/address" 2>"$TMP/map.err")
	map_pid=$!
	for _ in $(seq 200); do
		[ ! -s "$TMP/address" ] || break
		sleep 0.05
	done
	[ -s "$TMP/address" ] || fail "cli_map: $(cat "$TMP/map.err")"
	cli 0 report --json "$map_pid"
	consistent
}
map_program=$TMP/cli_map
object='[.processes[0].objects[] | select(.path | endswith("/lib"))][0]'

# --- Another file of the same name here
mkdir "$TMP/mnt"
echo 'not the library' >"$TMP/mnt/lib"
# shellcheck disable=SC2016 # for the inner shell
start unshare --mount --propagation private sh -c '
	mount -t tmpfs none "$1" && cp "$2" "$1/lib" && shift 2 && exec "$@"' sh "$TMP/mnt" "$library" -- "$TMP/mnt/lib"
expect "$object | .path" "$TMP/mnt/lib"
expect "$object | .deleted" false
expect "$object | .text_bytes" $((lib_bytes))
expect "$object | .distance_bytes" 8192
# Blocks begin at 2 MiB of the file.
expect "$object | .touched_bytes" $((map_offset + map_bytes - (2 << 20)))
[[ $(query "$object | .reason.text") == *'tmpfs does not align mappings'* ]] ||
	fail "reason: $(query "$object | .reason.text")"
# The same without the privilege to follow map_files: by name, in the process's own namespace.
cli_prefix=(setpriv "--bounding-set=-sys_admin,-checkpoint_restore")
if "${cli_prefix[@]}" true 2>/dev/null; then
	cli 0 report --json "$map_pid"
	expect "$object | .text_bytes" $((lib_bytes))
fi
cli_prefix=()
end_map

# --- Covered by another file of the same filesystem
cp "$library" "$TMP/lib"
start unshare --mount --propagation private -- "$TMP/lib"
echo 'not the library' >"$TMP/cover"
nsenter --target "$map_pid" --mount mount --bind "$TMP/cover" "$TMP/lib"
cli 0 report --json "$map_pid"
expect "$object | .inode" "$(stat -c %i "$TMP/lib")"
expect "$object | .text_bytes" $((lib_bytes))
end_map
rm "$TMP/lib"

# --- Another root
mkdir "$TMP/root"
cp "$library" "$TMP/root/lib"
cp "$TMP/cli_map" "$TMP/root/"
map_program=/cli_map
start chroot "$TMP/root" -- /lib
expect "$object | .inode" "$(stat -c %i "$TMP/root/lib")"
expect "$object | .text_bytes" $((lib_bytes))
end_map
map_program=$TMP/cli_map

# --- A name that leads to something else by now: nothing is opened that could block or act
mkfifo "$TMP/fifo"
cp "$library" "$TMP/lib"
start env -- "$TMP/lib"
mv "$TMP/fifo" "$TMP/lib"
cli_prefix=(timeout 20)
cli 0 report --json "$map_pid"
expect "$object | .deleted" true
# Without the privileges, the headers come out of the process's memory where that is allowed.
cli_prefix=(timeout 20 setpriv "--bounding-set=-sys_admin,-checkpoint_restore")
cli 0 report --json "$map_pid"
expect "$object | .deleted" true
expect "$object | .distance_bytes" 8192
cli_prefix=()
end_map
rm "$TMP/lib"

# --- Overlay: the layer that has the file is the one whose folios count
mkdir "$TMP/lower" "$TMP/upper" "$TMP/work" "$TMP/merged" "$TMP/lower,with:odd names"
cp "$library" "$TMP/lower,with:odd names/lib"
# shellcheck disable=SC2016 # for the inner shell
mount_overlay='
	mount -t tmpfs none "$TMP/upper" && mkdir "$TMP/upper/u" "$TMP/upper/w" &&
	mount -t overlay -o "lowerdir=$TMP/lower\,with\:odd names:$TMP/lower,upperdir=$TMP/upper/u,workdir=$TMP/upper/w" \
		none "$TMP/merged" || exit 1
'
export TMP
if unshare --mount --propagation private sh -c "$mount_overlay" 2>/dev/null; then
	start unshare --mount --propagation private sh -c "$mount_overlay"'exec "$@"' sh -- "$TMP/merged/lib"
	expect "$object | .text_bytes" $((lib_bytes))
	[[ $(query "$object | .reason.text") == *'overlay does not align mappings'* ]] ||
		fail "reason: $(query "$object | .reason.text")"
	end_map
	# shellcheck disable=SC2016 # for the inner shell
	cli_prefix=(unshare --mount --propagation private sh -c "$mount_overlay"'exec "$@"' sh)
	cli 0 doctor --json "$TMP/merged" "$TMP/merged/lib"
	expect '[.checks[] | select(.name == "alignment") | .status] | join(" ")' 'limits limits'
	expect '[.checks[] | select(.name == "folios") | .values.layer] | join(" ")' \
		"$TMP/upper/u $TMP/lower,with:odd names"
	expect '[.checks[] | select(.name == "folios")][0].values.filesystem' tmpfs
	expect '[.checks[] | select(.name == "folios")][1].values.filesystem' "$(stat -f -c %T "$TMP" | sed 's:/.*::; s/^ext2$/ext4/')"
	cli_prefix=()
else
	note "NOTE: overlay not tried: it cannot be mounted here"
fi
