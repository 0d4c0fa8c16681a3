/* SPDX-License-Identifier: MIT */
/*
 * loaded.h - which files are mapped already
 *
 * ld.so maps a file once, whatever names it is asked for, and tells the auditor nothing when it
 * finds it loaded (glibc elf/dl-load.c, _dl_map_object_from_fd()). Space reserved for such a file
 * would stay reserved, so the shim must know first.
 */
#ifndef EA_SHIM_LOADED_H
#define EA_SHIM_LOADED_H

#include <stddef.h>
#include <stdint.h>

/* struct ea_loaded_file - inode == 0: unused */
struct ea_loaded_file {
	uint64_t device;
	uint64_t inode;
};

#define EA_LOADED_FIRST 48

/* struct ea_loaded_chunk - further entries, in a page of their own */
struct ea_loaded_chunk {
	struct ea_loaded_chunk *next;
	struct ea_loaded_file files[255];
};

/* struct ea_loaded - the table; zeroed memory is an empty one */
struct ea_loaded {
	struct ea_loaded_file files[EA_LOADED_FIRST];
	struct ea_loaded_chunk *more;
};

int ea_loaded_has(const struct ea_loaded *loaded, uint64_t device, uint64_t inode);

/*
 * ea_loaded_add - note a file
 * Returns its entry, for ea_loaded_remove(), or NULL when there is no memory: then the file is
 * merely not recognised later. Context: under the loader's lock.
 */
struct ea_loaded_file *ea_loaded_add(struct ea_loaded *loaded, uint64_t device, uint64_t inode);

/*
 * ea_loaded_remove - forget a file
 * @file: an entry; any other address is ignored: for the stand-in of ld.so in a second namespace
 *	glibc calls la_objclose() with a cookie that no la_objopen() has set (elf/dl-object.c)
 */
void ea_loaded_remove(struct ea_loaded *loaded, struct ea_loaded_file *file);

#endif
