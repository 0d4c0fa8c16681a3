// SPDX-License-Identifier: MIT
/*
 * placing.c - where mappings of several kinds come to lie
 *
 *	placing BLOCK FILE
 *
 * Makes TIMES mappings of each kind and prints "PLACED kind=NAME times=N as_asked=N aligned=N":
 * how many are exactly where they were asked for, and of how many (address - file offset) is a
 * multiple of BLOCK. FILE must be at least 4 BLOCKs long.
 * Exit: 0 done, 2 cannot (one line on stderr).
 */
#define _GNU_SOURCE
#include "series.h"

#include <stdbool.h>

#define TIMES 32

enum where { ANYWHERE, HINT, FIXED, NOREPLACE };

struct kind {
	const char *name;
	enum where where;
	int protection, flags;
	bool file;
	uint64_t blocks_quarters; /* length: quarters of a block, and a page */
	uint64_t offset_pages;
};

#define TEXT (PROT_READ | PROT_EXEC)
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)

static const struct kind kinds[] = {
	{"text", ANYWHERE, TEXT, MAP_PRIVATE, true, 12, 0},
	{"text-offset", ANYWHERE, TEXT, MAP_PRIVATE, true, 10, 3},
	{"text-small", ANYWHERE, TEXT, MAP_PRIVATE, true, 2, 0},
	{"text-hint", HINT, TEXT, MAP_PRIVATE, true, 12, 0},
	{"text-fixed", FIXED, TEXT, MAP_PRIVATE, true, 12, 0},
	{"text-noreplace", NOREPLACE, TEXT, MAP_PRIVATE, true, 12, 0},
	{"reserve", ANYWHERE, PROT_NONE, ANONYMOUS, false, 12, 0},
	{"reserve-small", ANYWHERE, PROT_NONE, ANONYMOUS, false, 2, 0},
	{"reserve-hint", HINT, PROT_NONE, ANONYMOUS, false, 12, 0},
	{"reserve-fixed", FIXED, PROT_NONE, ANONYMOUS, false, 12, 0},
	{"reserve-stack", ANYWHERE, PROT_NONE, ANONYMOUS | MAP_STACK, false, 12, 0},
	{"data-small", ANYWHERE, PROT_READ | PROT_WRITE, ANONYMOUS, false, 2, 0},
	{"stack", ANYWHERE, PROT_READ | PROT_WRITE, ANONYMOUS | MAP_STACK, false, 2, 0},
};

static uint64_t block_bytes;
static int fd;

/* Room that is free, and an address in it that is no multiple of a block. */
static char *free_address(uint64_t length, unsigned int time)
{
	char *room = mmap(NULL, length + 4 * block_bytes, PROT_NONE, ANONYMOUS, -1, 0);

	if (room == MAP_FAILED || munmap(room, length + 4 * block_bytes))
		die("no room: %s", strerror(errno));
	return (char *)round_up((uintptr_t)room, block_bytes) + (1 + time % 3) * page_bytes();
}

static void place(const struct kind *kind)
{
	static const int how[] = {
		[ANYWHERE] = 0, [HINT] = 0, [FIXED] = MAP_FIXED, [NOREPLACE] = MAP_FIXED_NOREPLACE};
	uint64_t length = kind->blocks_quarters * block_bytes / 4 + page_bytes();
	uint64_t offset = kind->offset_pages * page_bytes();
	unsigned int as_asked = 0, aligned = 0;
	char *placed[TIMES];

	for (unsigned int time = 0; time < TIMES; time++) {
		char *asked = kind->where == ANYWHERE ? NULL : free_address(length, time);
		char *got = mmap(asked, length, kind->protection, kind->flags | how[kind->where],
			kind->file ? fd : -1, (off_t)offset);

		if (got == MAP_FAILED)
			die("%s: %s", kind->name, strerror(errno));
		as_asked += got == asked;
		aligned += ((uintptr_t)got - offset) % block_bytes == 0;
		placed[time] = got;
	}
	/* The gaps between these would decide where the next kind goes. */
	for (unsigned int time = 0; time < TIMES; time++)
		munmap(placed[time], length);
	printf("PLACED kind=%s times=%d as_asked=%u aligned=%u\n", kind->name, TIMES, as_asked,
		aligned);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		die("usage: placing BLOCK FILE");
	block_bytes = parse_bytes(argv[1]);
	fd = open_or_die(argv[2], O_RDONLY);
	if (size_of(fd) < 4 * block_bytes)
		die("%s is shorter than four blocks", argv[2]);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		place(&kinds[i]);
	return 0;
}
