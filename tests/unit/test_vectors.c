/* SPDX-License-Identifier: MIT */
/*
 * test_vectors.c - core/ by the table that also drives the patched loaders
 *
 * The block and its text come from ea_block_choose(). Where the library then goes is asked of gap
 * shaping in an address space with nothing in it below a limit.
 */
#include <string.h>

#include "address_space_model.h"
#include "core/block.h"
#include "core/gap.h"
#include "core/image.h"
#include "tests/vectors/block_choice.h"
#include "unit.h"

#define TOP ((uint64_t)0x7ffff7fc3000)
/* Each machine and page size that exists has rows; a table that is cut short shows. */
#define ROWS_MIN 60

static void image_of_row(const struct block_choice *row, struct ea_image *image)
{
	unsigned int i;

	memset(image, 0, sizeof(*image));
	image->load_count = (uint16_t)row->segment_count;
	image->align_bytes = 1;
	for (i = 0; i < row->segment_count; i++) {
		uint64_t align = row->segments[i].align;

		image->loads[i] = (struct ea_segment){
			.vaddr = row->segments[i].vaddr,
			.offset = row->segments[i].offset,
			.file_bytes = row->segments[i].file_bytes,
			.mem_bytes = row->segments[i].file_bytes,
			.flags = row->segments[i].flags,
		};
		if (align && !(align & (align - 1)) && align > image->align_bytes)
			image->align_bytes = align;
	}
}

static int64_t space_probe(void *ctx, uint64_t bytes)
{
	int64_t addr = space_mmap(ctx, 0, bytes, SPACE_ANONYMOUS);

	if (addr >= 0)
		space_munmap(ctx, (uint64_t)addr, bytes);
	return addr;
}

static int space_reserve(void *ctx, uint64_t addr, uint64_t bytes)
{
	return space_mmap_noreplace(ctx, addr, bytes);
}

static void space_release(void *ctx, uint64_t addr, uint64_t bytes)
{
	space_munmap(ctx, addr, bytes);
}

static uint64_t space_random(void *ctx, uint64_t bound)
{
	return 0;
}

static const struct ea_gap_ops space_ops = {
	space_probe, space_reserve, space_release, space_random};

/* Where gap shaping puts the image; the request is what shim/placement.c makes. */
static enum ea_gap_result place(const struct block_choice *row, const struct ea_image *image,
	unsigned int text, uint64_t block_bytes, uint64_t *base)
{
	static struct address_space space;
	struct ea_gap gap = {.direction = EA_GAP_TOP_DOWN};
	struct ea_gap_request request = {.page_bytes = row->page_bytes, .block_bytes = block_bytes};
	enum ea_gap_result result;
	uint64_t start_vaddr;

	memset(&space, 0, sizeof(space));
	space.low = 64 * EA_KIB;
	space.high = TOP & ~(row->page_bytes - 1);
	space.page_bytes = row->page_bytes;
	space.pmd_bytes = 2 * EA_MIB;
	request.length_bytes = ea_image_span(image, row->page_bytes, &start_vaddr);
	request.align_bytes = image->align_bytes > row->page_bytes ? image->align_bytes
								   : row->page_bytes;
	request.remainder_bytes = ea_distance_bytes(image->loads[text].offset + start_vaddr,
		image->loads[text].vaddr, block_bytes);
	result = ea_gap_shape(&request, &space_ops, &space, &gap);
	*base = (gap.landing - start_vaddr) & (block_bytes - 1);
	return result;
}

static void check_row(const struct block_choice *row)
{
	struct ea_geometry geometry;
	struct ea_image image;
	enum ea_gap_result result;
	unsigned int text = 99;
	uint64_t block_bytes, base;

	CHECK_U64(ea_geometry(row->machine, row->page_bytes, &geometry), 0, "line %u", row->line);
	image_of_row(row, &image);
	block_bytes = ea_block_choose(&geometry, &image, row->cap_bytes, &text);
	CHECK_U64(block_bytes, row->block_bytes, "line %u", row->line);
	CHECK_U64(text, row->text < 0 ? 99 : (unsigned int)row->text, "line %u", row->line);
	if (!block_bytes || text >= row->segment_count)
		return;
	result = place(row, &image, text, block_bytes, &base);
	CHECK_U64(result == EA_GAP_IMPOSSIBLE, !row->has_base, "line %u", row->line);
	if (!row->has_base || result == EA_GAP_IMPOSSIBLE)
		return;
	CHECK(result == EA_GAP_SHAPED || result == EA_GAP_NATURAL, "line %u: result %d", row->line,
		(int)result);
	CHECK_U64(base, row->base, "line %u", row->line);
}

TEST(vectors, core_follows_the_table)
{
	struct block_choice row = {0};
	unsigned int rows = 0;
	FILE *file = fopen(BLOCK_CHOICE_FILE, "r");
	int ret = -1;

	CHECK(file != NULL, "no %s; run the tests from the top directory", BLOCK_CHOICE_FILE);
	if (!file)
		return;
	while ((ret = block_choice_next(file, &row)) > 0) {
		check_row(&row);
		rows++;
	}
	fclose(file);
	CHECK(ret == 0, "line %u is no row", row.line);
	CHECK(rows >= ROWS_MIN, "only %u rows", rows);
}
