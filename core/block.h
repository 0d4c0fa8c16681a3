/* SPDX-License-Identifier: MIT */
/*
 * block.h - the units that one large TLB entry maps, and which of them suits an image
 *
 *	file    |  |########################|    |      # text, | block boundaries of file offsets
 *	           ^ head  ^ whole blocks ^ tail
 *
 * Only whole blocks can be mapped large, and only where (address - file offset) mod block == 0:
 * then the block boundaries of the address space fall on those of the file, and so on those of the
 * page cache's folios, which are naturally aligned in the file.
 */
#ifndef EA_BLOCK_H
#define EA_BLOCK_H

#include <stdint.h>

#include "image.h"

#define EA_KIB ((uint64_t)1 << 10)
#define EA_MIB ((uint64_t)1 << 20)

/* Largest block chosen unless the user raises the cap: larger ones buy nothing for text. */
#define EA_BLOCK_CAP_BYTES (2 * EA_MIB)

/* struct ea_geometry - translation granules of a machine at one base page size */
struct ea_geometry {
	uint64_t page_bytes;
	uint64_t contpte_bytes; /* contiguous-PTE block, 0 where the machine has none */
	uint64_t pmd_bytes;	/* what one PMD entry maps */
};

/*
 * ea_geometry - granules of @machine (EM_X86_64, EM_AARCH64) with @page_bytes base pages
 * @out: filled on success only
 *
 * arm64: arch/arm64/include/asm/pgtable-hwdef.h, CONT_PTE_SHIFT and PMD_SHIFT.
 * Returns 0, or -EINVAL for a machine or page size that does not exist. Any context.
 */
int ea_geometry(uint16_t machine, uint64_t page_bytes, struct ea_geometry *out);

/*
 * ea_whole_blocks_bytes - bytes of the pages of [@offset, @offset + @bytes) in whole blocks
 * @offset: file offset of the text
 * @bytes: its size; the sum may not overflow (ea_image_parse() saw to that), else 0 is returned
 * @page_bytes: what maps a segment maps whole pages: a text that begins at 4K in the file brings
 *	the block at offset 0 along where pages are of 16K
 * @block_bytes: a power of two, @page_bytes or more
 * @first_offset: receives the file offset of the first whole block, if any; may be NULL
 *
 * Returns a multiple of @block_bytes, 0 when there is no whole block. Any context.
 */
uint64_t ea_whole_blocks_bytes(uint64_t offset, uint64_t bytes, uint64_t page_bytes,
	uint64_t block_bytes, uint64_t *first_offset);

/*
 * ea_distance_bytes - how far a mapping is from congruent
 * @addr: address at which file offset @offset is mapped
 *
 * Returns (addr - offset) mod block: 0 when congruent, else the bytes by which the mapping would
 * have to move down. Any context.
 */
uint64_t ea_distance_bytes(uint64_t addr, uint64_t offset, uint64_t block_bytes);

/*
 * ea_block_choose - the largest block of which the image's text would hold a whole one
 * @geometry: from ea_geometry()
 * @image: a parsed image
 * @cap_bytes: blocks larger than this are not considered
 * @text: receives the index in image->loads of the text segment with the most whole blocks of the
 *	chosen size; placement serves that one. May be NULL
 *
 * 128 MiB of text gains nothing from more than block alignment, 100 KiB gains nothing from 2 MiB.
 * Returns the block in bytes, or 0 when no text segment holds a whole block. Any context.
 */
uint64_t ea_block_choose(const struct ea_geometry *geometry, const struct ea_image *image,
	uint64_t cap_bytes, unsigned int *text);

/*
 * ea_block_fits - like ea_block_choose() for one given block size
 *
 * Returns 1 and sets @text when some text segment holds a whole block of @block_bytes, else 0.
 */
int ea_block_fits(const struct ea_image *image, uint64_t page_bytes, uint64_t block_bytes,
	unsigned int *text);

#endif
