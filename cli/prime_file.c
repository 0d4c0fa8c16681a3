/* SPDX-License-Identifier: MIT */
/*
 * prime_file.c - get the blocks of a file into one folio each
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "io.h"
#include "object.h"
#include "prime.h"

/*
 * How often a block is dropped and read again. A page that is still being read, or on its way to
 * the LRU lists, is not dropped the first time; memory in one piece may turn up the second time.
 */
#define TRIES_MAX 3

/* What this process has had read from disks so far. "rchar" is another thing. */
static uint64_t own_read_bytes(void)
{
	uint64_t bytes;

	return read_value("/proc/self/io", "\nread_bytes:", &bytes) ? UNKNOWN_BYTES : bytes;
}

static enum prime_reason reason_of_error(struct primed_file *file, int err)
{
	switch (err) {
	case -ENOMEM:
		return PRIME_MEMORY;
	case -EPERM:
	case -EACCES:
		return PRIME_NO_EXEC;
	case -EINVAL:
		snprintf(file->detail, sizeof(file->detail),
			"this kernel refuses MADV_HUGEPAGE or MADV_POPULATE_READ");
		return PRIME_OLD_KERNEL;
	default:
		/* Populating has no other word for a page that is not there. */
		snprintf(file->detail, sizeof(file->detail), "%s",
			err == -EFAULT ? "it has become shorter, or the disk fails"
				       : strerror(-err));
		return PRIME_CHANGED;
	}
}

static int read_block(struct prime *prime, const struct primed_file *file, uint64_t offset,
	struct cached_block *block)
{
	int err = page_cache_read(&prime->cache, &file->cached, offset);

	return err ? err : page_cache_look(&prime->cache, &file->cached, offset, block);
}

/* See to it that a block is in one folio. Returns why it is not; @block: as it was seen last. */
static enum prime_reason make_whole(
	struct prime *prime, struct primed_file *file, uint64_t offset, struct cached_block *block)
{
	uint64_t block_bytes = file->cached.block_bytes;
	enum prime_reason reason;
	unsigned int tries;
	int err = 0;

	memset(block, 0, sizeof(*block));
	if (file->cached.residency_known)
		err = page_cache_look(&prime->cache, &file->cached, offset, block);
	for (tries = 0; !err && block->folds != FOLDS_WHOLE; tries++) {
		/* Nothing can be told, and it has been dropped and read once: enough. */
		if (block->folds == FOLDS_UNKNOWN && tries > 1)
			return PRIME_FINE;
		if (tries == TRIES_MAX)
			return PRIME_SMALL_FOLIOS;
		if (block->folds != FOLDS_NOTHING) {
			reason = prime_obstacle(prime, file, offset, block);
			if (reason)
				return block->folds == FOLDS_UNKNOWN ? PRIME_FINE : reason;
		}
		if (!tries && prime->left_bytes < block_bytes)
			return PRIME_LIMIT;
		if (!tries)
			prime->left_bytes -= block_bytes;
		if (block->folds != FOLDS_NOTHING)
			page_cache_drop(file->cached.fd, offset, block_bytes);
		err = read_block(prime, file, offset, block);
	}
	return err ? reason_of_error(file, err) : PRIME_FINE;
}

static void prime_block(struct prime *prime, struct primed_file *file, uint64_t offset)
{
	struct cached_block block;
	enum prime_reason reason = make_whole(prime, file, offset, &block);

	file->missing_bytes[reason] += file->cached.block_bytes;
	prime_state_add(&file->after, file, &block);
}

/* Others take memory, too, while this goes on. */
static bool memory_is_short(const struct prime *prime, const struct primed_file *file)
{
	uint64_t bytes = file->need_bytes;

	if (bytes > prime->left_bytes)
		bytes = prime->left_bytes;
	return machine_available_bytes() < bytes;
}

void prime_file(struct prime *prime, struct primed_file *file)
{
	uint64_t read_before = own_read_bytes(), read_after;
	uint64_t offset;
	size_t i;

	if (memory_is_short(prime, file)) {
		file->after = file->before;
		file->missing_bytes[PRIME_MEMORY] += file->need_bytes;
		return;
	}
	memset(file->missing_bytes, 0, sizeof(file->missing_bytes));
	prime_state_begin(&file->after);
	for (i = 0; i < file->blocks_count; i++)
		for (offset = file->blocks[i].offset;
			offset < file->blocks[i].offset + file->blocks[i].bytes;
			offset += file->cached.block_bytes)
			prime_block(prime, file, offset);
	read_after = own_read_bytes();
	file->read_bytes = read_before == UNKNOWN_BYTES || read_after == UNKNOWN_BYTES
				   ? UNKNOWN_BYTES
				   : read_after - read_before;
}
