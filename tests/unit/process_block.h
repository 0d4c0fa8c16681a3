/* SPDX-License-Identifier: MIT */
/*
 * process_block.h - the initial stack of a process as the kernel builds it (fs/binfmt_elf.c,
 * create_elf_tables(); fs/exec.c, copy_strings())
 *
 *	argc | argv[] NULL | envp[] NULL | auxv[] AT_NULL | strings of argv | of envp | of AT_EXECFN
 *
 * All in one allocation that ends with the last string, so that a sanitizer sees what goes beyond.
 */
#ifndef PROCESS_BLOCK_H
#define PROCESS_BLOCK_H

#include <stddef.h>

#include "shim/process.h"

/* struct process_block - process_block_free() it */
struct process_block {
	char *memory;
	size_t bytes;
	struct ea_stack stack;
	/* What /proc/PID/environ shows. */
	char *environ_start, *environ_end;
	/* Where AT_EXECFN points to in the beginning; NULL without one. */
	const char *execfn;
};

/*
 * process_block_build - a block of these strings
 * @execfn: NULL for a process without AT_EXECFN
 * @auxv: further entries, ended by AT_NULL; AT_EXECFN is put behind them
 */
void process_block_build(struct process_block *block, char *const *argv, char *const *envp,
	const char *execfn, const struct ea_auxv *auxv);

void process_block_free(struct process_block *block);

#endif
