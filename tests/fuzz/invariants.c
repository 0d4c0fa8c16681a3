/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "invariants.h"

static void require_sane_load(
	const struct ea_header *header, const struct ea_segment *load, uint64_t page_bytes)
{
	uint64_t end;

	REQUIRE(load->mem_bytes > 0 && load->file_bytes <= load->mem_bytes);
	REQUIRE(!__builtin_add_overflow(load->vaddr, load->mem_bytes, &end));
	REQUIRE(!__builtin_add_overflow(end, page_bytes - 1, &end));
	REQUIRE(!__builtin_add_overflow(load->offset, load->file_bytes, &end));
	REQUIRE(!load->file_bytes || end <= header->file_bytes);
	REQUIRE((load->vaddr - load->offset) % page_bytes == 0);
}

static int lies_in_a_load(const struct ea_image *image, uint64_t vaddr)
{
	unsigned int i;

	for (i = 0; i < image->load_count; i++)
		if (vaddr >= image->loads[i].vaddr &&
			vaddr - image->loads[i].vaddr < image->loads[i].mem_bytes)
			return 1;
	return 0;
}

void require_sane_image(
	const struct ea_header *header, const struct ea_image *image, uint64_t page_bytes)
{
	const struct ea_segment *last = &image->loads[image->load_count - 1];
	uint64_t start_vaddr, span_bytes;
	unsigned int i;

	REQUIRE(image->type == ET_DYN || image->type == ET_EXEC);
	REQUIRE(image->load_count >= 1 && image->load_count <= EA_LOADS_MAX);
	REQUIRE(image->align_bytes && !(image->align_bytes & (image->align_bytes - 1)));
	REQUIRE(image->tls_align_bytes && !(image->tls_align_bytes & (image->tls_align_bytes - 1)));
	REQUIRE(image->tls_bytes < (uint64_t)1 << 32 && image->tls_align_bytes < (uint64_t)1 << 32);
	REQUIRE(image->has_dynamic || !image->dynamic_vaddr);
	REQUIRE(!image->has_dynamic || lies_in_a_load(image, image->dynamic_vaddr));
	for (i = 0; i < image->load_count; i++) {
		require_sane_load(header, &image->loads[i], page_bytes);
		if (i)
			REQUIRE(image->loads[i].vaddr >=
				image->loads[i - 1].vaddr + image->loads[i - 1].mem_bytes);
	}
	span_bytes = ea_image_span(image, page_bytes, &start_vaddr);
	REQUIRE(span_bytes > 0 && start_vaddr % page_bytes == 0);
	REQUIRE(start_vaddr <= image->loads[0].vaddr);
	REQUIRE(start_vaddr + span_bytes == last->vaddr + last->mem_bytes);
}

void require_sane_block(const struct ea_image *image, uint64_t page_bytes, uint64_t block_bytes,
	uint64_t cap_bytes, unsigned int text)
{
	uint64_t first_offset = 0, first_page, whole_bytes, most_bytes = 0;
	const struct ea_segment *load;
	unsigned int i;

	if (!block_bytes)
		return;
	REQUIRE(block_bytes <= cap_bytes && text < image->load_count);
	load = &image->loads[text];
	REQUIRE(ea_segment_is_text(load));
	whole_bytes = ea_whole_blocks_bytes(
		load->offset, load->file_bytes, page_bytes, block_bytes, &first_offset);
	REQUIRE(whole_bytes && whole_bytes % block_bytes == 0 && first_offset % block_bytes == 0);
	first_page = load->offset & ~(page_bytes - 1);
	REQUIRE(first_offset >= first_page && first_offset - first_page < block_bytes);
	REQUIRE(first_offset + whole_bytes < load->offset + load->file_bytes + page_bytes);
	for (i = 0; i < image->load_count; i++) {
		uint64_t bytes = ea_whole_blocks_bytes(image->loads[i].offset,
			image->loads[i].file_bytes, page_bytes, block_bytes, NULL);

		if (ea_segment_is_text(&image->loads[i]) && bytes > most_bytes)
			most_bytes = bytes;
	}
	REQUIRE(whole_bytes == most_bytes);
	REQUIRE(ea_distance_bytes(load->vaddr, load->offset, block_bytes) < block_bytes);
}
