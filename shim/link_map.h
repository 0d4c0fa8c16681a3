/* SPDX-License-Identifier: MIT */
/*
 * link_map.h - the dynamic linker's public list of loaded objects
 *
 * The layout is the debugger interface of every ELF system (glibc elf/link.h, musl include/link.h);
 * <link.h> itself belongs to a libc.
 */
#ifndef EA_SHIM_LINK_MAP_H
#define EA_SHIM_LINK_MAP_H

#include <stdint.h>

/* GNU's hash table; linux/elf.h has no name for it. */
#ifndef DT_GNU_HASH
#define DT_GNU_HASH 0x6ffffef5
#endif

/* struct ea_elf_dyn - an entry of a PT_DYNAMIC section (gABI, chapter 5) */
struct ea_elf_dyn {
	int64_t tag;
	uint64_t value;
};

struct link_map {
	uint64_t l_addr; /* load bias: address = l_addr + p_vaddr */
	char *l_name;
	struct ea_elf_dyn *l_ld;
	struct link_map *l_next;
	struct link_map *l_prev;
};

struct r_debug {
	int r_version;
	struct link_map *r_map;
};

/*
 * ea_link_map_self - our own entry in the list from @map on, or NULL
 */
struct link_map *ea_link_map_self(struct link_map *map);

/*
 * ea_link_map_imports - does the object import (not define) a function of one of these names?
 * @names: NULL-terminated
 *
 * Walks the undefined symbols, which precede the hashed ones (gABI hash tables; DT_GNU_HASH's
 * symoffset). Context: after relocation of the object.
 */
int ea_link_map_imports(const struct link_map *map, const char *const *names);

/* ea_link_map_has_textrel - may the loader have written to the object's text? */
int ea_link_map_has_textrel(const struct link_map *map);

#endif
