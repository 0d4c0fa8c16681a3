/* SPDX-License-Identifier: MIT */
/*
 * pages.c - for a loader that there is no compiler for: prints /proc/self/maps, with nothing but calls
 * of the libraries that it is linked with and of the C library that the loader is
 *
 * Compiled with -DLIBRARIES as libraries.c is, with -nostdlib, against the loader itself.
 */
int open(const char *, int, ...);
long read(int, void *, unsigned long);
long write(int, const void *, unsigned long);
_Noreturn void _exit(int);
void _start(void);

#define X(name) int name##_first(void), name##_last(void);
LIBRARIES
#undef X

void _start(void)
{
	char buf[4096];
	int wrong = 0;
	long got;
	int fd = open("/proc/self/maps", 0);

#define X(name) wrong |= name##_first() != 1 || name##_last() != 2;
	LIBRARIES
#undef X
	while ((got = read(fd, buf, sizeof(buf))) > 0)
		write(1, buf, got);
	_exit(wrong);
}
