/* SPDX-License-Identifier: MIT */
/*
 * address_space_model.h - a naive model of how the kernel chooses addresses, and of what ld.so asks
 *
 * The address space is a sorted list of mapped ranges. A mapping without an address goes to the top
 * of the highest gap that is large enough, or, bottom-up, to the bottom of the lowest one. There is
 * no search tree here and no shortcut: every question is answered by walking the list.
 *
 * Left out: the second, bottom-up search above the mmap base that the kernel makes when a top-down
 * search finds nothing, guard gaps below stacks, and the merging of neighbours (which changes no
 * address).
 */
#ifndef ADDRESS_SPACE_MODEL_H
#define ADDRESS_SPACE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/gap.h"

#define SPACE_RANGES_MAX 256

/* struct space_range - [start, end), both page-aligned */
struct space_range {
	uint64_t start;
	uint64_t end;
};

/* struct address_space - inputs above the blank line, state below */
struct address_space {
	uint64_t low;  /* lowest address that the search may use */
	uint64_t high; /* the address behind the highest one */
	uint64_t page_bytes;
	uint64_t pmd_bytes;
	int bottom_up;
	int files_align;      /* the filesystem has thp_get_unmapped_area() */
	int anonymous_aligns; /* multiples of the PMD are aligned without a file, as from 6.7 on */
	int pads_below;	      /* a padded search that lands aligned stays there, as before 6.8 */

	size_t count;
	struct space_range ranges[SPACE_RANGES_MAX];
};

/* enum space_kind - what is mapped: decides who chooses the address */
enum space_kind {
	SPACE_ANONYMOUS,
	SPACE_FILE,
};

/* space_is_free - is nothing mapped in [addr, addr + bytes)? */
int space_is_free(const struct address_space *space, uint64_t addr, uint64_t bytes);

/*
 * space_mmap - mmap without MAP_FIXED
 * @hint: address wanted, 0 for none
 * @bytes: rounded up to pages
 *
 * Returns the address or -ENOMEM.
 */
int64_t space_mmap(
	struct address_space *space, uint64_t hint, uint64_t bytes, enum space_kind kind);

/*
 * space_mmap_noreplace - mmap with MAP_FIXED_NOREPLACE
 *
 * It may go to the other side of the mmap base, where the search begins, but not beyond the end of
 * the address space, where the search ends. Returns 0, -EEXIST, -ENOMEM beyond the end, or -EINVAL
 * for an address that is no page.
 */
int space_mmap_noreplace(struct address_space *space, uint64_t addr, uint64_t bytes);

/* space_munmap - unmap whatever lies in [addr, addr + bytes); 0, or -EINVAL for no page */
int space_munmap(struct address_space *space, uint64_t addr, uint64_t bytes);

/*
 * space_first_gap - the gap that the next mmap of @bytes goes to, if no file system aligns it
 *
 * Returns 1 and fills @gap, or 0 when nothing is large enough.
 */
int space_first_gap(const struct address_space *space, uint64_t bytes, struct space_range *gap);

/*
 * space_reachable - is there any gap in which ld.so's mapping would be congruent at some address?
 *
 * Tries every page of every gap.
 */
int space_reachable(const struct address_space *space, const struct ea_gap_request *request);

/*
 * space_ld_so_mmap - the first mmap that ld.so makes for a library, in the form that p_align
 * demands
 *
 * Returns the start of what was mapped, before any rounding, or -errno.
 */
int64_t space_ld_so_mmap(struct address_space *space, const struct ea_gap_request *request);

/*
 * space_ld_so_map - place a library as ld.so does: that mmap, and with a large p_align the rounding
 * and the trimming of head and tail
 *
 * Returns the address of the library's first page, or -errno.
 */
int64_t space_ld_so_map(struct address_space *space, const struct ea_gap_request *request);

#endif
