// SPDX-License-Identifier: MIT
/*
 * fault.c - touch a few bytes of a file through a mapping, and say what that took
 *
 *	fault [-n COUNT] [-s STEP] read|exec FILE OFFSET
 *
 * Maps FILE as data or as text and reads the bytes at OFFSET, OFFSET + STEP and so on, COUNT of them
 * (1, a page). As text, the file's header is read first, as a loader does. Sizes may end in K, M or
 * P for pages. Prints "FAULT touched=N major=N address=ADDRESS", the last where FILE is mapped.
 * Exit: 0 done, 2 cannot (one line on stderr).
 */
#define _GNU_SOURCE
#include "series.h"

#include <sys/resource.h>

#define HEADER_BYTES 832 /* what glibc's open_verify() reads */

static long major_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt;
}

int main(int argc, char **argv)
{
	uint64_t count = 1, step = page_bytes(), at, size;
	const volatile char *map;
	char header[HEADER_BYTES];
	int option, fd, exec;
	long major;

	while ((option = getopt(argc, argv, "+n:s:")) != -1) {
		if (option == 'n')
			count = parse_bytes(optarg);
		else if (option == 's')
			step = parse_bytes(optarg);
		else
			optind = argc;
	}
	if (argc - optind != 3)
		die("usage: fault [-n COUNT] [-s STEP] read|exec FILE OFFSET");
	exec = strcmp(argv[optind], "exec") == 0;
	fd = open_or_die(argv[optind + 1], O_RDONLY);
	at = parse_bytes(argv[optind + 2]);
	size = size_of(fd);
	if (exec && read(fd, header, sizeof(header)) != sizeof(header))
		die("%s has no header", argv[optind + 1]);
	map = mmap(NULL, size, PROT_READ | (exec ? PROT_EXEC : 0), MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		die("cannot map %s: %s", argv[optind + 1], strerror(errno));
	major = major_faults();
	for (uint64_t i = 0; i < count; i++, at += step) {
		if (at >= size)
			die("%s ends before %llu", argv[optind + 1], (unsigned long long)at);
		(void)map[at];
	}
	printf("FAULT touched=%llu major=%ld address=%p\n", (unsigned long long)count,
		major_faults() - major, (const void *)map);
	return 0;
}
