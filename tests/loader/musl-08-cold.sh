#!/bin/bash
# SPDX-License-Identifier: MIT
# From a cold cache, every whole block of text is mapped large, once it is touched; with advice that is
# not given, for a filesystem or a kernel that it does not help, nothing is lost.
# timeout: 2400
# serial
. "$(dirname "$0")/lib.sh"
musl_loaders

mkdir "$TMP/on"
case $(stat -f -c %T "$TMP") in
ext2/ext3 | xfs | erofs) ;;
*) skip "needs ext4 or xfs under $TMP" ;;
esac
read -r major minor < <(uname -r | sed -nE 's/^([0-9]+)\.([0-9]+).*/\1 \2/p')
[ $((major * 1000 + minor)) -ge 6016 ] || skip "needs Linux 6.16 for large folios of ext4"
grep -q FilePmdMapped /proc/self/smaps || skip "the kernel has no FilePmdMapped"

cp "$FIXTURES"/libtext{5m,10m}.so "$TMP/on/"
musl-gcc -O1 -o "$TMP/touch" "$EA_TOP/tests/loader/touch.c" -Wl,-dynamic-linker,"$patched" \
	-L"$TMP/on" -ltext5m -ltext10m -Wl,-rpath,"$TMP/on"
sync "$TMP/on"/*

# large - KiB of text in PMD entries, from a cold cache
large() {
	local file
	for file in "$TMP"/on/*.so; do
		dd if="$file" iflag=nocache count=0 status=none
	done
	"$@" "$TMP/touch" || fail "the fixture does not run"
}
# 1 block in the text of 5 MiB that begins at 4 KiB, 4 in that of 10 MiB.
without=$(large env LD_EXEC_ALIGN=0)
with=$(large)
[ "$with" = 10240 ] || with=$(large)
[ "$without" -lt 10240 ] || skip "all of it is mapped large without the patch here"
[ "$with" = 10240 ] || fail "$with of 10240 KiB in large entries, $without without"
headline "10240 of 10240 KiB in large entries, $without without"
