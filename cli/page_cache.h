/* SPDX-License-Identifier: MIT */
/*
 * page_cache.h - look at, drop and read one block of a file in the page cache
 *
 * Nothing here touches the memory of a mapping: pages are brought in with MADV_POPULATE_READ, which
 * answers with an error where a truncated file would kill with SIGBUS.
 */
#ifndef CLI_PAGE_CACHE_H
#define CLI_PAGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "maps.h"
#include "pagemap.h"

/* struct page_cache - what it takes to look */
struct page_cache {
	uint64_t page_bytes;
	int pagemap_fd;		 /* of this process; -1: there is none */
	struct page_flags flags; /* fd is -1 where folios cannot be told */
	char *place;		 /* reserved: block boundary where blocks are mapped */
	char *reserved;
};

/* enum reading - how a file's blocks are had in one folio each */
enum reading {
	READING_ADVISED,    /* MADV_HUGEPAGE and MADV_RANDOM, as the shim does */
	READING_EXECUTABLE, /* the kernel's own reading of executable mappings */
};

/* struct cached_file - an open file; blocks are of the file, at multiples of block_bytes */
struct cached_file {
	int fd;
	uint64_t block_bytes; /* 2 MiB at most */
	enum reading reading;
	bool residency_known; /* may this process know which pages are cached? */
};

/* enum folds - is a block cached in one folio? */
enum folds {
	FOLDS_NOTHING, /* nothing of it is cached */
	FOLDS_SMALL,   /* no, in smaller ones, or only a part of it is cached */
	FOLDS_WHOLE,
	FOLDS_UNKNOWN,
};

/* struct cached_block - what was seen */
struct cached_block {
	enum folds folds;
	struct present present; /* its cached pages; shared_bytes: some process has mapped them */
	bool folios_known;
};

/*
 * page_cache_open - get ready
 *
 * Returns 0 or -errno. Free with page_cache_close(). Context: /proc is mounted, or less is known.
 */
int page_cache_open(struct page_cache *cache, uint64_t page_bytes);

void page_cache_close(struct page_cache *cache);

/*
 * page_cache_tells_residency - does mincore(2) tell the truth about this file?
 * @file_bytes: its size
 *
 * Since 5.2 it does to those who own the file or may write to it (mm/mincore.c, can_do_mincore()).
 */
bool page_cache_tells_residency(const struct page_cache *cache, int fd, uint64_t file_bytes);

/*
 * page_cache_has - is the page at @offset cached? Believe it only where residency is known.
 */
bool page_cache_has(const struct page_cache *cache, int fd, uint64_t offset);

/*
 * page_cache_look - see in what a block is cached
 * @offset: of the block
 *
 * Where residency is known, reads nothing. Else it has everything of the block read that is not
 * cached: then it is for a block that was read just now.
 * Returns 0 or -errno; -EFAULT where the file has become shorter or cannot be read. Any context.
 */
int page_cache_look(struct page_cache *cache, const struct cached_file *file, uint64_t offset,
	struct cached_block *out);

/*
 * page_cache_read - have a block of which nothing is cached read in one folio
 *
 * Returns 0 or -errno as page_cache_look(); 0 says nothing about the folios.
 */
int page_cache_read(
	const struct page_cache *cache, const struct cached_file *file, uint64_t offset);

/*
 * page_cache_drop - drop what is cached of a range and is clean and not mapped
 *
 * Anybody may who can read the file (mm/fadvise.c).
 */
void page_cache_drop(int fd, uint64_t offset, uint64_t bytes);

/*
 * page_cache_dirty_bytes - how much of a range is not on disk yet
 *
 * 0 also where the kernel does not tell: before 6.5, and of files that this process does not own.
 */
uint64_t page_cache_dirty_bytes(
	const struct page_cache *cache, int fd, uint64_t offset, uint64_t bytes);

/*
 * page_cache_identity - device and inode of a file as /proc/PID/maps shows them
 * @out: only dev_major, dev_minor and inode are filled; on overlayfs and btrfs stat(2) knows others
 *
 * Returns 0 or -errno.
 */
int page_cache_identity(const struct page_cache *cache, int fd, struct vma *out);

#endif
