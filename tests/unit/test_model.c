/* SPDX-License-Identifier: MIT */
/*
 * test_model.c - the model that gap shaping is tested against, on cases that can be checked by eye
 */
#include <errno.h>

#include "address_space_model.h"
#include "unit.h"

#define PAGE ((uint64_t)0x1000)
#define PMD ((uint64_t)0x200000)

/* Free: 0x10000-0x20000, 0x30000-0x34000, 0x40000-0x100000. */
static struct address_space small_space(int bottom_up)
{
	struct address_space space = {.low = 0x10000,
		.high = 0x100000,
		.page_bytes = PAGE,
		.pmd_bytes = PMD,
		.bottom_up = bottom_up};

	CHECK_U64(space_mmap_noreplace(&space, 0x34000, 0xc000), 0, "fixed");
	CHECK_U64(space_mmap_noreplace(&space, 0x20000, 0x10000), 0, "fixed");
	return space;
}

TEST(model, searches_from_the_top_or_from_the_bottom)
{
	struct address_space space = small_space(0);

	CHECK_U64(space_mmap(&space, 0, 0x1001, SPACE_ANONYMOUS), 0xfe000, "top-down");
	CHECK_U64(space_mmap(&space, 0, 0xbe000, SPACE_ANONYMOUS), 0x40000, "fills the gap");
	CHECK_U64(space_mmap(&space, 0, 0x5000, SPACE_ANONYMOUS), 0x1b000, "passes a small gap");
	CHECK_U64(space_mmap(&space, 0, 0x4000, SPACE_ANONYMOUS), 0x30000, "the small gap");
	CHECK(space_mmap(&space, 0, 0xc000, SPACE_ANONYMOUS) == -ENOMEM, "no gap is that large");

	space = small_space(1);
	CHECK_U64(space_mmap(&space, 0, 0x1001, SPACE_ANONYMOUS), 0x10000, "bottom-up");
	CHECK_U64(space_mmap(&space, 0, 0xf000, SPACE_ANONYMOUS), 0x40000, "passes two gaps");
	CHECK_U64(space_mmap(&space, 0, 0xe000, SPACE_ANONYMOUS), 0x12000, "fills the first gap");
}

TEST(model, heeds_a_hint_that_is_free)
{
	struct address_space space = small_space(0);

	CHECK_U64(space_mmap(&space, 0x50123, 0x2000, SPACE_FILE), 0x50000, "free");
	CHECK_U64(space_mmap(&space, 0x50000, 0x2000, SPACE_FILE), 0xfe000, "taken");
	CHECK_U64(space_mmap(&space, 0x1000, 0x1000, SPACE_FILE), 0x10000, "too low");
	CHECK_U64(space_mmap(&space, 0xff000, 0x2000, SPACE_FILE), 0xfc000, "over the end");
}

TEST(model, maps_fixed_only_what_is_free)
{
	struct address_space space = small_space(0);

	CHECK(space_mmap_noreplace(&space, 0x1f000, 0x2000) == -EEXIST, "head of a mapping");
	CHECK(space_mmap_noreplace(&space, 0x2f000, 0x2000) == -EEXIST, "tail of a mapping");
	CHECK(space_mmap_noreplace(&space, 0x25000, 0x1000) == -EEXIST, "inside a mapping");
	CHECK(space_mmap_noreplace(&space, 0x1f000, 0x40000) == -EEXIST, "around a mapping");
	CHECK(space_mmap_noreplace(&space, 0xf000, 0x1000) == -ENOMEM, "below the space");
	CHECK(space_mmap_noreplace(&space, 0x30800, 0x1000) == -EINVAL, "no page");
	CHECK(space_mmap_noreplace(&space, 0x30000, 0) == -EINVAL, "no length");
	CHECK_U64(space_mmap_noreplace(&space, 0x30000, 0x4000), 0, "between mappings");
	CHECK_U64(space_mmap_noreplace(&space, 0x200000, 0x4000), 0, "above the mmap base");
	CHECK_U64(space_mmap(&space, 0, 0x1000, SPACE_FILE), 0xff000, "the search goes below it");
}

TEST(model, unmaps_parts)
{
	struct address_space space = small_space(0);

	CHECK_U64(space_munmap(&space, 0x24000, 0x4000), 0, "the middle");
	CHECK_U64(space.count, 3, "the middle");
	CHECK_U64(space.ranges[0].end, 0x24000, "the middle");
	CHECK_U64(space.ranges[1].start, 0x28000, "the middle");
	CHECK_U64(space_munmap(&space, 0x2f000, 0x8000), 0, "a tail and a head");
	CHECK_U64(space.ranges[1].end, 0x2f000, "a tail and a head");
	CHECK_U64(space.ranges[2].start, 0x37000, "a tail and a head");
	CHECK_U64(space_munmap(&space, 0, 0x1000000), 0, "everything");
	CHECK_U64(space.count, 0, "everything");
}

static struct address_space aligning_space(int bottom_up)
{
	struct address_space space = {.low = 0x10001000,
		.high = 0x20001000,
		.page_bytes = PAGE,
		.pmd_bytes = PMD,
		.bottom_up = bottom_up,
		.files_align = 1};

	return space;
}

/* mm/huge_memory.c, __thp_get_unmapped_area(). */
TEST(model, aligns_large_files_as_a_padding_filesystem_does)
{
	struct address_space space = aligning_space(0);

	CHECK_U64(space_mmap(&space, 0, PMD - PAGE, SPACE_FILE), 0x1fe02000, "below the PMD");
	CHECK_U64(space_mmap(&space, 0, PMD, SPACE_ANONYMOUS), 0x1fc02000, "no file");
	CHECK_U64(space_mmap(&space, 0, PMD, SPACE_FILE), 0x1fa00000, "padded");
	space.anonymous_aligns = 1;
	CHECK_U64(space_mmap(&space, 0, PMD + PAGE, SPACE_ANONYMOUS), 0x1f7ff000, "no multiple");
	CHECK_U64(space_mmap(&space, 0, PMD, SPACE_ANONYMOUS), 0x1f400000, "multiple of the PMD");

	space = aligning_space(1);
	CHECK_U64(space_mmap(&space, 0, PMD, SPACE_FILE), 0x10200000, "bottom-up");
}

TEST(model, a_padded_search_that_is_aligned_moves_up_since_6_8)
{
	struct address_space space = aligning_space(0);

	space.high = 0x20000000;
	CHECK_U64(space_mmap(&space, 0, PMD, SPACE_FILE), 0x1fe00000, "since 6.8");
	space.pads_below = 1;
	CHECK_U64(space_mmap(&space, 0, PMD, SPACE_FILE), 0x1fa00000, "before");
}

TEST(model, without_room_for_the_padding_the_search_is_plain)
{
	struct address_space space = aligning_space(0);

	space.high = space.low + PMD + PMD - PAGE;
	CHECK_U64(space_mmap(&space, 0, PMD, SPACE_FILE), 0x10200000, "unpadded");
}

TEST(model, ld_so_maps_directly_or_rounds_and_trims)
{
	struct ea_gap_request request = {.length_bytes = 0x12345,
		.align_bytes = PAGE,
		.page_bytes = PAGE,
		.block_bytes = 0x10000};
	struct address_space space = {
		.low = 0x10000, .high = 0x105000, .page_bytes = PAGE, .pmd_bytes = PMD};

	CHECK_U64(space_ld_so_map(&space, &request), 0xf2000, "direct");
	CHECK_U64(space.count, 1, "direct");
	/* 0x12345 + 0x10000 below 0xf2000 is 0xcf000: up to 0xd0000, and the rest is given back. */
	request.align_bytes = 0x10000;
	CHECK_U64(space_ld_so_map(&space, &request), 0xd0000, "rounded");
	CHECK_U64(space.count, 2, "rounded");
	CHECK_U64(space.ranges[0].start, 0xd0000, "rounded");
	CHECK_U64(space.ranges[0].end, 0xe3000, "rounded");
	/* Twice p_align, as it is more than the length: 0x90000. */
	request.align_bytes = 0x20000;
	CHECK_U64(space_ld_so_map(&space, &request), 0xa0000, "twice p_align");
	CHECK_U64(space.ranges[0].start, 0xa0000, "twice p_align");
	CHECK_U64(space.ranges[0].end, 0xb3000, "twice p_align");
}

TEST(model, reachable_means_some_page_of_some_gap)
{
	struct ea_gap_request request = {.length_bytes = 0x4000,
		.align_bytes = PAGE,
		.page_bytes = PAGE,
		.block_bytes = 0x10000};
	struct address_space space = {
		.low = 0x10000, .high = 0x40000, .page_bytes = PAGE, .pmd_bytes = PMD};

	/* What is left: 0x11000-0x15000. */
	space_mmap_noreplace(&space, 0x10000, PAGE);
	space_mmap_noreplace(&space, 0x15000, 0x40000 - 0x15000);
	request.remainder_bytes = 0x1000;
	CHECK(space_reachable(&space, &request), "exactly there");
	request.remainder_bytes = 0;
	CHECK(!space_reachable(&space, &request), "a page too low");
	request.remainder_bytes = 0x2000;
	CHECK(!space_reachable(&space, &request), "a page too high");
}
