/* SPDX-License-Identifier: MIT */
/*
 * stub_text.h - the ways in which a stub file's code can lie in memory, to be measured
 *
 *	reserved   |     |           |           |           |     # block boundaries of addresses
 *	congruent        [file.................................
 *	misplaced         [file................................     one page further up
 */
#ifndef CLI_STUB_TEXT_H
#define CLI_STUB_TEXT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/block.h"
#include "pagemap.h"

/* enum way - how the code lies */
enum way {
	WAY_MISPLACED, /* mapped from the file, where no block can be mapped large */
	WAY_CONGRUENT, /* mapped from the file on a block boundary, in what folios the kernel chooses */
	WAY_ADVISED,   /* the same, with the advice that the shim gives */
	WAY_ANONYMOUS, /* copied to anonymous memory in huge pages: what remapping tools do */
	WAY_HUGETLB,   /* copied to pages of the hugetlb pool */
	WAY_COUNT,
};

/* struct stub_text - code in memory */
struct stub_text {
	enum way way;
	int fd;		      /* of the stub file */
	uint64_t bytes;	      /* a multiple of block_bytes */
	uint64_t block_bytes; /* of which it should be mapped */
	struct ea_geometry geometry;
	const volatile sig_atomic_t *stop;
	char *text;
	char *reserved;
	uint64_t reserved_bytes;
};

/* way_name - "misplaced", "congruent", ... as in JSON; way_is_copy - is it not the file? */
const char *way_name(enum way way);
bool way_is_copy(enum way way);

/*
 * stub_text_map - have the code in memory
 * @text: way, fd, bytes, block_bytes, geometry and stop are the caller's; unmap it if this succeeds
 *
 * Copies are complete afterwards; of the others nothing has been touched. Returns 0, -EINTR if it was
 * stopped, or -errno. Any context.
 */
int stub_text_map(struct stub_text *text);

void stub_text_unmap(struct stub_text *text);

/*
 * stub_text_touch - read one byte of every page, in ascending order
 *
 * Returns 0, or -EINTR if it was stopped.
 */
int stub_text_touch(const struct stub_text *text);

/*
 * stub_text_call - call the code in random pages
 * @seed: not 0; the same calls for the same seed
 *
 * In each page it is always the same place that is called, another one for another page: what is
 * waited for is the translation, not the instructions. Returns ns per call.
 */
double stub_text_call(const struct stub_text *text, uint64_t calls, uint64_t seed);

/*
 * stub_text_large_bytes - how much of it is mapped by entries of block_bytes
 * @pagemap_fd: of this process
 * @flags: to tell folios; the answer for blocks of contiguous PTEs needs it
 *
 * Blocks of a PMD are what smaps says. Returns UNKNOWN_BYTES if it cannot be told.
 */
uint64_t stub_text_large_bytes(
	const struct stub_text *text, int pagemap_fd, struct page_flags *flags);

#endif
