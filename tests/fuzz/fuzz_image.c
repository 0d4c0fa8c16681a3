/* SPDX-License-Identifier: MIT */
/*
 * fuzz_image.c - the input is a whole ELF file; it is read as the shim reads it
 */
#include <stdlib.h>
#include <string.h>

#include "invariants.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	if (!ea_image_parse(&header, phdrs, header.phdrs_bytes, page_bytes, &image))
		require_sane_image(&header, &image, page_bytes);
	free(phdrs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse(data, size, 4096);
	parse(data, size, 65536);
	return 0;
}
