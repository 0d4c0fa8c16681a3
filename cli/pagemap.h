/* SPDX-License-Identifier: MIT */
/*
 * pagemap.h - which pages are mapped, and in which folios: /proc/PID/pagemap, /proc/kpageflags
 *
 * Anybody who may read a process's maps may see which of its pages are present. Where they are in
 * physical memory takes CAP_SYS_ADMIN, and kpageflags is root's.
 */
#ifndef CLI_PAGEMAP_H
#define CLI_PAGEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Folio orders counted; the largest page-cache folio is of order 13 (128 MiB of 16K pages). */
#define FOLIO_ORDERS 16

/*
 * Page flags read from kpageflags at a time. Few, since the frames of small folios are scattered:
 * each read would bring mostly entries that nobody asks for, and the kernel works on every one.
 */
#define PAGE_FLAGS_CACHED 32

/* struct folio - physically contiguous pages that the page cache treats as one */
struct folio {
	uint64_t first_pfn;
	uint64_t pages;		 /* 1 for a single page; 0: none looked up yet */
};

/* struct page_flags - /proc/kpageflags, or the lack of it */
struct page_flags {
	int fd;			 /* -1: folios cannot be told */
	uint64_t cached_first;
	size_t cached_count;
	uint64_t cached[PAGE_FLAGS_CACHED];
	struct folio last;
};

/*
 * page_flags_open - open kpageflags if both it and page frame numbers can be read
 *
 * Context: /proc is mounted. fd is -1 afterwards if not.
 */
void page_flags_open(struct page_flags *flags);

void page_flags_close(struct page_flags *flags);

/* page_flags_forget - look again: pages may have been freed and used for others since */
void page_flags_forget(struct page_flags *flags);

/* struct present - what pagemap says of a range of addresses; may be added up over ranges */
struct present {
	uint64_t bytes;		 /* of pages that the page tables map */
	uint64_t shared_bytes;	 /* of these, also mapped elsewhere */
	uint64_t folio_bytes[FOLIO_ORDERS]; /* of these, by folio order, where folios are known */
};

/*
 * pagemap_range - look at one range within one mapping
 * @fd: /proc/PID/pagemap
 * @page_bytes: base page size; @start and @bytes are multiples of it
 * @present: the range's pages are added
 * @one_run: receives whether all of the range is mapped to one contiguous, naturally aligned run
 *	of pages inside one folio: what one large TLB entry can map. May be NULL. False where folios
 *	are not known
 *
 * Returns 0 or -errno, -ENODATA where the address space has gone. Any context.
 */
int pagemap_range(int fd, struct page_flags *flags, uint64_t page_bytes, uint64_t start,
	uint64_t bytes, struct present *present, bool *one_run);

#endif
