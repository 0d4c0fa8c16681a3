/* SPDX-License-Identifier: MIT */
/*
 * process.h - facts about the process that the shim was loaded into
 */
#ifndef EA_SHIM_PROCESS_H
#define EA_SHIM_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "core/block.h"
#include "core/kernel.h"

/* struct ea_auxv - one entry of the auxiliary vector */
struct ea_auxv {
	uint64_t type;
	uint64_t value;
};

/*
 * struct ea_stack - what the kernel put on the initial stack
 *
 *	argc | argv[0..argc-1] NULL | envp[0..] NULL | auxv[0..] AT_NULL
 */
struct ea_stack {
	char **argv;
	char **envp;
	struct ea_auxv *auxv;
};

/* ea_stack_find - the vectors that follow each other from @argv on */
void ea_stack_find(struct ea_stack *stack, char **argv, char **envp);

/* ea_stack_is_privileged - AT_SECURE is set, or the auxiliary vector is not what it should be */
int ea_stack_is_privileged(const struct ea_stack *stack);

/* ea_auxv_find - the entry of @type, or NULL */
struct ea_auxv *ea_auxv_find(struct ea_auxv *auxv, uint64_t type);

/* ea_auxv_value - its value, 0 without one */
uint64_t ea_auxv_value(struct ea_auxv *auxv, uint64_t type);

/*
 * ea_process_release - this kernel's release; 0.0 when uname does not tell
 * Costs one system call.
 */
void ea_process_release(struct ea_release *release);

/*
 * ea_process_has_room - would RLIMIT_AS leave room for @bytes more?
 *
 * Without a limit that costs one system call. With one, the size is read from /proc/self/statm.
 * Returns 1, 0, or 0 when it cannot be told.
 */
int ea_process_has_room(uint64_t bytes, uint64_t page_bytes);

/* ea_process_is_limited - is there an RLIMIT_AS at all? Also 1 when it cannot be told. */
int ea_process_is_limited(void);

/*
 * ea_process_shift_blocks - how many blocks of random shift give a library its entropy back
 * @stack_addr: any address of the initial stack; it tells how large the address space is
 *
 * Returns the exclusive upper bound of the shift, a power of two, or 0 without ASLR. See docs/design.md, "ASLR".
 */
uint64_t ea_process_shift_blocks(
	const struct ea_geometry *geometry, uint64_t block_bytes, uint64_t stack_addr);

#endif
