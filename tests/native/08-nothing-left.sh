#!/bin/bash
# SPDX-License-Identifier: MIT
# When the loader looks a library up and does not map it, or maps it and gives up, nothing that the
# shim reserved for it is left behind: files that are loaded already under another name,
# RTLD_NOLOAD, missing files, files that are no libraries, libraries that cannot be bound. The next
# one is still placed.
. "$(dirname "$0")/lib.sh"
misaligning_root

library=$FIXTURES/libtext6m.so
mkdir "$TMP/bad"
ln -s "$library" "$TMP/bad/liblink.so"
head -c 3000000 /dev/urandom >"$TMP/bad/librandom.so"
: >"$TMP/bad/libempty.so"
head -c 40 "$library" >"$TMP/bad/libhalf-header.so"
head -c 100 "$library" >"$TMP/bad/libno-segments.so"
mkdir "$TMP/bad/libdirectory.so"
echo 'INPUT(-lc)' >"$TMP/bad/libscript.so"
patch_byte() {
	cp "$library" "$TMP/bad/$1"
	printf '%b' "\\x$3" | dd of="$TMP/bad/$1" bs=1 seek="$2" conv=notrunc status=none
}
patch_byte lib32bit.so 4 01
patch_byte libbig-endian.so 5 02
patch_byte libother-machine.so 18 b7
patch_byte libprogram.so 16 02
patch_byte libmany-segments.so 57 ff
patch_byte libfar-segments.so 39 7f

commands=(reserved "open:$library" "open:$TMP/bad/liblink.so" reserved "noload:$library"
	"noload:$FIXTURES/libtext300k.so" "noload:$FIXTURES/libl_bfd.so" "noload:$TMP/missing.so" reserved)
for file in missing.so missing/libfar.so bad bad/librandom.so bad/libempty.so \
	bad/libhalf-header.so \
	bad/libno-segments.so bad/libdirectory.so bad/libscript.so bad/lib32bit.so bad/libbig-endian.so \
	bad/libother-machine.so bad/libprogram.so bad/libfar-segments.so; do
	commands+=("fail:$TMP/$file" reserved)
done
# More program headers than any library has; glibc takes it.
commands+=("open:$TMP/bad/libmany-segments.so" close reserved)
commands+=("fail:libnowhere-to-be-found.so" "fail:$FIXTURES/libunresolved.so" reserved
	"fail:$FIXTURES/libunresolved.so" reserved
	"open:$FIXTURES/libl_large.so" close close reserved "open:$FIXTURES/libl_large.so" reserved)
compare --at-least 4 "$FIXTURES/app" "${commands[@]}"
grep -qx 'reserved: 0 mappings, 0 bytes' "$TMP/plain.out" || fail "plain reserves something itself"
for mode in audit preload; do
	left=$(grep -c -- '---p .* 0 *$' "$TMP/$mode.maps" || :)
	[ "$left" = 0 ] || fail "$mode: $left inaccessible mappings at exit"
done
