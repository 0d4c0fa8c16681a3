/* SPDX-License-Identifier: MIT */
/*
 * advise.h - get text read into block-sized folios
 */
#ifndef EA_SHIM_ADVISE_H
#define EA_SHIM_ADVISE_H

#include <stdint.h>

#include "core/block.h"
#include "core/kernel.h"
#include "object.h"
#include "settings.h"

/* struct ea_adviser - what decides about advice, constant for a process */
struct ea_adviser {
	struct ea_geometry geometry;
	struct ea_release release;
	enum ea_advise mode;
	int has_loaded; /* during start-up: ld.so loaded these libraries once before, unadvised */
	struct ea_device {
		uint64_t number;	  /* st_dev of the file looked at last; below: */
		uint64_t fs_magic;	  /* 0: not known yet */
		uint64_t readahead_bytes; /* 0: not known yet */
	} device;
};

/*
 * ea_advise_first_block - have the file's first block enter a cold cache as one folio
 * @object: the file, identified
 * @head: receives the first @head_bytes bytes of the file, which is larger than that
 *
 * Must come before anything reads the ELF header: the read would cache page 0 in a small folio,
 * and readahead at an index that small folios occupy falls back to single pages for its whole
 * window (mm/readahead.c, page_cache_ra_order()). The header is then taken from memory: read() would
 * meet the folio's readahead mark and fetch more. On a warm cache nothing changes.
 * Returns 1, or 0 when nothing was done because the rule in core/kernel.h says that it would not
 * help, or because a call failed: then @head is untouched.
 */
int ea_advise_first_block(
	struct ea_adviser *adviser, const struct ea_object *object, void *head, size_t head_bytes);

/*
 * ea_advise_check - would advising blocks of @block_bytes of the file help?
 *
 * Costs one system call (fstatfs) per filesystem where kernel and geometry allow advice at all.
 */
enum ea_advice ea_advise_check(
	struct ea_adviser *adviser, const struct ea_object *object, uint64_t block_bytes);

/*
 * ea_advise_readahead_bytes - read-ahead window of the disk that has @object, or the kernel's default
 *
 * Asked for once per filesystem. Never 0.
 */
uint64_t ea_advise_readahead_bytes(struct ea_adviser *adviser, const struct ea_object *object);

/*
 * ea_advise_fs_aligns - does the file's filesystem place a mapping of @block_bytes congruent?
 */
int ea_advise_fs_aligns(
	struct ea_adviser *adviser, const struct ea_object *object, uint64_t block_bytes);

/*
 * ea_advise_touched_blocks - read with advice what ld.so touches before it calls la_objopen, and
 *	what the read-ahead of the neighbouring segments would spill into
 * @object: the library, whose text lies in image.loads[@text] and holds a block of @block_bytes
 *
 * ld.so looks at the symbol hash table before the text is advised. Where the linker put that table
 * into the text segment, the fault reads small folios around it; and faults in the segments before
 * and behind read half a read-ahead window into the text. Those whole blocks are read first, one
 * folio each. Nothing happens on a warm cache. Cannot fail.
 */
void ea_advise_touched_blocks(struct ea_adviser *adviser, const struct ea_object *object,
	unsigned int text, uint64_t block_bytes);

/* struct ea_range - of a file */
struct ea_range {
	uint64_t offset;
	uint64_t bytes;
};

/*
 * ea_advise_range - the part of a text that is to be advised
 *
 * All of it, as a rule. But a block of which something is cached already in small folios cannot be
 * read in one piece any more: the kernel reads the rest of it page by page then. Where the machine has
 * smaller blocks besides, which plain reading serves, that would be a loss. So in a promoted process
 * on arm64 with pages of 4K, what ld.so has read before the exec is left to plain reading: headers
 * and tables at the start of the text, what read-ahead added to them, and what the read-ahead of the
 * neighbouring segments spilled into the text. Cannot fail.
 */
struct ea_range ea_advise_range(struct ea_adviser *adviser, const struct ea_object *object,
	unsigned int text, uint64_t block_bytes);

/*
 * ea_advise_text - advise the whole blocks of congruent text
 * @addr, @offset, @bytes: the text as mapped, or the part of it that is to be advised
 *
 * MADV_HUGEPAGE makes the kernel read block-sized folios; MADV_RANDOM keeps the sequential
 * read-ahead, which ramps up from small folios, out of the text (mm/filemap.c,
 * do_sync_mmap_readahead() and do_async_mmap_readahead()).
 * MADV_RANDOM has a price: the kernel counts no references through such a mapping
 * (include/linux/mm_inline.h, vma_has_recency(), since 6.3), so that under constant pressure on the
 * page cache the text is reclaimed first. EXECALIGN_ADVISE=hugepage does without it.
 * Returns 0 or the first -errno.
 */
int ea_advise_text(const struct ea_adviser *adviser, uint64_t addr, uint64_t offset, uint64_t bytes,
	uint64_t block_bytes);

#endif
