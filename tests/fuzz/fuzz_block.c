/* SPDX-License-Identifier: MIT */
/*
 * fuzz_block.c - block choice on whatever the parser accepts
 *
 * The input is struct parameters and then the beginning of a file that claims to be file_bytes
 * long: text that holds a block would otherwise need inputs of megabytes. What the input does not
 * hold of the program headers is a short read.
 */
#include <elf.h>
#include <string.h>

#include "core/kernel.h"
#include "invariants.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* struct parameters - 24 bytes in front of the file */
struct parameters {
	uint64_t file_bytes;
	uint64_t cap_bytes;
	uint8_t geometry;
	uint8_t filesystem;
	uint16_t major, minor;
	uint16_t unused;
};

static const struct {
	uint16_t machine;
	uint64_t page_bytes;
} geometries[] = {
	{EM_X86_64, 4096},
	{EM_AARCH64, 4096},
	{EM_AARCH64, 16384},
	{EM_AARCH64, 65536},
};

static const uint64_t filesystems[] = {
	EA_FS_EXT4, EA_FS_XFS, EA_FS_BTRFS, EA_FS_EROFS, EA_FS_OVERLAY, EA_FS_SQUASHFS, 0};

static void advise(const struct parameters *parameters, const struct ea_geometry *geometry,
	uint64_t block_bytes)
{
	struct ea_release release = {parameters->major, parameters->minor};
	size_t count = sizeof(filesystems) / sizeof(filesystems[0]);
	enum ea_advice advice;

	advice = ea_advice_for_block(
		geometry, block_bytes, &release, filesystems[parameters->filesystem % count]);
	REQUIRE(advice >= EA_ADVICE_USEFUL && advice <= EA_ADVICE_UNKNOWN_FILESYSTEM);
	REQUIRE(ea_advice_reason(advice));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parameters parameters;
	struct ea_geometry geometry;
	struct ea_header header;
	struct ea_image image;
	uint64_t available, block_bytes;
	unsigned int text = EA_LOADS_MAX;
	size_t row;

	if (size < sizeof(parameters))
		return 0;
	memcpy(&parameters, data, sizeof(parameters));
	data += sizeof(parameters);
	size -= sizeof(parameters);

	row = parameters.geometry % (sizeof(geometries) / sizeof(geometries[0]));
	REQUIRE(!ea_geometry(geometries[row].machine, geometries[row].page_bytes, &geometry));
	if (ea_header_parse(data, size, parameters.file_bytes, geometries[row].machine, &header))
		return 0;
	available = header.phdrs_offset < size ? size - header.phdrs_offset : 0;
	if (ea_image_parse(&header, available ? data + header.phdrs_offset : data, available,
		    geometry.page_bytes, &image))
		return 0;
	REQUIRE(available >= header.phdrs_bytes);
	require_sane_image(&header, &image, geometry.page_bytes);

	block_bytes = ea_block_choose(&geometry, &image, parameters.cap_bytes, &text);
	REQUIRE(!block_bytes || block_bytes == geometry.contpte_bytes ||
		block_bytes == geometry.pmd_bytes);
	require_sane_block(&image, geometry.page_bytes, block_bytes, parameters.cap_bytes, text);
	if (block_bytes)
		advise(&parameters, &geometry, block_bytes);
	return 0;
}
