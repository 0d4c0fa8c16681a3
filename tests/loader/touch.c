/* SPDX-License-Identifier: MIT */
/*
 * touch.c - how much text of libtext5m.so and libtext10m.so large entries map, once all of it is touched
 *
 * Prints the sum of FilePmdMapped in KiB. Exit 1 when an answer of theirs is wrong.
 */
#include <stdio.h>
#include <string.h>

int text5m_last(void), text10m_last(void);

static void touch_text(void)
{
	char line[4096];
	unsigned long start, end;
	FILE *file = fopen("/proc/self/maps", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (!strstr(line, " r-xp ") || !strstr(line, "/libtext") ||
		    sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		for (; start < end; start += 4096)
			(void)*(volatile char *)start;
	}
}

static unsigned long large_kib(void)
{
	char line[4096];
	unsigned long start, end, kib, sum = 0;
	FILE *file = fopen("/proc/self/smaps", "r");
	int is_text = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			is_text = strstr(line, " r-xp ") && strstr(line, "/libtext");
		if (is_text && sscanf(line, "FilePmdMapped: %lu", &kib) == 1)
			sum += kib;
	}
	return sum;
}

int main(void)
{
	if (text5m_last() != 2 || text10m_last() != 2)
		return 1;
	touch_text();
	printf("%lu\n", large_kib());
	return 0;
}
