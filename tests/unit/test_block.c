/* SPDX-License-Identifier: MIT */
/*
 * test_block.c - core/block.h: the geometry of machines, and the rule that chooses a block
 */
#include <elf.h>
#include <errno.h>

#include "core/block.h"
#include "elf_builder.h"
#include "unit.h"

#define K EA_KIB
#define M EA_MIB

/* struct geometry_case - blocks 0: this machine has no such page size */
struct geometry_case {
	uint16_t machine;
	uint64_t page_bytes, contpte_bytes, pmd_bytes;
};

static const struct geometry_case geometries[] = {
	{EM_X86_64, 4 * K, 0, 2 * M},
	{EM_AARCH64, 4 * K, 64 * K, 2 * M},
	{EM_AARCH64, 16 * K, 2 * M, 32 * M},
	{EM_AARCH64, 64 * K, 2 * M, 512 * M},
};

TEST(block, geometry_of_each_machine)
{
	struct ea_geometry geometry;
	size_t i;

	for (i = 0; i < COUNT_OF(geometries); i++) {
		const struct geometry_case *row = &geometries[i];

		CHECK_U64(ea_geometry(row->machine, row->page_bytes, &geometry), 0, "row %zu", i);
		CHECK_U64(geometry.page_bytes, row->page_bytes, "row %zu", i);
		CHECK_U64(geometry.contpte_bytes, row->contpte_bytes, "row %zu", i);
		CHECK_U64(geometry.pmd_bytes, row->pmd_bytes, "row %zu", i);
	}
}

TEST(block, geometry_refuses_what_does_not_exist)
{
	static const struct {
		uint16_t machine;
		uint64_t page_bytes;
	} rows[] = {
		{EM_X86_64, 16 * K},
		{EM_X86_64, 64 * K},
		{EM_X86_64, 0},
		{EM_AARCH64, 0},
		{EM_AARCH64, 8 * K},
		{EM_AARCH64, 32 * K},
		{EM_AARCH64, 4 * K + 1},
		{EM_RISCV, 4 * K},
		{EM_386, 4 * K},
		{EM_NONE, 4 * K},
	};
	struct ea_geometry geometry = {1, 2, 3};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++)
		CHECK(ea_geometry(rows[i].machine, rows[i].page_bytes, &geometry) == -EINVAL,
			"machine %u with pages of %" PRIu64 " bytes was accepted", rows[i].machine,
			rows[i].page_bytes);
	CHECK(geometry.page_bytes == 1 && geometry.contpte_bytes == 2 && geometry.pmd_bytes == 3,
		"the output changed");
}

TEST(block, whole_blocks)
{
	static const struct {
		uint64_t offset, bytes, block_bytes, expected, first_offset;
	} rows[] = {
		{0, 2 * M, 2 * M, 2 * M, 0},
		{0, 2 * M - 1, 2 * M, 0, 0},
		{1, 2 * M, 2 * M, 0, 0},
		{1, 4 * M - 1, 2 * M, 2 * M, 2 * M},
		{1, 4 * M - 2, 2 * M, 0, 0},
		{2 * M - 1, 2 * M + 1, 2 * M, 2 * M, 2 * M},
		{64 * K, 128 * K + 5, 64 * K, 128 * K, 64 * K},
		{5 * M, 128 * M, 2 * M, 126 * M, 6 * M},
		{5 * M, 128 * M, 32 * M, 96 * M, 32 * M},
		{0, 0, 2 * M, 0, 0},
		{4 * M, 0, 2 * M, 0, 0},
		{0, UINT64_MAX, 2 * M, 0 - 2 * M, 0},
		/* The rounded start, and the end, do not fit into 64 bits. */
		{UINT64_MAX, 0, 2 * M, 0, 0},
		{UINT64_MAX - 2 * M + 2, 1, 2 * M, 0, 0},
		{1, UINT64_MAX, 2 * M, 0, 0},
		{4 * M, UINT64_MAX - 2 * M, 2 * M, 0, 0},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		uint64_t first_offset = 12345;

		CHECK_U64(ea_whole_blocks_bytes(rows[i].offset, rows[i].bytes, 1,
				  rows[i].block_bytes, &first_offset),
			rows[i].expected, "row %zu", i);
		CHECK_U64(first_offset, rows[i].expected ? rows[i].first_offset : 12345, "row %zu",
			i);
		CHECK_U64(ea_whole_blocks_bytes(
				  rows[i].offset, rows[i].bytes, 1, rows[i].block_bytes, NULL),
			rows[i].expected, "row %zu without first offset", i);
	}
}

/* Counts, byte by byte, those whose block lies in the range from its first byte to its last. */
static uint64_t count_whole(uint64_t offset, uint64_t bytes, uint64_t block_bytes)
{
	uint64_t at, count = 0;

	for (at = offset; at < offset + bytes; at++) {
		uint64_t block = at / block_bytes;

		if (block * block_bytes >= offset && (block + 1) * block_bytes <= offset + bytes)
			count++;
	}
	return count;
}

TEST(block, whole_blocks_as_counted_byte_by_byte)
{
	uint64_t offset, bytes, block_bytes;

	for (block_bytes = 1; block_bytes <= 16; block_bytes *= 2)
		for (offset = 0; offset <= 40; offset++)
			for (bytes = 0; bytes <= 60; bytes++)
				CHECK_U64(
					ea_whole_blocks_bytes(offset, bytes, 1, block_bytes, NULL),
					count_whole(offset, bytes, block_bytes),
					"offset %" PRIu64 " bytes %" PRIu64 " block %" PRIu64,
					offset, bytes, block_bytes);
}

/* What is mapped is pages: those at either end belong to the text, whatever else is in them. */
TEST(block, whole_blocks_of_the_pages)
{
	static const struct {
		uint64_t offset, bytes, page_bytes, expected, first_offset;
	} rows[] = {
		{0x1000, 10 * M, 4 * K, 8 * M, 2 * M},
		{0x1000, 10 * M, 16 * K, 10 * M, 0},
		{0x1000, 10 * M, 64 * K, 10 * M, 0},
		{0x10000, 10 * M, 64 * K, 8 * M, 2 * M},
		{0, 2 * M - 16 * K + 1, 16 * K, 2 * M, 0},
		{0, 2 * M - 16 * K, 16 * K, 0, 0},
		{0x5000, UINT64_MAX - 0x5000, 16 * K, 0, 0},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		uint64_t first_offset = 0;

		CHECK_U64(ea_whole_blocks_bytes(rows[i].offset, rows[i].bytes, rows[i].page_bytes,
				  2 * M, &first_offset),
			rows[i].expected, "row %zu", i);
		CHECK_U64(first_offset, rows[i].first_offset, "row %zu", i);
	}
}

TEST(block, distance)
{
	static const struct {
		uint64_t addr, offset, block_bytes, expected;
	} rows[] = {
		{0x7f0000200000, 0, 2 * M, 0},
		{0x7f0000201000, 0x1000, 2 * M, 0},
		{0x7f0000201000, 0, 2 * M, 0x1000},
		{0x7f0000200000, 0x1000, 2 * M, 2 * M - 0x1000},
		{0x7f0000210000, 0x3450000, 64 * K, 0},
		{0x7f0000210000, 0x3450000, 2 * M, 0x1c0000},
		{0, 0x200000, 2 * M, 0},
		{0, 1, 2 * M, 2 * M - 1},
		{UINT64_MAX, 0, 64 * K, 64 * K - 1},
		{0, UINT64_MAX, 64 * K, 1},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++)
		CHECK_U64(ea_distance_bytes(rows[i].addr, rows[i].offset, rows[i].block_bytes),
			rows[i].expected, "row %zu", i);
}

TEST(block, distance_is_how_far_to_move_down)
{
	uint64_t addr, offset;

	for (addr = 0; addr < 64; addr++)
		for (offset = 0; offset < 64; offset++) {
			uint64_t distance = ea_distance_bytes(addr + 64, offset, 16);

			CHECK(distance < 16 && (addr + 64 - distance) % 16 == offset % 16,
				"address %" PRIu64 " offset %" PRIu64 ": distance %" PRIu64,
				addr + 64, offset, distance);
		}
}

static struct ea_image image_of(const struct ea_segment *loads, uint16_t count)
{
	struct ea_image image = {.load_count = count};
	unsigned int i;

	for (i = 0; i < count; i++)
		image.loads[i] = loads[i];
	return image;
}

/* An image whose only text is [offset, offset + bytes) of the file, behind read-only data. */
static struct ea_image image_with_text(uint64_t offset, uint64_t bytes)
{
	const struct ea_segment loads[] = {
		{.offset = 0, .file_bytes = offset, .flags = PF_R},
		{.offset = offset, .file_bytes = bytes, .flags = PF_R | PF_X},
		{.offset = offset + bytes, .file_bytes = 1024 * M, .flags = PF_R | PF_W},
	};

	return image_of(loads, COUNT_OF(loads));
}

static struct ea_geometry geometry_of(size_t row)
{
	struct ea_geometry geometry = {0};

	CHECK_U64(ea_geometry(geometries[row].machine, geometries[row].page_bytes, &geometry), 0,
		"row %zu", row);
	return geometry;
}

/*
 * The whole rule: which block is chosen for a text of this size at this file offset, at each
 * geometry and cap. Columns: cap 64K, 2M, 32M.
 */
TEST(block, choice_by_geometry_cap_and_size)
{
	static const uint64_t caps[] = {64 * K, 2 * M, 32 * M};
	static const struct {
		size_t geometry;
		uint64_t offset, bytes, expected[COUNT_OF(caps)];
	} rows[] = {
		/* x86-64: 2M or nothing. */
		{0, 0, 2 * M - 4 * K, {0, 0, 0}},
		{0, 0, 2 * M, {0, 2 * M, 2 * M}},
		{0, 0x1000, 4 * M - 0x2000, {0, 0, 0}},
		{0, 0x1000, 4 * M - 0x1000, {0, 2 * M, 2 * M}},
		{0, 0, 128 * M, {0, 2 * M, 2 * M}},
		/* arm64, 4K pages: 64K contpte below 2M PMD. */
		{1, 0, 60 * K, {0, 0, 0}},
		{1, 0, 64 * K, {64 * K, 64 * K, 64 * K}},
		{1, 0x1000, 128 * K - 0x2000, {0, 0, 0}},
		{1, 0x1000, 128 * K - 0x1000, {64 * K, 64 * K, 64 * K}},
		{1, 0, 2 * M - 4 * K, {64 * K, 64 * K, 64 * K}},
		{1, 0, 2 * M, {64 * K, 2 * M, 2 * M}},
		{1, 0x10000, 4 * M - 0x11000, {64 * K, 64 * K, 64 * K}},
		{1, 0x10000, 4 * M - 0x10000, {64 * K, 2 * M, 2 * M}},
		{1, 0, 128 * M, {64 * K, 2 * M, 2 * M}},
		/* arm64, 16K pages: 2M contpte below 32M PMD. */
		{2, 0, 2 * M - 16 * K, {0, 0, 0}},
		{2, 0, 2 * M, {0, 2 * M, 2 * M}},
		{2, 0x4000, 4 * M - 0x8000, {0, 0, 0}},
		{2, 0x4000, 4 * M - 0x4000, {0, 2 * M, 2 * M}},
		{2, 0, 32 * M - 16 * K, {0, 2 * M, 2 * M}},
		{2, 0, 32 * M, {0, 2 * M, 32 * M}},
		{2, 0x4000, 64 * M - 0x8000, {0, 2 * M, 2 * M}},
		{2, 0x4000, 64 * M - 0x4000, {0, 2 * M, 32 * M}},
		/* arm64, 64K pages: 2M contpte; the 512M PMD is above every cap. */
		{3, 0, 2 * M - 64 * K, {0, 0, 0}},
		{3, 0, 2 * M, {0, 2 * M, 2 * M}},
		{3, 0x10000, 4 * M - 0x20000, {0, 0, 0}},
		{3, 0x10000, 4 * M - 0x10000, {0, 2 * M, 2 * M}},
		{3, 0, 1024 * M, {0, 2 * M, 2 * M}},
		/* A text is the pages that it is mapped with, begun ones included. */
		{0, 0, 2 * M - 4095, {0, 2 * M, 2 * M}},
		{2, 0x1000, 2 * M - 0x1000, {0, 2 * M, 2 * M}},
		{3, 0xf000, 2 * M - 0x1e000, {0, 2 * M, 2 * M}},
		/* No text at all. */
		{1, 0x1000, 0, {0, 0, 0}},
	};
	size_t i, cap;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_geometry geometry = geometry_of(rows[i].geometry);
		struct ea_image image = image_with_text(rows[i].offset, rows[i].bytes);

		for (cap = 0; cap < COUNT_OF(caps); cap++) {
			unsigned int text = 99;

			CHECK_U64(ea_block_choose(&geometry, &image, caps[cap], &text),
				rows[i].expected[cap], "row %zu cap %" PRIu64 "K", i,
				caps[cap] / K);
			CHECK_U64(text, rows[i].expected[cap] ? 1 : 99, "row %zu cap %" PRIu64 "K",
				i, caps[cap] / K);
			CHECK_U64(ea_block_choose(&geometry, &image, caps[cap], NULL),
				rows[i].expected[cap], "row %zu without text", i);
		}
	}
}

TEST(block, choice_respects_any_cap)
{
	static const struct {
		size_t geometry;
		uint64_t cap_bytes, expected;
	} rows[] = {
		{1, 0, 0},
		{1, 64 * K - 1, 0},
		{1, 2 * M - 1, 64 * K},
		{2, 2 * M - 1, 0},
		{2, 32 * M - 1, 2 * M},
		{3, 512 * M - 1, 2 * M},
		{3, 512 * M, 512 * M},
		{0, 2 * M - 1, 0},
		{0, UINT64_MAX, 2 * M},
	};
	struct ea_image image = image_with_text(0, 1024 * M);
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_geometry geometry = geometry_of(rows[i].geometry);

		CHECK_U64(ea_block_choose(&geometry, &image, rows[i].cap_bytes, NULL),
			rows[i].expected, "row %zu", i);
	}
}

TEST(block, default_cap_is_2M)
{
	CHECK_U64(EA_BLOCK_CAP_BYTES, 2 * M, "cap");
}

/* Text sizes a byte to either side of each boundary, at offsets a page to either side of it. */
TEST(block, fits_exactly_from_the_boundary_on)
{
	static const uint64_t blocks[] = {64 * K, 2 * M, 32 * M};
	size_t i;

	for (i = 0; i < COUNT_OF(blocks); i++) {
		uint64_t block = blocks[i];
		const uint64_t offsets[] = {0, 1, 0x1000, block - 0x1000, block - 1, block,
			block + 1, 5 * block + 0x4000};
		size_t j;

		for (j = 0; j < COUNT_OF(offsets); j++) {
			uint64_t offset = offsets[j];
			uint64_t enough = (offset + block - 1) / block * block + block - offset;
			struct ea_image image = image_with_text(offset, enough - 1);
			unsigned int text = 99;

			CHECK_U64(ea_block_fits(&image, 1, block, &text), 0,
				"block %" PRIu64 " offset %" PRIu64, block, offset);
			CHECK_U64(text, 99, "block %" PRIu64 " offset %" PRIu64, block, offset);
			image = image_with_text(offset, enough);
			CHECK_U64(ea_block_fits(&image, 1, block, &text), 1,
				"block %" PRIu64 " offset %" PRIu64, block, offset);
			CHECK_U64(text, 1, "block %" PRIu64 " offset %" PRIu64, block, offset);
			image = image_with_text(offset, enough + 1);
			CHECK_U64(ea_block_fits(&image, 1, block, NULL), 1,
				"block %" PRIu64 " offset %" PRIu64, block, offset);
		}
	}
}

TEST(block, serves_the_text_with_most_whole_blocks)
{
	static const struct {
		struct ea_segment loads[4];
		uint64_t expected_block;
		unsigned int expected_text;
	} rows[] = {
		/* The second text is smaller but holds more whole blocks. */
		{{{.offset = 0x1000, .file_bytes = 6 * M - 0x2000, .flags = PF_R | PF_X},
			 {.offset = 8 * M, .file_bytes = 4 * M, .flags = PF_R | PF_X}},
			2 * M, 1},
		/* Equal: the first. */
		{{{.offset = 0, .file_bytes = 2 * M, .flags = PF_R | PF_X},
			 {.offset = 8 * M, .file_bytes = 3 * M, .flags = PF_R | PF_X}},
			2 * M, 0},
		/* Neither reaches 2M, though together they would; the larger of 64K is taken. */
		{{{.offset = 0, .file_bytes = M, .flags = PF_R | PF_X},
			 {.offset = M, .file_bytes = M + 64 * K, .flags = PF_R | PF_X}},
			64 * K, 1},
		/* Writable text, data, and text of zeroes do not count. */
		{{{.offset = 0, .file_bytes = 64 * M, .flags = PF_R | PF_W | PF_X},
			 {.offset = 64 * M, .file_bytes = 64 * M, .flags = PF_R},
			 {.offset = 128 * M, .mem_bytes = 64 * M, .flags = PF_R | PF_X},
			 {.offset = 128 * M, .file_bytes = 64 * K, .flags = PF_X}},
			64 * K, 3},
		/* Which segment is the best one depends on the block. */
		{{{.offset = 0x1000, .file_bytes = 4 * M - 0x2000, .flags = PF_R | PF_X},
			 {.offset = 6 * M, .file_bytes = 2 * M, .flags = PF_R | PF_X}},
			2 * M, 1},
	};
	struct ea_geometry geometry = geometry_of(1);
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_image image = image_of(rows[i].loads, 4);
		unsigned int text = 99;

		CHECK_U64(ea_block_choose(&geometry, &image, EA_BLOCK_CAP_BYTES, &text),
			rows[i].expected_block, "row %zu", i);
		CHECK_U64(text, rows[i].expected_text, "row %zu", i);
	}
}

TEST(block, a_parsed_library_gets_its_block)
{
	struct ea_geometry geometry = geometry_of(1);
	struct ea_image image;
	struct elf_file elf;
	unsigned int text = 99;

	/* Its text, 0x10000 to 0x290123, crosses one boundary of 2M and so holds no whole 2M. */
	elf_library(&elf, EM_AARCH64);
	CHECK_U64(elf_parse(&elf, EM_AARCH64, 4 * K, &image), 0, "library");
	CHECK_U64(ea_block_choose(&geometry, &image, 2 * M, &text), 64 * K, "library");
	CHECK_U64(text, LIBRARY_TEXT, "library");
}
