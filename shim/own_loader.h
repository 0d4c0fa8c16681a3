/* SPDX-License-Identifier: MIT */
/*
 * own_loader.h - does the loader of this process place text by itself?
 */
#ifndef EA_SHIM_OWN_LOADER_H
#define EA_SHIM_OWN_LOADER_H

#include "process.h"

/* The reason to stand aside, for the log. */
#define EA_OWN_LOADER_PLACES "the loader places text by itself"

/*
 * ea_own_loader_places - has it the note of loader_note.h, and does glibc's tunable not say no?
 *
 * Looks at memory only: at what AT_BASE points to, and the environment. A program that was started as
 * `ld.so PROGRAM` has no AT_BASE; then the answer is 0, and what is done in vain is done.
 * Context: before the program has changed its environment; not in a privileged process, whose
 * loader heeds no tunables.
 */
int ea_own_loader_places(const struct ea_stack *stack);

#endif
