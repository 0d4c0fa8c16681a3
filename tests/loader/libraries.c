/* SPDX-License-Identifier: MIT */
/*
 * libraries.c - calls both ends of each library's text, of those linked and of those named
 *
 *	libraries [-m] [PATH...]
 *
 * Compiled with -DLIBRARIES='X(name) X(name)' for those that it is linked with. PATHs are given to
 * dlopen(). -m: print /proc/self/maps at the end. Exit 1 when an answer is wrong or a library cannot
 * be loaded, after the loader's own words.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(name) int name##_first(void), name##_last(void);
LIBRARIES
#undef X

static int check(const char *name, int first, int last)
{
	if (first == 1 && last == 2)
		return 0;
	printf("%s: %d %d\n", name, first, last);
	return 1;
}

/* lib<name>.so has <name>_first and <name>_last. */
static int check_loaded(const char *path)
{
	const char *base = strrchr(path, '/');
	char name[200], symbol[220];
	int (*first)(void), (*last)(void);
	void *handle = dlopen(path, RTLD_NOW);

	if (!handle) {
		puts(dlerror());
		return 1;
	}
	snprintf(name, sizeof(name), "%s", (base ? base + 1 : path) + strlen("lib"));
	name[strcspn(name, ".")] = '\0';
	snprintf(symbol, sizeof(symbol), "%s_first", name);
	*(void **)&first = dlsym(handle, symbol);
	snprintf(symbol, sizeof(symbol), "%s_last", name);
	*(void **)&last = dlsym(handle, symbol);
	return first && last ? check(path, first(), last()) : 1;
}

static int print_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int c;

	if (!maps)
		return 1;
	while ((c = getc(maps)) != EOF)
		putchar(c);
	fclose(maps);
	return 0;
}

int main(int argc, char **argv)
{
	int wrong = 0, maps = argc > 1 && !strcmp(argv[1], "-m");

#define X(name) wrong |= check(#name, name##_first(), name##_last());
	LIBRARIES
#undef X
	for (int i = 1 + maps; i < argc; i++)
		wrong |= check_loaded(argv[i]);
	return maps ? print_maps() | wrong : wrong;
}
