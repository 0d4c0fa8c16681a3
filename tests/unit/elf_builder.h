/* SPDX-License-Identifier: MIT */
/*
 * elf_builder.h - synthetic ELF files: only the headers, which is all that core/ reads
 */
#ifndef ELF_BUILDER_H
#define ELF_BUILDER_H

#include <elf.h>
#include <stdint.h>

#include "core/image.h"

/* One more than core/ accepts, so that the limit itself can be tested. */
#define ELF_PHDRS_MAX (EA_PHDRS_MAX + 1)

/* struct elf_file - the first bytes of a file of @file_bytes bytes */
struct elf_file {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdrs[ELF_PHDRS_MAX];
	uint64_t file_bytes;
};

/* elf_begin - an ET_DYN file for @machine without program headers */
void elf_begin(struct elf_file *elf, uint16_t machine);

/*
 * elf_add - append a program header of @type that is mapped at @vaddr from file offset @offset
 *
 * p_align is 64 KiB for PT_LOAD, else 8. The file grows so that the segment lies in it. Returns the
 * header for changes.
 */
Elf64_Phdr *elf_add(struct elf_file *elf, uint32_t type, uint32_t flags, uint64_t vaddr,
	uint64_t offset, uint64_t file_bytes, uint64_t mem_bytes);

/*
 * elf_library - a shared library as linkers make them: headers, text, data with zeroes, dynamic
 * section, 40 bytes of TLS; aligned so that every base page size can map it
 */
void elf_library(struct elf_file *elf, uint16_t machine);

/* The indices of elf_library()'s program headers. */
enum elf_library_phdr {
	LIBRARY_RODATA,
	LIBRARY_TEXT,
	LIBRARY_DATA,
	LIBRARY_DYNAMIC,
	LIBRARY_TLS,
	LIBRARY_STACK,
};

/*
 * elf_parse - what a reader of this file does: parse the ELF header, read the program headers from
 * where it says, parse them
 *
 * The buffers given to the parser are unaligned and not a byte longer than they claim to be.
 * Returns the first error, or 0.
 */
int elf_parse(
	const struct elf_file *elf, uint16_t machine, uint64_t page_bytes, struct ea_image *image);

#endif
