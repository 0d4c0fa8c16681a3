/* SPDX-License-Identifier: MIT */
/*
 * shim_double.h - what the shim meets in a test instead of the kernel, ld.so and seccomp.c
 *
 * System calls reach the kernel, except that execve is only noted and refused, writes to stderr are
 * kept, personality is given, some files can be made up, and one call can be made to fail.
 */
#ifndef SHIM_DOUBLE_H
#define SHIM_DOUBLE_H

#include <stddef.h>

#include "shim/link_map.h"

#define SHIM_DOUBLE_FILES 4

struct shim_double_file {
	const char *path;
	int fd;
};

/* struct shim_double - reset before each use: tests may share a process */
struct shim_double {
	/* Written to stderr, terminated; and how many writes that took. */
	char output[8192];
	size_t output_bytes;
	unsigned int writes;
	/* Raised by such a write, which fails then; 0: none. */
	int write_signal;

	/* Called with execve's arguments, which the shim frees afterwards. */
	void (*on_exec)(const char *path, char *const *argv, char *const *envp);
	unsigned int execs;

	/* Mappings made and given back. */
	unsigned int mmaps, munmaps;

	/* The call of this number returns @fail_result instead; -1: none does. */
	long fail_number, fail_result;

	long personality;

	/* ea_seccomp_refuses()'s answers. */
	const char *seccomp_reason;
	int seccomp_filters;
	int seccomp_must_try; /* what it was told */

	/* Files that exist for openat and newfstatat only. */
	struct shim_double_file files[SHIM_DOUBLE_FILES];
	unsigned int file_count;
};

extern struct shim_double shim_double;

/* shim_double_reset - as at the start of a process that nothing is special about */
void shim_double_reset(void);

/*
 * shim_double_serve - make up the file @path until the next reset: @bytes at @head, then zeroes up
 * to @file_bytes
 */
void shim_double_serve(const char *path, const void *head, size_t bytes, size_t file_bytes);

/* What _DYNAMIC and ld.so's _r_debug are to the shim: renamed by tests.mk. */
extern struct ea_elf_dyn shim__DYNAMIC[1];
extern struct r_debug shim__r_debug;

#endif
