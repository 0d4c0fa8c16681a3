/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"
#include "format.h"
#include "io.h"
#include "stub_text.h"
#include "xorshift.h"

/* How much is copied, or touched, between two looks at whether to stop. */
#define PIECE_BYTES (2 * EA_MIB)

/* Places in a page that are called: cache lines of 64 bytes in 4 KiB. */
#define LINE_BYTES 64
#define LINES_BITS 6

typedef void (*stub)(void);

const char *way_name(enum way way)
{
	static const char *const names[WAY_COUNT] = {
		[WAY_MISPLACED] = "misplaced",
		[WAY_CONGRUENT] = "congruent",
		[WAY_ADVISED] = "advised",
		[WAY_ANONYMOUS] = "anonymous",
		[WAY_HUGETLB] = "hugetlb",
	};

	return names[way];
}

bool way_is_copy(enum way way)
{
	return way == WAY_ANONYMOUS || way == WAY_HUGETLB;
}

/* Address space with a block boundary at text->text, and a block to spare behind the code. */
static int reserve(struct stub_text *text)
{
	uint64_t block_bytes = text->block_bytes;

	text->reserved_bytes = text->bytes + 2 * block_bytes;
	text->reserved = mmap(NULL, text->reserved_bytes, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (text->reserved == MAP_FAILED)
		return -errno;
	text->text = text->reserved +
		     (block_bytes - (uintptr_t)text->reserved % block_bytes) % block_bytes;
	return 0;
}

static int map_file(struct stub_text *text)
{
	if (text->way == WAY_MISPLACED)
		text->text += text->geometry.page_bytes;
	if (mmap(text->text, text->bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, text->fd,
		    0) == MAP_FAILED)
		return -errno;
	if (text->way != WAY_ADVISED)
		return 0;
	return madvise(text->text, text->bytes, MADV_HUGEPAGE) ||
			       madvise(text->text, text->bytes, MADV_RANDOM)
		       ? -errno
		       : 0;
}

/* log2 of a power of two, where mmap(2) expects it */
static int huge_flag(uint64_t bytes)
{
	return (int)((unsigned int)__builtin_ctzll(bytes) << MAP_HUGE_SHIFT);
}

static int map_memory(struct stub_text *text)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	if (text->way == WAY_HUGETLB)
		flags |= MAP_HUGETLB | huge_flag(text->block_bytes);
	if (mmap(text->text, text->bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
		return -errno;
	if (text->way == WAY_ANONYMOUS && madvise(text->text, text->bytes, MADV_HUGEPAGE))
		return -errno;
	return 0;
}

static int copy(struct stub_text *text)
{
	uint64_t offset;
	int err = map_memory(text);

	for (offset = 0; !err && offset < text->bytes; offset += PIECE_BYTES)
		err = *text->stop ? -EINTR
				  : pread_all(text->fd, text->text + offset, PIECE_BYTES, offset);
	if (err)
		return err;
	__builtin___clear_cache(text->text, text->text + text->bytes);
	return mprotect(text->text, text->bytes, PROT_READ | PROT_EXEC) ? -errno : 0;
}

int stub_text_map(struct stub_text *text)
{
	int err = reserve(text);

	if (err)
		return err;
	err = way_is_copy(text->way) ? copy(text) : map_file(text);
	if (err)
		stub_text_unmap(text);
	return err;
}

void stub_text_unmap(struct stub_text *text)
{
	munmap(text->reserved, text->reserved_bytes);
}

int stub_text_touch(const struct stub_text *text)
{
	uint64_t offset;

	for (offset = 0; offset < text->bytes; offset += text->geometry.page_bytes) {
		if (!(offset % PIECE_BYTES) && *text->stop)
			return -EINTR;
		*(volatile const char *)(text->text + offset);
	}
	return 0;
}

double stub_text_call(const struct stub_text *text, uint64_t calls, uint64_t seed)
{
	uint64_t page_bytes = text->geometry.page_bytes, pages = text->bytes / page_bytes;
	uint64_t state = seed, page, line, i;
	double start = now_seconds();

	for (i = 0; i < calls; i++) {
		page = xorshift_below(&state, pages);
		line = page * 0x9e3779b97f4a7c15 >> (64 - LINES_BITS);
		((stub)(uintptr_t)(text->text + page * page_bytes + line * LINE_BYTES))();
	}
	return (now_seconds() - start) * 1e9 / (double)calls;
}

/* The fields of smaps that say what PMD entries map, of a file and of memory. */
static bool is_pmd_field(const char *line)
{
	return !strncmp(line, "AnonHugePages:", 14) || !strncmp(line, "FilePmdMapped:", 14) ||
	       !strncmp(line, "Private_Hugetlb:", 16);
}

/* Sum over the mappings between two addresses. */
static uint64_t pmd_mapped_bytes(uintptr_t start, uintptr_t end)
{
	struct buffer smaps;
	uint64_t sum_bytes = 0;
	bool inside = false;
	char *line, *rest;

	if (read_file_at(AT_FDCWD, "/proc/self/smaps", &smaps))
		return UNKNOWN_BYTES;
	rest = smaps.data;
	while ((line = strsep(&rest, "\n"))) {
		unsigned long first, last;

		if (sscanf(line, "%lx-%lx ", &first, &last) == 2)
			inside = first >= start && last <= end;
		else if (inside && is_pmd_field(line))
			sum_bytes += strtoull(strchr(line, ':') + 1, NULL, 10) * EA_KIB;
	}
	free(smaps.data);
	return sum_bytes;
}

/* What is in folios of a block or more: of memory, these lie where their addresses are aligned. */
static bool in_large_folios(const struct present *present, const struct stub_text *text)
{
	uint64_t sum_bytes = 0;
	unsigned int order;

	for (order = 0; order < FOLIO_ORDERS; order++)
		if (text->geometry.page_bytes << order >= text->block_bytes)
			sum_bytes += present->folio_bytes[order];
	return sum_bytes == text->block_bytes;
}

static uint64_t contpte_bytes(
	const struct stub_text *text, int pagemap_fd, struct page_flags *flags)
{
	uint64_t block_bytes = text->block_bytes, sum_bytes = 0;
	uintptr_t address = (uintptr_t)text->text, end = address + text->bytes;

	if (flags->fd < 0)
		return UNKNOWN_BYTES;
	page_flags_forget(flags);
	address += (block_bytes - address % block_bytes) % block_bytes;
	for (; address + block_bytes <= end; address += block_bytes) {
		struct present present = {0};
		bool large;

		if (pagemap_range(pagemap_fd, flags, text->geometry.page_bytes, address,
			    block_bytes, &present, &large))
			return UNKNOWN_BYTES;
		if (large || (way_is_copy(text->way) && in_large_folios(&present, text)))
			sum_bytes += block_bytes;
	}
	return sum_bytes;
}

uint64_t stub_text_large_bytes(
	const struct stub_text *text, int pagemap_fd, struct page_flags *flags)
{
	uintptr_t start = (uintptr_t)text->text;

	if (text->block_bytes == text->geometry.pmd_bytes)
		return pmd_mapped_bytes(start, start + text->bytes);
	return contpte_bytes(text, pagemap_fd, flags);
}
