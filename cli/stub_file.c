/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/block.h"
#include "io.h"
#include "page_cache.h"
#include "stub_file.h"

#define PIECE_BYTES (64 * EA_KIB)

#if defined(__x86_64__)
#define RETURN_INSTRUCTION 0xc3c3c3c3u /* ret, four times */
#elif defined(__aarch64__)
#define RETURN_INSTRUCTION 0xd65f03c0u /* ret */
#else
#error "what returns on this machine?"
#endif

static int write_stubs(int fd, uint64_t bytes, const volatile sig_atomic_t *stop)
{
	uint32_t piece[PIECE_BYTES / sizeof(uint32_t)];
	uint64_t offset;
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(piece) / sizeof(piece[0]); i++)
		piece[i] = RETURN_INSTRUCTION;
	for (offset = 0; !err && offset < bytes; offset += sizeof(piece))
		err = *stop ? -EINTR : pwrite_all(fd, piece, sizeof(piece), offset);
	/* Only clean pages can be evicted. */
	if (!err && fsync(fd))
		err = -errno;
	return err;
}

int stub_file_create(const char *dir, uint64_t bytes, const volatile sig_atomic_t *stop)
{
	char path[PATH_MAX];
	int writing, reading, err;

	if (snprintf(path, sizeof(path), "%s/.execalign-bench-XXXXXX", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	writing = mkostemp(path, O_CLOEXEC);
	if (writing < 0)
		return -errno;
	/*
	 * What maps it must not have it open for writing: the kernel collapses text of files into large
	 * folios only when nobody has (mm/khugepaged.c, file_thp_enabled()).
	 */
	reading = open(path, O_RDONLY | O_CLOEXEC);
	err = reading < 0 ? -errno : 0;
	unlink(path);
	if (!err)
		err = write_stubs(writing, bytes, stop);
	close(writing);
	if (!err)
		return reading;
	if (reading >= 0)
		close(reading);
	return err;
}

int64_t stub_file_evict(int fd, uint64_t bytes, uint64_t page_bytes)
{
	size_t pages = (size_t)(bytes / page_bytes), i;
	unsigned char *cached;
	int64_t left_bytes;
	void *mapping;

	page_cache_drop(fd, 0, bytes);
	mapping = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, 0);
	if (mapping == MAP_FAILED)
		return -errno;
	cached = malloc(pages);
	left_bytes = !cached ? -ENOMEM : mincore(mapping, bytes, cached) ? -errno : 0;
	for (i = 0; left_bytes >= 0 && i < pages; i++)
		if (cached[i] & 1)
			left_bytes += (int64_t)page_bytes;
	free(cached);
	munmap(mapping, bytes);
	return left_bytes;
}
