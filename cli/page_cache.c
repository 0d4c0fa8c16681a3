/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/block.h"
#include "io.h"
#include "page_cache.h"

/* Linux 5.14 and 6.5; the C library's headers may be older. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif

/* Of the smallest pages in the largest block. */
#define BLOCK_PAGES_MAX (EA_BLOCK_CAP_BYTES / (4 * EA_KIB))

/* No folio is larger: one that holds the end of a file does not reach so far behind it. */
#define FOLIO_BYTES_MAX (128 * EA_MIB)

/* mm/memory.c, fault_around_bytes: so much is mapped around a touched page in any folios. */
#define FAULT_AROUND_BYTES (64 * EA_KIB)

int page_cache_open(struct page_cache *cache, uint64_t page_bytes)
{
	uintptr_t reserved;

	memset(cache, 0, sizeof(*cache));
	cache->page_bytes = page_bytes;
	cache->reserved = mmap(NULL, 2 * EA_BLOCK_CAP_BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (cache->reserved == MAP_FAILED)
		return -errno;
	reserved = (uintptr_t)cache->reserved;
	cache->place = cache->reserved + (-reserved & (EA_BLOCK_CAP_BYTES - 1));
	cache->pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	page_flags_open(&cache->flags);
	return 0;
}

void page_cache_close(struct page_cache *cache)
{
	page_flags_close(&cache->flags);
	if (cache->pagemap_fd >= 0)
		close(cache->pagemap_fd);
	munmap(cache->reserved, 2 * EA_BLOCK_CAP_BYTES);
}

/* Map a range at the place, which is congruent for it: @offset is a multiple of the block. */
static int map_range(
	const struct page_cache *cache, int fd, uint64_t offset, uint64_t bytes, int protection)
{
	void *map =
		mmap(cache->place, bytes, protection, MAP_PRIVATE | MAP_FIXED, fd, (off_t)offset);

	return map == MAP_FAILED ? -errno : 0;
}

/* Mappings of files keep their pages in use. */
static void unmap_range(const struct page_cache *cache, uint64_t bytes)
{
	mmap(cache->place, bytes, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static int advise(const struct page_cache *cache, uint64_t bytes, int advice)
{
	return madvise(cache->place, bytes, advice) ? -errno : 0;
}

/* The order of mm/filemap.c, do_sync_mmap_readahead(): it looks for VM_HUGEPAGE first. */
static int advise_block(const struct page_cache *cache, uint64_t bytes)
{
	int err = advise(cache, bytes, MADV_HUGEPAGE);

	return err ? err : advise(cache, bytes, MADV_RANDOM);
}

static int populate(const struct page_cache *cache, uint64_t at, uint64_t bytes)
{
	return madvise(cache->place + at, bytes, MADV_POPULATE_READ) ? -errno : 0;
}

/* Is the page at @offset cached? 1, 0, or -errno, as where a filter refuses mincore(2). */
static int is_resident(const struct page_cache *cache, int fd, uint64_t offset)
{
	unsigned char resident;
	int err = map_range(cache, fd, offset, cache->page_bytes, PROT_READ);

	if (err)
		return err;
	err = mincore(cache->place, cache->page_bytes, &resident) ? -errno : 0;
	unmap_range(cache, cache->page_bytes);
	return err ? err : resident & 1;
}

bool page_cache_has(const struct page_cache *cache, int fd, uint64_t offset)
{
	return is_resident(cache, fd, offset) == 1;
}

/* A page behind the end of the file is never cached: who is told so is told the truth. */
bool page_cache_tells_residency(const struct page_cache *cache, int fd, uint64_t file_bytes)
{
	uint64_t behind = (file_bytes & ~(cache->page_bytes - 1)) + FOLIO_BYTES_MAX;

	return !is_resident(cache, fd, behind);
}

/*
 * Map the pages that are cached, or all of them: as @resident says. The range is advised with
 * MADV_RANDOM, so that a read-ahead mark on one of them starts nothing.
 */
static int populate_resident(
	const struct page_cache *cache, const unsigned char *resident, uint64_t pages)
{
	uint64_t i = 0;

	while (i < pages) {
		uint64_t first = i;
		int err;

		while (i < pages && (resident[i] & 1))
			i++;
		err = i > first ? populate(cache, first * cache->page_bytes,
					  (i - first) * cache->page_bytes)
				: 0;
		if (err)
			return err;
		i += i == first;
	}
	return 0;
}

/*
 * Without page frames: the first touch of any page of a folio maps all of it, by a PMD entry, or
 * since 6.18 page by page (mm/filemap.c, filemap_map_folio_range(); mm/memory.c, finish_fault()).
 * What the touch of one page has mapped is one folio, if it is more than is mapped around it.
 */
static enum folds judge_by_touch(const struct cached_file *file, const struct present *touched)
{
	if (file->block_bytes <= FAULT_AROUND_BYTES)
		return FOLDS_UNKNOWN;
	return touched->bytes == file->block_bytes ? FOLDS_WHOLE : FOLDS_SMALL;
}

static int look_at_pages(
	struct page_cache *cache, uint64_t bytes, struct present *present, bool *one_run)
{
	memset(present, 0, sizeof(*present));
	return pagemap_range(cache->pagemap_fd, &cache->flags, cache->page_bytes,
		(uintptr_t)cache->place, bytes, present, one_run);
}

/* The block is mapped and advised; @resident tells what is cached, or to be brought in. */
static int look_at_block(struct page_cache *cache, const struct cached_file *file,
	const unsigned char *resident, struct cached_block *out)
{
	uint64_t pages = file->block_bytes / cache->page_bytes, first = 0;
	struct present touched;
	bool one_run;
	int err;

	while (first < pages && !(resident[first] & 1))
		first++;
	if (first == pages) {
		out->folds = FOLDS_NOTHING;
		out->folios_known = true;
		return 0;
	}
	err = populate(cache, first * cache->page_bytes, cache->page_bytes);
	if (err || cache->pagemap_fd < 0)
		return err;
	err = look_at_pages(cache, file->block_bytes, &touched, NULL);
	if (!err)
		err = populate_resident(cache, resident, pages);
	if (!err)
		err = look_at_pages(cache, file->block_bytes, &out->present, &one_run);
	if (err)
		return err;
	out->folios_known = cache->flags.fd >= 0;
	if (out->folios_known)
		out->folds = one_run ? FOLDS_WHOLE : FOLDS_SMALL;
	else
		out->folds = judge_by_touch(file, &touched);
	return 0;
}

int page_cache_look(struct page_cache *cache, const struct cached_file *file, uint64_t offset,
	struct cached_block *out)
{
	unsigned char resident[BLOCK_PAGES_MAX];
	int err = map_range(cache, file->fd, offset, file->block_bytes, PROT_READ);

	memset(out, 0, sizeof(*out));
	out->folds = FOLDS_UNKNOWN;
	page_flags_forget(&cache->flags);
	if (err)
		return err;
	memset(resident, 1, sizeof(resident));
	if (file->residency_known && mincore(cache->place, file->block_bytes, resident))
		err = -errno;
	if (!err)
		err = advise_block(cache, file->block_bytes);
	if (!err)
		err = look_at_block(cache, file, resident, out);
	unmap_range(cache, file->block_bytes);
	return err;
}

/*
 * Advised, a touch of one page reads the block. Else everything is touched, and the kernel reads
 * the folios that it has for text, from one end of the mapping to the other.
 */
int page_cache_read(const struct page_cache *cache, const struct cached_file *file, uint64_t offset)
{
	bool advised = file->reading == READING_ADVISED;
	int err = map_range(cache, file->fd, offset, file->block_bytes,
		advised ? PROT_READ : PROT_READ | PROT_EXEC);

	if (err)
		return err;
	if (advised)
		err = advise_block(cache, file->block_bytes);
	if (!err)
		err = populate(cache, 0, advised ? cache->page_bytes : file->block_bytes);
	unmap_range(cache, file->block_bytes);
	return err;
}

void page_cache_drop(int fd, uint64_t offset, uint64_t bytes)
{
	posix_fadvise(fd, (off_t)offset, (off_t)bytes, POSIX_FADV_DONTNEED);
}

uint64_t page_cache_dirty_bytes(
	const struct page_cache *cache, int fd, uint64_t offset, uint64_t bytes)
{
	/* include/uapi/linux/mman.h */
	struct {
		uint64_t offset;
		uint64_t bytes;
	} range = {offset, bytes};
	struct {
		uint64_t cached;
		uint64_t dirty;
		uint64_t writeback;
		uint64_t evicted;
		uint64_t recently_evicted;
	} pages = {0};

	if (syscall(__NR_cachestat, fd, &range, &pages, 0))
		return 0;
	return (pages.dirty + pages.writeback) * cache->page_bytes;
}

int page_cache_identity(const struct page_cache *cache, int fd, struct vma *out)
{
	struct buffer text;
	struct maps maps;
	size_t i;
	int err = map_range(cache, fd, 0, cache->page_bytes, PROT_READ);

	if (err)
		return err;
	err = read_file_at(AT_FDCWD, "/proc/self/maps", &text);
	unmap_range(cache, cache->page_bytes);
	if (err)
		return err;
	err = maps_parse(text.data, text.bytes, &maps);
	free(text.data);
	if (err)
		return err;
	err = -ENOENT;
	for (i = 0; i < maps.count && err; i++) {
		if (maps.vmas[i].start != (uintptr_t)cache->place)
			continue;
		*out = maps.vmas[i];
		out->path = NULL;
		err = 0;
	}
	maps_free(&maps);
	return err;
}
