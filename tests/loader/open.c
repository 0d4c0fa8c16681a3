/* SPDX-License-Identifier: MIT */
/*
 * open.c - gives a library to dlopen() and prints "loaded", or the loader's words, twice
 *
 *	open PATH
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	/* A second time, as the first attempt must have left nothing behind. */
	for (int i = 0; i < 2; i++) {
		void *handle = dlopen(argv[1], RTLD_NOW);
		puts(handle ? "loaded" : dlerror());
	}
	return 0;
}
