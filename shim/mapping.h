/* SPDX-License-Identifier: MIT */
/*
 * mapping.h - the interposed mmap: what the constructor tells it
 */
#ifndef EA_SHIM_MAPPING_H
#define EA_SHIM_MAPPING_H

#include "settings.h"

/*
 * ea_mapping_init - set the interposed mmap up
 * @envp: the initial environment, or NULL when the settings are to be left at their defaults
 * @is_off: leave every call as it is
 * @seccomp_filters: filters that the shim's calls were tried under
 *
 * Writes nothing where everything is as by default, so that the preloaded copy usually has no
 * memory of its own. Context: constructor of the preloaded copy.
 */
void ea_mapping_init(char *const *envp, int is_off, int seccomp_filters);

#endif
