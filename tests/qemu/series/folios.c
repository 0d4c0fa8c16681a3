// SPDX-License-Identifier: MIT
/*
 * folios.c - the folios that a file has in the page cache
 *
 *	folios FILE
 *
 * Prints "FOLIO offset=BYTES bytes=BYTES order=N mark=0|1" for each, in the order of the file; mark
 * is that of read-ahead, which is the bit KPF_RECLAIM of a folio that is clean. Root only.
 *
 * To learn page frames, it maps what mincore() says is cached and touches that alone, under
 * MADV_RANDOM: nothing is read, and marks stay (do_async_mmap_readahead(), Linux 7.2).
 * Exit: 0 done, 2 cannot (one line on stderr).
 */
#define _GNU_SOURCE
#include "series.h"

#include <inttypes.h>

static int pagemap, kpageflags;

/* 0 if it has been dropped meanwhile. */
static uint64_t frame_at(const volatile char *page)
{
	uint64_t entry;

	(void)*page;
	if (read_items(pagemap, (uintptr_t)page / page_bytes(), &entry, 1) != 1)
		die("cannot read /proc/self/pagemap: %s", strerror(errno));
	return entry & PAGEMAP_PRESENT ? entry & PAGEMAP_FRAME : 0;
}

static unsigned int order_of(uint64_t pages)
{
	return 63 - (unsigned int)__builtin_clzll(pages);
}

/* Prints the folio around page number INDEX; returns the number of the page after it. */
static uint64_t print_folio(uint64_t frame, uint64_t index)
{
	struct folio folio = folio_of(kpageflags, frame);
	uint64_t first = index - (frame - folio.first_frame);

	printf("FOLIO offset=%" PRIu64 " bytes=%" PRIu64 " order=%u mark=%d\n",
		first * page_bytes(), folio.pages * page_bytes(), order_of(folio.pages),
		(int)HAS(folio.flags, KPF_RECLAIM));
	return first + folio.pages;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open_or_die(argv[1], O_RDONLY) : -1;
	uint64_t pages, index = 0, frame;
	unsigned char *cached;
	char *map;

	if (fd < 0)
		die("usage: folios FILE");
	pagemap = open_or_die("/proc/self/pagemap", O_RDONLY);
	kpageflags = open_or_die("/proc/kpageflags", O_RDONLY);
	pages = round_up(size_of(fd), page_bytes()) / page_bytes();
	cached = malloc(pages);
	map = mmap(NULL, pages * page_bytes(), PROT_READ, MAP_SHARED, fd, 0);
	if (!pages || !cached || map == MAP_FAILED ||
		madvise(map, pages * page_bytes(), MADV_RANDOM) ||
		mincore(map, pages * page_bytes(), cached))
		die("cannot map %s: %s", argv[1], strerror(errno));
	while (index < pages) {
		frame = cached[index] & 1 ? frame_at(map + index * page_bytes()) : 0;
		if (frame)
			index = print_folio(frame, index);
		else
			index++;
	}
	return 0;
}
