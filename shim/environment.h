/* SPDX-License-Identifier: MIT */
/*
 * environment.h - reading and mending the environment block of the process
 *
 * The block that the kernel built on the stack is edited in place, before main and before libc has
 * looked at it (-z initfirst): children inherit from it.
 */
#ifndef EA_SHIM_ENVIRONMENT_H
#define EA_SHIM_ENVIRONMENT_H

#include <stddef.h>

/*
 * ea_env_find - value of variable @name, or NULL
 * @index: receives its place in @envp; may be NULL
 */
const char *ea_env_find(char *const *envp, const char *name, size_t *index);

/* ea_env_count - entries before the terminating NULL */
size_t ea_env_count(char *const *envp);

/*
 * ea_env_list_has - is @item one of the parts of @list, separated by ':' (or ' ' as in LD_PRELOAD)?
 */
int ea_env_list_has(const char *list, const char *item);

/*
 * ea_env_cut_last_item - remove the last ':'-separated item of @value in place
 * The freed bytes are cleared, so that /proc/PID/environ shows no remains.
 * Returns 1 when something is left, 0 when that was the only item.
 */
int ea_env_cut_last_item(char *value);

#endif
