// SPDX-License-Identifier: MIT
/*
 * bases.c - a program that says where it and what belongs to it are
 *
 *	bases [LIBRARY]
 *
 * Prints "BASES program=ADDRESS library=ADDRESS linker=ADDRESS stack=ADDRESS heap=ADDRESS", the
 * addresses at which the first byte of each file is mapped; LIBRARY is opened with dlopen. What is
 * not there is 0. Linked in several ways with text.S, which brings text of any size (make.sh).
 * Exit: 0 done, 2 cannot (one line on stderr).
 */
#define _GNU_SOURCE
#include "series.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char fixture_text_begin[], fixture_text_end[];

static uintptr_t base_of(const char *file)
{
#ifdef WITHOUT_LIBRARIES
	die("%s: this program is static", file);
#else
	void *library = dlopen(file, RTLD_NOW);
	struct link_map *map;

	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map))
		die("%s", dlerror());
	return map->l_addr;
#endif
}

/* Text that answers wrongly is mapped from the wrong place of the file. */
static void check_text(void)
{
	unsigned int last = (unsigned int)((fixture_text_end - fixture_text_begin) / 4096 - 1);

	if (((unsigned int (*)(void))(uintptr_t)(fixture_text_begin + last * 4096ul))() != last)
		die("the last function answers wrongly");
}

int main(int argc, char **argv)
{
	check_text();
	printf("BASES program=%lx library=%lx linker=%lx stack=%lx heap=%lx\n",
		(unsigned long)__ehdr_start, argc > 1 ? (unsigned long)base_of(argv[1]) : 0,
		getauxval(AT_BASE), (unsigned long)&argc, (unsigned long)sbrk(0));
	return 0;
}
