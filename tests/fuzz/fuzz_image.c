/* SPDX-License-Identifier: MIT */
/*
 * fuzz_image.c - the input is a whole ELF file; it is read as the shim reads it
 */
#include <stdlib.h>
#include <string.h>

#include "core/align.h"
#include "invariants.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What execalign elf writes is one p_align, which has to be where it says. */
static void find_aligns(const struct ea_header *header, const uint8_t *phdrs,
	const struct ea_image *image, uint64_t page_bytes)
{
	unsigned int i;

	for (i = 0; i < image->load_count; i++) {
		struct ea_align align;
		uint64_t distance_bytes, bytes;

		REQUIRE(!ea_align_find(header, phdrs, image->loads[i].vaddr, &align));
		REQUIRE(align.field_offset >= header->phdrs_offset &&
			align.field_offset - header->phdrs_offset <=
				header->phdrs_bytes - sizeof(bytes));
		memcpy(&bytes, phdrs + (align.field_offset - header->phdrs_offset), sizeof(bytes));
		REQUIRE(bytes == align.bytes);
		REQUIRE(ea_align_before(&align) < bytes || !ea_align_before(&align));
		REQUIRE(!ea_align_fault(image, i, page_bytes, page_bytes, &distance_bytes) ==
			!distance_bytes);
		REQUIRE(distance_bytes < page_bytes);
	}
}

static void parse(const uint8_t *data, size_t size, uint64_t page_bytes)
{
	struct ea_header header;
	struct ea_image image;
	uint8_t *phdrs;

	if (ea_header_parse(data, size < EA_HEADER_BYTES ? size : EA_HEADER_BYTES, size,
		    EA_MACHINE_ANY, &header))
		return;
	REQUIRE(header.phdr_count >= 1 && header.phdr_count <= EA_PHDRS_MAX);
	REQUIRE(header.phdrs_bytes == (uint64_t)header.phdr_count * EA_PHDR_BYTES);
	REQUIRE(header.phdrs_offset <= size && header.phdrs_bytes <= size - header.phdrs_offset);

	/* A copy of its own, so that a read beyond the program headers is seen. */
	phdrs = malloc(header.phdrs_bytes);
	if (!phdrs)
		return;
	memcpy(phdrs, data + header.phdrs_offset, header.phdrs_bytes);
	if (!ea_image_parse(&header, phdrs, header.phdrs_bytes, page_bytes, &image)) {
		require_sane_image(&header, &image, page_bytes);
		find_aligns(&header, phdrs, &image, page_bytes);
	}
	free(phdrs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse(data, size, 4096);
	parse(data, size, 65536);
	return 0;
}
