/* SPDX-License-Identifier: MIT */
/*
 * series.h - what the programs of this directory share: dying, numbers, page frames
 *
 * Each is one file, static unless it says otherwise, and prints lines of words for the host to read.
 */
#ifndef SERIES_H
#define SERIES_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* include/uapi/linux/kernel-page-flags.h */
#define KPF_RECLAIM 9 /* the same bit of a page as PG_readahead: the mark that read-ahead leaves */
#define KPF_COMPOUND_HEAD 15
#define KPF_COMPOUND_TAIL 16
#define HAS(flags, bit) (((flags) >> (bit)) & 1)

/* Documentation/admin-guide/mm/pagemap.rst */
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_FRAME ((1ull << 55) - 1)

static inline void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(2);
}

static inline uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static inline uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* A number of bytes: 12, 12K, 12M or 12P, which is pages. */
static inline uint64_t parse_bytes(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);
	uint64_t unit = *end == 'K'   ? 1024
			: *end == 'M' ? 1024 * 1024
			: *end == 'P' ? page_bytes()
				      : 1;

	if (end == text || end[*end && unit > 1])
		die("'%s' is no size; write 12, 12K, 12M or 12P", text);
	return value * unit;
}

static inline int open_or_die(const char *file, int flags)
{
	int fd = open(file, flags | O_CLOEXEC, 0755);

	if (fd < 0)
		die("cannot open %s: %s", file, strerror(errno));
	return fd;
}

static inline uint64_t size_of(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		die("cannot stat: %s", strerror(errno));
	return (uint64_t)status.st_size;
}

/* Items number FIRST to FIRST + COUNT of a file of 64-bit items in /proc; how many there are. */
static inline size_t read_items(int fd, uint64_t first, uint64_t *items, size_t count)
{
	ssize_t got = pread(fd, items, count * sizeof(*items), (off_t)(first * sizeof(*items)));

	return got < 0 ? 0 : (size_t)got / sizeof(*items);
}

static inline uint64_t flags_of(int kpageflags, uint64_t frame)
{
	uint64_t flags;

	if (read_items(kpageflags, frame, &flags, 1) != 1)
		die("cannot read /proc/kpageflags: %s", strerror(errno));
	return flags;
}

struct folio {
	uint64_t first_frame, pages, flags; /* flags: of its first page */
};

/* The folio that a page frame is in. */
static inline struct folio folio_of(int kpageflags, uint64_t frame)
{
	uint64_t flags = flags_of(kpageflags, frame), following[64];
	struct folio folio;
	size_t got, i;

	while (HAS(flags, KPF_COMPOUND_TAIL))
		flags = flags_of(kpageflags, --frame);
	folio = (struct folio){frame, 1, flags};
	if (!HAS(flags, KPF_COMPOUND_HEAD))
		return folio;
	for (;;) {
		got = read_items(kpageflags, folio.first_frame + folio.pages, following, 64);
		for (i = 0; i < got && HAS(following[i], KPF_COMPOUND_TAIL); i++)
			folio.pages++;
		if (!got || i < got)
			return folio;
	}
}

#endif
