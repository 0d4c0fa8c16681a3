/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "address_space_model.h"

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/*
 * The gap below range number @i; number count is the gap above the last range. Fixed mappings may
 * be outside the limits: there, gaps are empty.
 */
static struct space_range gap_below(const struct address_space *space, size_t i)
{
	struct space_range gap = {space->low, space->high};

	if (i > 0 && space->ranges[i - 1].end > gap.start)
		gap.start = space->ranges[i - 1].end;
	if (i < space->count && space->ranges[i].start < gap.end)
		gap.end = space->ranges[i].start;
	if (gap.start > gap.end)
		gap.start = gap.end;
	return gap;
}

int space_first_gap(const struct address_space *space, uint64_t bytes, struct space_range *gap)
{
	size_t i;

	bytes = round_up(bytes, space->page_bytes);
	for (i = 0; i <= space->count; i++) {
		*gap = gap_below(space, space->bottom_up ? i : space->count - i);
		if (gap->end - gap->start >= bytes)
			return 1;
	}
	return 0;
}

int space_is_free(const struct address_space *space, uint64_t addr, uint64_t bytes)
{
	size_t i;

	for (i = 0; i < space->count; i++)
		if (space->ranges[i].start < addr + bytes && addr < space->ranges[i].end)
			return 0;
	return 1;
}

static void insert(struct address_space *space, uint64_t start, uint64_t end)
{
	size_t i = 0;

	if (space->count == SPACE_RANGES_MAX)
		abort();
	while (i < space->count && space->ranges[i].start < start)
		i++;
	memmove(&space->ranges[i + 1], &space->ranges[i],
		(space->count - i) * sizeof(space->ranges[0]));
	space->ranges[i].start = start;
	space->ranges[i].end = end;
	space->count++;
}

static void delete (struct address_space *space, size_t i)
{
	space->count--;
	memmove(&space->ranges[i], &space->ranges[i + 1],
		(space->count - i) * sizeof(space->ranges[0]));
}

/* Where the plain search puts @bytes (mm/mmap.c, generic_get_unmapped_area*()). */
static int64_t search(const struct address_space *space, uint64_t hint, uint64_t bytes)
{
	struct space_range gap;

	if (hint && hint < space->high && bytes <= space->high - hint &&
		space_is_free(space, hint, bytes))
		return (int64_t)hint;
	if (!space_first_gap(space, bytes, &gap))
		return -ENOMEM;
	return (int64_t)(space->bottom_up ? gap.start : gap.end - bytes);
}

/* Where thp_get_unmapped_area() (mm/huge_memory.c) puts @bytes of a file from offset 0 on. */
static int64_t search_padded(const struct address_space *space, uint64_t hint, uint64_t bytes)
{
	uint64_t pmd_bytes = space->pmd_bytes;
	int64_t start;

	if (bytes < pmd_bytes)
		return search(space, hint, bytes);
	start = search(space, hint, bytes + pmd_bytes);
	if (start < 0)
		return search(space, hint, bytes);
	if (hint && (uint64_t)start == hint)
		return start;
	if ((uint64_t)start % pmd_bytes)
		return (int64_t)round_up((uint64_t)start, pmd_bytes);
	if (!space->bottom_up && !space->pads_below)
		return start + (int64_t)pmd_bytes;
	return start;
}

int64_t space_mmap(struct address_space *space, uint64_t hint, uint64_t bytes, enum space_kind kind)
{
	int64_t start;

	if (!bytes || bytes > space->high)
		return -ENOMEM;
	bytes = round_up(bytes, space->page_bytes);
	hint -= hint % space->page_bytes;
	if (hint && hint < space->low)
		hint = space->low;
	if (kind == SPACE_FILE ? space->files_align
			       : space->anonymous_aligns && !hint && !(bytes % space->pmd_bytes))
		start = search_padded(space, hint, bytes);
	else
		start = search(space, hint, bytes);
	if (start >= 0)
		insert(space, (uint64_t)start, (uint64_t)start + bytes);
	return start;
}

int space_mmap_noreplace(struct address_space *space, uint64_t addr, uint64_t bytes)
{
	if (!bytes || addr % space->page_bytes)
		return -EINVAL;
	bytes = round_up(bytes, space->page_bytes);
	/* The search ends where the address space does; it begins at the mmap base. */
	if (space->bottom_up ? addr > space->high || bytes > space->high - addr : addr < space->low)
		return -ENOMEM;
	if (!space_is_free(space, addr, bytes))
		return -EEXIST;
	insert(space, addr, addr + bytes);
	return 0;
}

int space_munmap(struct address_space *space, uint64_t addr, uint64_t bytes)
{
	uint64_t end = addr + round_up(bytes, space->page_bytes);
	size_t i = 0;

	if (!bytes || addr % space->page_bytes)
		return -EINVAL;
	while (i < space->count) {
		struct space_range range = space->ranges[i];

		if (range.end <= addr || range.start >= end) {
			i++;
			continue;
		}
		/* Cut it out, put back what sticks out on either side, and look again. */
		delete (space, i);
		if (range.start < addr)
			insert(space, range.start, addr);
		if (range.end > end)
			insert(space, end, range.end);
		i = 0;
	}
	return 0;
}

static int over_allocates(const struct ea_gap_request *request)
{
	return request->align_bytes > request->page_bytes;
}

/* As long as ld.so makes its anonymous reservation (glibc, elf/dl-map-segments.h). */
static uint64_t ld_so_bytes(const struct ea_gap_request *request)
{
	if (!over_allocates(request))
		return request->length_bytes;
	if (request->length_bytes >= request->align_bytes)
		return request->length_bytes + request->align_bytes;
	return 2 * request->align_bytes;
}

int64_t space_ld_so_mmap(struct address_space *space, const struct ea_gap_request *request)
{
	return space_mmap(space, request->hint, ld_so_bytes(request),
		over_allocates(request) ? SPACE_ANONYMOUS : SPACE_FILE);
}

int64_t space_ld_so_map(struct address_space *space, const struct ea_gap_request *request)
{
	uint64_t reserved_end, library, library_end;
	int64_t start = space_ld_so_mmap(space, request);

	if (start < 0 || !over_allocates(request))
		return start;

	reserved_end = (uint64_t)start + round_up(ld_so_bytes(request), request->page_bytes);
	library = round_up((uint64_t)start, request->align_bytes);
	library_end = library + round_up(request->length_bytes, request->page_bytes);
	if (library > (uint64_t)start)
		space_munmap(space, (uint64_t)start, library - (uint64_t)start);
	if (reserved_end > library_end)
		space_munmap(space, library_end, reserved_end - library_end);
	return (int64_t)library;
}

int space_reachable(const struct address_space *space, const struct ea_gap_request *request)
{
	uint64_t bytes = round_up(ld_so_bytes(request), request->page_bytes);
	size_t i;

	for (i = 0; i <= space->count; i++) {
		struct space_range gap = gap_below(space, i);
		uint64_t start;

		for (start = gap.start; start + bytes <= gap.end; start += request->page_bytes)
			if (round_up(start, request->align_bytes) % request->block_bytes ==
				request->remainder_bytes)
				return 1;
	}
	return 0;
}
