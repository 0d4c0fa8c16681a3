/* SPDX-License-Identifier: MIT */
/*
 * startup.h - what a look at the start-up libraries tells: is there anything to gain?
 */
#ifndef EA_SHIM_STARTUP_H
#define EA_SHIM_STARTUP_H

#include <stdint.h>

#include "core/block.h"
#include "link_map.h"
#include "settings.h"

/*
 * struct ea_startup - what there is to look at
 */
struct ea_startup {
	struct link_map *main_map; /* first entry of the list: the main executable */
	uint64_t loader_addr;	   /* AT_BASE: ld.so, which the kernel places */
	struct ea_geometry geometry;
};

/*
 * ea_startup_is_misplaced - is a start-up library eligible, allowed and not congruent?
 *
 * The main executable and ld.so do not count: the kernel places them. Opens, reads and
 * closes every other library's file, and makes no other system call. Context: one thread.
 */
int ea_startup_is_misplaced(const struct ea_startup *startup, const struct ea_settings *settings);

/*
 * ea_startup_imports_dlopen - does anything that is loaded import dlopen or dlmopen?
 * A look at memory only, which most programs pass without.
 */
int ea_startup_imports_dlopen(const struct ea_startup *startup);

/*
 * ea_startup_loads_more - will the program dlopen libraries?
 *
 * That is, the main executable imports dlopen or dlmopen, or a library does that was found beside
 * the executable (java's launcher: libjli.so). Shells, which import it for loadable builtins and
 * start by the thousand, do not count.
 */
int ea_startup_loads_more(const struct ea_startup *startup);

/*
 * ea_startup_tls - how much static TLS do the start-up libraries take?
 * @main_align_bytes: alignment of the main executable's PT_TLS, 0 or 1 without one
 * @bytes: receives the sum of their PT_TLS, each with its alignment
 *
 * Under an auditor glibc takes the static TLS of DT_NEEDED libraries out of a small surplus (bug
 * 31991), which is to be enlarged by this. No tunable helps a library that is aligned beyond the
 * thread pointer and the main executable (elf/dl-reloc.c, _dl_try_allocate_static_tls()).
 * Returns NULL, or why the program could not start under an auditor.
 */
const char *ea_startup_tls(
	const struct ea_startup *startup, uint64_t main_align_bytes, uint64_t *bytes);

#endif
