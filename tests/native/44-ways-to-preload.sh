#!/bin/bash
# SPDX-License-Identifier: MIT
# The ways in which a preload library is named: by a relative path, through a link, by its bare name
# found in LD_LIBRARY_PATH, with ld.so's $ORIGIN-like tokens, in /etc/ld.so.preload. In each the same
# output, and the libraries are congruent.
. "$(dirname "$0")/lib.sh"
misaligning_root

app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" child)
run_plain "${app[@]}"
misplaced_without
name=$(basename "$SHIM")
directory=$(dirname "$SHIM")

# works SAID - the run named preload is as it should be
works() {
	local said
	same preload
	said=$(placement preload --expect-congruent --at-least 3) || fail "$1: $said"
	note "$1: $said"
}
run_prefix=(env -C "$directory")
run_preload=./$name
run preload "${app[@]}"
works "a relative path"
run_prefix=()

ln -s "$SHIM" "$TMP/another-name.so"
run_preload=$TMP/another-name.so
run preload "${app[@]}"
works "a link"

run_preload=$name
run_env=("LD_LIBRARY_PATH=$directory")
run preload "${app[@]}"
works "a bare name"
run_env=()

# $LIB and $PLATFORM are replaced by ld.so, so the link has the name that they make.
loader=$(awk '/\/ld-linux/ { print $6; exit }' "$TMP/plain.maps")
platform=$("$loader" --list-diagnostics 2>/dev/null | sed -n 's/^dl_platform="\(.*\)"/\1/p')
if [ -n "$platform" ]; then
	ln -s "$SHIM" "$TMP/shim-$platform.so"
	run_preload="$TMP/shim-\$PLATFORM.so"
	run preload "${app[@]}"
	works "a token"
	[ ! -s "$TMP/preload.err" ] || fail "a token: $(cat "$TMP/preload.err")"
fi

if [ "${EA_ROOT:-}" = inside ]; then
	# In this scenario's mount namespace, and only for the program: an overlay of /etc.
	# No variable is set, and neither the program nor its children see one.
	mkdir "$TMP/etc" "$TMP/etc-plain"
	echo "$SHIM" >"$TMP/etc/ld.so.preload"
	with_etc() {
		run_prefix=(unshare --mount sh -c 'mount -t overlay -o "lowerdir=$0:/etc" none /etc &&
			exec "$@"' "$1")
	}
	run_env=(LD_PRELOAD=)
	run_preload=
	program=("$FIXTURES/state" env auxv names visible)
	with_etc "$TMP/etc-plain"
	run_plain "${program[@]}"
	with_etc "$TMP/etc"
	run preload "${program[@]}"
	same preload
	congruent preload
fi
