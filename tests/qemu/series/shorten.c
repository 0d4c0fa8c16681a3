// SPDX-License-Identifier: MIT
/*
 * shorten.c - a file that is mapped as text and truncated: where bytes are, and where SIGBUS is
 *
 *	shorten FILE SIZE NEW_SIZE
 *
 * Makes FILE of SIZE with a word of its own in each 4 KiB, maps it as text with room behind its end
 * and touches all of it. Then the file is truncated to NEW_SIZE and looked at again; then made SIZE
 * long once more, where all behind NEW_SIZE must be zeros. Sizes as in fault.c.
 *
 * What must hold for a file of SIZE bytes, each time: words inside are what they were; behind the
 * last byte, up to the end of its page, are zeros; pages behind that are SIGBUS. Prints a line
 * "WRONG ..." for the first that is not so, and "SHORTEN pages=N sigbus=N wrong=N".
 * Exit: 0 nothing was wrong, 1 something was, 2 cannot (one line on stderr).
 */
#define _GNU_SOURCE
#include "series.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>

#define WORD_BYTES 4096ul
#define ROOM_BYTES (4ul << 20)

static sigjmp_buf after_sigbus;
static const char *map;
static unsigned long pages, sigbus, wrong;

static void on_sigbus(int number)
{
	siglongjmp(after_sigbus, number);
}

/* A byte of the mapping, or -1 where touching it is SIGBUS. */
static int byte_at(uint64_t at)
{
	if (sigsetjmp(after_sigbus, 1))
		return -1;
	return ((const volatile unsigned char *)map)[at];
}

/* Never 0, so that it can be told from what was never written. */
static unsigned char mark(uint64_t at)
{
	return (unsigned char)(at / WORD_BYTES % 255 + 1);
}

static void expect(const char *when, uint64_t at, int expected)
{
	int found = byte_at(at);

	if (expected < 0 && found < 0)
		sigbus++;
	if (found == expected)
		return;
	if (!wrong++)
		printf("WRONG when=%s at=%lu expected=%d found=%d\n", when, (unsigned long)at,
			expected, found);
}

/* What a byte of a file of SIZE must be that was WRITTEN long when it was last written to. */
static int expected_at(uint64_t at, uint64_t size, uint64_t written)
{
	if (at >= round_up(size, page_bytes()))
		return -1;
	return at < size && at < written ? mark(at) : 0;
}

static void look(const char *when, uint64_t room, uint64_t size, uint64_t written)
{
	for (uint64_t page = 0; page < room; page += page_bytes(), pages++)
		for (uint64_t at = page; at < page + page_bytes(); at += WORD_BYTES)
			expect(when, at, expected_at(at, size, written));
	/* The last byte and the one behind it. */
	expect(when, size - 1, expected_at(size - 1, size, written));
	expect(when, size, expected_at(size, size, written));
}

static void fill(int fd, uint64_t size)
{
	unsigned char word[WORD_BYTES];

	for (uint64_t at = 0; at < size; at += WORD_BYTES) {
		size_t bytes = size - at < WORD_BYTES ? size - at : WORD_BYTES;

		memset(word, mark(at), sizeof(word));
		if (write(fd, word, bytes) != (ssize_t)bytes)
			die("cannot write: %s", strerror(errno));
	}
	/* Read again from the disk, as text is: in what folios it was written is of no interest. */
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		die("cannot drop what was written");
}

static void change_size(int fd, uint64_t size)
{
	if (ftruncate(fd, (off_t)size))
		die("cannot truncate: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	uint64_t size, new_size, room;
	int fd;

	if (argc != 4)
		die("usage: shorten FILE SIZE NEW_SIZE");
	size = parse_bytes(argv[2]);
	new_size = parse_bytes(argv[3]);
	room = round_up(size, page_bytes()) + ROOM_BYTES;
	fd = open_or_die(argv[1], O_RDWR | O_CREAT | O_TRUNC);
	fill(fd, size);
	map = mmap(NULL, room, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		die("cannot map %s: %s", argv[1], strerror(errno));
	signal(SIGBUS, on_sigbus);
	look("whole", room, size, size);
	change_size(fd, new_size);
	look("shortened", room, new_size, size);
	change_size(fd, size);
	look("lengthened", room, size, new_size);
	printf("SHORTEN pages=%lu sigbus=%lu wrong=%lu\n", pages, sigbus, wrong);
	return wrong != 0;
}
