/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <stddef.h>

#include "block.h"

static const struct ea_geometry arm64_geometries[] = {
	{.page_bytes = 4 * EA_KIB, .contpte_bytes = 64 * EA_KIB, .pmd_bytes = 2 * EA_MIB},
	{.page_bytes = 16 * EA_KIB, .contpte_bytes = 2 * EA_MIB, .pmd_bytes = 32 * EA_MIB},
	{.page_bytes = 64 * EA_KIB, .contpte_bytes = 2 * EA_MIB, .pmd_bytes = 512 * EA_MIB},
};

static const struct ea_geometry x86_64_geometries[] = {
	{.page_bytes = 4 * EA_KIB, .contpte_bytes = 0, .pmd_bytes = 2 * EA_MIB},
};

static int geometry_find(
	const struct ea_geometry *table, size_t count, uint64_t page_bytes, struct ea_geometry *out)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (table[i].page_bytes != page_bytes)
			continue;
		*out = table[i];
		return 0;
	}
	return -EINVAL;
}

int ea_geometry(uint16_t machine, uint64_t page_bytes, struct ea_geometry *out)
{
	switch (machine) {
	case EM_AARCH64:
		return geometry_find(arm64_geometries,
			sizeof(arm64_geometries) / sizeof(arm64_geometries[0]), page_bytes, out);
	case EM_X86_64:
		return geometry_find(x86_64_geometries,
			sizeof(x86_64_geometries) / sizeof(x86_64_geometries[0]), page_bytes, out);
	default:
		return -EINVAL;
	}
}

uint64_t ea_whole_blocks_bytes(uint64_t offset, uint64_t bytes, uint64_t page_bytes,
	uint64_t block_bytes, uint64_t *first_offset)
{
	uint64_t start, end;

	if (__builtin_add_overflow(offset & ~(page_bytes - 1), block_bytes - 1, &start) ||
		__builtin_add_overflow(offset, bytes, &end) ||
		__builtin_add_overflow(end, page_bytes - 1, &end))
		return 0;
	start &= ~(block_bytes - 1);
	end &= ~(page_bytes - 1);
	end &= ~(block_bytes - 1);
	if (end <= start)
		return 0;
	if (first_offset)
		*first_offset = start;
	return end - start;
}

uint64_t ea_distance_bytes(uint64_t addr, uint64_t offset, uint64_t block_bytes)
{
	return (addr - offset) & (block_bytes - 1);
}

int ea_block_fits(
	const struct ea_image *image, uint64_t page_bytes, uint64_t block_bytes, unsigned int *text)
{
	uint64_t most_bytes = 0;
	unsigned int i;

	for (i = 0; i < image->load_count; i++) {
		const struct ea_segment *load = &image->loads[i];
		uint64_t whole_bytes;

		if (!ea_segment_is_text(load))
			continue;
		whole_bytes = ea_whole_blocks_bytes(
			load->offset, load->file_bytes, page_bytes, block_bytes, NULL);
		if (whole_bytes <= most_bytes)
			continue;
		most_bytes = whole_bytes;
		if (text)
			*text = i;
	}
	return most_bytes > 0;
}

uint64_t ea_block_choose(const struct ea_geometry *geometry, const struct ea_image *image,
	uint64_t cap_bytes, unsigned int *text)
{
	const uint64_t blocks[] = {geometry->pmd_bytes, geometry->contpte_bytes};
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (blocks[i] && blocks[i] <= cap_bytes &&
			ea_block_fits(image, geometry->page_bytes, blocks[i], text))
			return blocks[i];
	return 0;
}
