/* SPDX-License-Identifier: MIT */
/*
 * invariants.h - what must hold for every image that the parser accepts, whatever the file says
 */
#ifndef INVARIANTS_H
#define INVARIANTS_H

#include "core/block.h"
#include "core/image.h"

/* REQUIRE - stop, so that the fuzzer keeps the input, unless @condition holds */
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition))                                                                  \
			__builtin_trap();                                                          \
	} while (0)

/* require_sane_image - the promises of image.h */
void require_sane_image(
	const struct ea_header *header, const struct ea_image *image, uint64_t page_bytes);

/* require_sane_block - the promises of block.h for a block chosen for this image; 0 is none */
void require_sane_block(const struct ea_image *image, uint64_t page_bytes, uint64_t block_bytes,
	uint64_t cap_bytes, unsigned int text);

#endif
