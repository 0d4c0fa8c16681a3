/* SPDX-License-Identifier: MIT */
/*
 * object.h - a library's file, opened to learn what ld.so is about to map
 */
#ifndef EA_SHIM_OBJECT_H
#define EA_SHIM_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "core/image.h"

struct ea_object {
	int fd;
	uint64_t device;
	uint64_t inode;
	uint64_t file_bytes;
	struct ea_image image; /* after ea_object_read() */
};

/*
 * ea_object_identify - learn device, inode and size of the file at @path, without opening it
 * Returns 0, -ENOEXEC when it is not a regular file, or -errno.
 */
int ea_object_identify(struct ea_object *object, const char *path);

/*
 * ea_object_open - open @path with the very call that ld.so makes; 0 or -errno
 * On success object->fd is open: ea_object_close() it.
 */
int ea_object_open(struct ea_object *object, const char *path);

/* Enough for the ELF header and the program headers of nearly every library in one read. */
#define EA_OBJECT_HEAD_BYTES 1024

/*
 * ea_object_parse - parse the headers; reads only program headers that lie outside @head
 * @head: the first @head_bytes bytes of the file
 * @page_bytes: base page size
 * Returns 0, -ENOEXEC for what is not for us, or -errno.
 */
int ea_object_parse(
	struct ea_object *object, const void *head, size_t head_bytes, uint64_t page_bytes);

/* ea_object_read - the same, with the head read from the file */
int ea_object_read(struct ea_object *object, uint64_t page_bytes);

void ea_object_close(struct ea_object *object);

/*
 * ea_object_load - identify, open, read and close in one; 0 or -errno
 */
int ea_object_load(struct ea_object *object, const char *path, uint64_t page_bytes);

/*
 * ea_object_peek - open, read and close: the headers of a file that ld.so has mapped already
 *
 * Makes no call that ld.so did not make for the same file, so that nothing is known of it but its
 * headers: device and inode stay unset.
 * Returns 0 or -errno.
 */
int ea_object_peek(struct ea_object *object, const char *path, uint64_t page_bytes);

#endif
