/* SPDX-License-Identifier: MIT */
/*
 * elf_file.h - what an ELF file on disk says, beyond the image that core/ parses
 */
#ifndef CLI_ELF_FILE_H
#define CLI_ELF_FILE_H

#include <limits.h>
#include <stdint.h>

#include "core/image.h"
#include "core/loader_note.h"

/* enum elf_kind - is it a file that the shim and the report can judge? */
enum elf_kind {
	ELF_OURS,		 /* 64-bit, this machine's: image is filled */
	ELF_32BIT,
	ELF_FOREIGN,		 /* another machine or byte order; machine is filled */
	ELF_BROKEN,		 /* begins like an ELF file, but is truncated or contradictory */
	ELF_NOT_ELF,
	ELF_UNREADABLE,		 /* could not be read: error is filled */
};

/* struct elf_file - one file */
struct elf_file {
	enum elf_kind kind;
	int error;		 /* -errno with ELF_UNREADABLE */
	uint16_t machine;
	struct ea_image image;
	char interp[PATH_MAX];	 /* PT_INTERP's path, "" without one */
	char soname[NAME_MAX + 1]; /* DT_SONAME, "" without one, as in a static PIE */
	struct ea_loader_note loader; /* of a loader that places text; version 0: no such note */
};

/*
 * elf_file_read - read headers through a descriptor
 * @fd: open for reading; a regular file, or /proc/PID/mem
 * @base: where in @fd the file begins: 0, or the address that the file's first byte is mapped at
 * @file_bytes: size of the file
 * @machine: the machine that counts as ours
 * @page_bytes: base page size
 * @out: kind is always filled; interp, soname and loader only with a @base of 0
 *
 * Any context.
 */
void elf_file_read(int fd, uint64_t base, uint64_t file_bytes, uint16_t machine,
	uint64_t page_bytes, struct elf_file *out);

/*
 * elf_file_read_image - read no more than the headers, for whoever minds what gets cached
 *
 * As elf_file_read() with a @base of 0, but interp, soname and loader stay empty.
 */
void elf_file_read_image(int fd, uint64_t file_bytes, uint16_t machine, uint64_t page_bytes,
	struct elf_file *out);

/* elf_machine_name - "x86-64", "arm64", ..., or NULL for a machine without a name here */
const char *elf_machine_name(uint16_t machine);

#endif
