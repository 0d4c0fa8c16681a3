/* SPDX-License-Identifier: MIT */
/*
 * shim_double.h - what the shim meets in a test instead of the kernel, ld.so and seccomp.c
 *
 * System calls reach the kernel, except that execve is only noted and refused, writes to stderr are
 * kept, personality is given, and one call can be made to fail.
 */
#ifndef SHIM_DOUBLE_H
#define SHIM_DOUBLE_H

#include <stddef.h>

#include "shim/link_map.h"

/* struct shim_double - reset before each use: tests may share a process */
struct shim_double {
	/* Written to stderr, terminated; and how many writes that took. */
	char output[8192];
	size_t output_bytes;
	unsigned int writes;

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
};

extern struct shim_double shim_double;

/* shim_double_reset - as at the start of a process that nothing is special about */
void shim_double_reset(void);

/* What _DYNAMIC, ld.so's _r_debug and libc's environ are to the shim: renamed by tests.mk. */
extern struct ea_elf_dyn shim__DYNAMIC[1];
extern struct r_debug shim__r_debug;
extern char **shim_environ;

#endif
