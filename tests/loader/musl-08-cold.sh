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
cat >"$TMP/touch.c" <<'END'
#include <stdio.h>
#include <string.h>
int text5m_last(void), text10m_last(void);
int main(void)
{
	char line[4096];
	unsigned long start, end, kib, sum = 0;
	volatile char byte;
	FILE *file = fopen("/proc/self/maps", "r");
	int is_text = 0;

	if (text5m_last() != 2 || text10m_last() != 2)
		return 1;
	while (fgets(line, sizeof(line), file))
		if (strstr(line, " r-xp ") && strstr(line, "/libtext") &&
			sscanf(line, "%lx-%lx", &start, &end) == 2)
			for (; start < end; start += 4096)
				byte = *(volatile char *)start;
	file = fopen("/proc/self/smaps", "r");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			is_text = strstr(line, " r-xp ") && strstr(line, "/libtext");
		if (is_text && sscanf(line, "FilePmdMapped: %lu", &kib) == 1)
			sum += kib;
	}
	printf("%lu\n", sum);
	return (void)byte, 0;
}
END
musl-gcc -O1 -o "$TMP/touch" "$TMP/touch.c" -Wl,-dynamic-linker,"$patched" -L"$TMP/on" -ltext5m \
	-ltext10m -Wl,-rpath,"$TMP/on"
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
