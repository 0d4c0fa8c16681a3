/* SPDX-License-Identifier: MIT */
/*
 * align.h - p_align in the file: what it could do for a text, where it is, what it was
 *
 * The kernel (binfmt_elf.c: maximum_alignment()) and glibc since 2.35 (dl-load.c: p_align_max) put
 * the start of a mapping on a multiple of the largest p_align over the PT_LOADs. Text is congruent
 * then if its address and its offset agree modulo the block all along.
 */
#ifndef EA_ALIGN_H
#define EA_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#include "image.h"

/* enum ea_fault - why no p_align can place a text */
enum ea_fault {
	EA_FAULT_NONE,
	EA_FAULT_OFFSET, /* address and offset differ, counted from the first segment */
	EA_FAULT_BASE,	 /* the first segment is not linked to a multiple of the block */
};

/*
 * ea_align_fault - would a mapping that starts on a block boundary make the text congruent?
 * @text: index in image->loads
 * @page_bytes: base page size
 * @block_bytes: a power of two, @page_bytes or more
 * @distance_bytes: receives what is too much, modulo the block; 0 without a fault
 *
 * That takes (vaddr - start of the first segment - offset) mod block == 0, see above. The gABI
 * wants (vaddr - offset) mod p_align == 0 besides, and glibc before 2.35 refuses to load a library
 * where that is not so. For ET_EXEC, which is mapped where it is linked to, only the latter counts.
 * Any context.
 */
enum ea_fault ea_align_fault(const struct ea_image *image, unsigned int text, uint64_t page_bytes,
	uint64_t block_bytes, uint64_t *distance_bytes);

/* struct ea_align - the p_align of one PT_LOAD among those of the others */
struct ea_align {
	uint64_t field_offset; /* file offset of its p_align, 8 bytes */
	uint64_t bytes;	       /* its value */
	uint64_t others_bytes; /* what all other PT_LOADs have; 0: none, or they differ */
};

/*
 * ea_align_find - find the p_align of the PT_LOAD at @vaddr
 * @header: from ea_header_parse()
 * @phdrs: header->phdrs_bytes bytes of the file from header->phdrs_offset on; any alignment
 * @vaddr: of a segment of the image that ea_image_parse() made of them
 * @out: filled on success only
 *
 * Returns 0, or -ENOEXEC where no PT_LOAD with memory is at @vaddr. Any context.
 */
int ea_align_find(const struct ea_header *header, const void *phdrs, uint64_t vaddr,
	struct ea_align *out);

/*
 * ea_align_before - what p_align was before it was raised
 *
 * Linkers give every PT_LOAD the same p_align (max-page-size), except where a section asks for
 * more, so the others still have what the text had. Returns 0 where that does not tell: they
 * differ, or theirs is not the smaller one. Any context.
 */
uint64_t ea_align_before(const struct ea_align *align);

#endif
