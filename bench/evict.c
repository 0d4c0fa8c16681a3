/* SPDX-License-Identifier: MIT */
/*
 * evict FILE... - drop the files' pages from the page cache, so that they are read from disk anew
 *
 * Pages that a running process has mapped stay: nothing can evict them. Prints one line,
 * "LEFT TOTAL", both in KiB: what is still cached afterwards, and the size of the files. LEFT is
 * "unknown" when one of the files neither belongs to the caller nor may be written by it:
 * mincore(2) calls every page of such a file resident.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* struct tally - sums over the files */
struct tally {
	long long left_kib;
	long long total_kib;
	int left_unknown;
};

/* Cached pages of @fd in KiB; -1 on error with errno set. */
static long long resident_kib(int fd, size_t bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t pages = (bytes + page_bytes - 1) / page_bytes;
	unsigned char *cached = malloc(pages);
	void *mapping = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, 0);
	long long resident = -1;

	if (!cached || mapping == MAP_FAILED || mincore(mapping, bytes, cached))
		goto out;
	resident = 0;
	for (size_t i = 0; i < pages; i++)
		resident += cached[i] & 1;
	resident = resident * (long long)page_bytes / 1024;
out:
	if (mapping != MAP_FAILED)
		munmap(mapping, bytes);
	free(cached);
	return resident;
}

/* Evicts the file behind @fd; returns 0, or -1 with errno set. */
static int evict(int fd, struct tally *tally)
{
	struct stat st;
	long long left_kib = 0;
	int error;

	/* Only clean pages can be dropped, and those of a fresh installation are dirty. */
	if (fstat(fd, &st) || fsync(fd))
		return -1;
	error = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (error) {
		errno = error;
		return -1;
	}
	if (st.st_size)
		left_kib = resident_kib(fd, (size_t)st.st_size);
	if (left_kib < 0)
		return -1;
	tally->left_kib += left_kib;
	tally->total_kib += st.st_size / 1024;
	return 0;
}

static int evict_path(const char *path, struct tally *tally)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return -1;
	if (evict(fd, tally))
		error = errno;
	close(fd);
	errno = error;
	return error ? -1 : 0;
}

/* mincore(2) is truthful to those who own the file or may write to it. */
static int resident_is_visible(const char *path)
{
	struct stat st;

	return !access(path, W_OK) || (!stat(path, &st) && st.st_uid == geteuid());
}

int main(int argc, char **argv)
{
	struct tally tally = {0};

	for (int i = 1; i < argc; i++) {
		if (evict_path(argv[i], &tally)) {
			fprintf(stderr, "evict: %s: %s\n", argv[i], strerror(errno));
			return 2;
		}
		tally.left_unknown |= !resident_is_visible(argv[i]);
	}
	if (tally.left_unknown)
		printf("unknown %lld\n", tally.total_kib);
	else
		printf("%lld %lld\n", tally.left_kib, tally.total_kib);
	return 0;
}
