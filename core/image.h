/* SPDX-License-Identifier: MIT */
/*
 * image.h - what an ELF file says about the mapping that a loader will make of it
 *
 * Everything in core/ is pure and freestanding: no system call, no allocation, no libc function.
 * The bytes come from files that anybody may have written, so every offset, count and sum is checked
 * and an ELF that lies is "not for us" (-ENOEXEC), never a crash.
 *
 * Reading takes two steps because the program headers need not follow the ELF header: patchelf and
 * some linkers move them to the end of the file.
 *
 *	buf[64] <- file		ea_header_parse(buf)	-> where the program headers are
 *	phdrs   <- file		ea_image_parse(phdrs)	-> segments, span, alignment, TLS
 */
#ifndef EA_IMAGE_H
#define EA_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of an Elf64_Ehdr and of an Elf64_Phdr (gABI, chapters 4 and 5). */
#define EA_HEADER_BYTES 64
#define EA_PHDR_BYTES 56

/* Program headers and PT_LOADs beyond these counts make a file "not for us". */
#define EA_PHDRS_MAX 64
#define EA_LOADS_MAX 16

/* Accepts any machine in ea_header_parse(). */
#define EA_MACHINE_ANY 0

/* struct ea_header - the part of the ELF header that a loader acts upon */
struct ea_header {
	uint16_t type;	       /* ET_DYN or ET_EXEC */
	uint16_t machine;      /* EM_X86_64, EM_AARCH64, ... */
	uint16_t phdr_count;   /* 1..EA_PHDRS_MAX */
	uint64_t phdrs_offset; /* file offset of the program headers */
	uint64_t phdrs_bytes;  /* phdr_count * EA_PHDR_BYTES */
	uint64_t file_bytes;   /* as given to ea_header_parse() */
};

/* struct ea_segment - one PT_LOAD */
struct ea_segment {
	uint64_t vaddr;	     /* p_vaddr */
	uint64_t offset;     /* p_offset; (vaddr - offset) is a multiple of the page size */
	uint64_t file_bytes; /* p_filesz; unless 0, offset + file_bytes <= size of the file */
	uint64_t mem_bytes;  /* p_memsz >= file_bytes */
	uint32_t flags;	     /* p_flags: PF_R, PF_W, PF_X */
};

/* struct ea_image - all PT_LOADs of a file, in ascending order of vaddr, without overlap */
struct ea_image {
	uint16_t type;
	uint16_t machine;
	uint16_t load_count;	  /* 1..EA_LOADS_MAX */
	uint8_t has_interp;	  /* PT_INTERP present: an executable with a loader */
	uint8_t has_dynamic;	  /* PT_DYNAMIC present */
	uint64_t align_bytes;	  /* largest power-of-two p_align over the PT_LOADs, at least 1 */
	uint64_t dynamic_vaddr;	  /* p_vaddr of PT_DYNAMIC, 0 without one */
	uint64_t tls_bytes;	  /* p_memsz of PT_TLS, 0 without one */
	uint64_t tls_align_bytes; /* p_align of PT_TLS, at least 1 */
	struct ea_segment loads[EA_LOADS_MAX];
};

/*
 * ea_header_parse - check an ELF header and find the program headers
 * @buf: the first @buf_bytes bytes of the file
 * @buf_bytes: at least EA_HEADER_BYTES, or the file is refused
 * @file_bytes: size of the whole file
 * @machine: the only machine to accept (EM_*), or EA_MACHINE_ANY
 * @out: filled on success only
 *
 * Accepts 64-bit little-endian ET_DYN and ET_EXEC files whose program headers lie inside the file.
 * Returns 0 or -ENOEXEC. Any context.
 */
int ea_header_parse(const void *buf, size_t buf_bytes, uint64_t file_bytes, uint16_t machine,
	struct ea_header *out);

/*
 * ea_image_parse - read the program headers
 * @header: from ea_header_parse()
 * @phdrs: header->phdrs_bytes bytes of the file from header->phdrs_offset on; any alignment
 * @phdrs_bytes: how many bytes @phdrs holds; fewer than header->phdrs_bytes is refused
 * @page_bytes: base page size that the file is going to be mapped with, a power of two
 * @out: filled on success only
 *
 * Refuses what a loader would refuse or what could not be mapped as the headers say: no PT_LOAD,
 * PT_LOADs out of order or overlapping, sums that overflow, p_filesz > p_memsz, a segment that
 * reaches beyond the end of the file, vaddr and offset that differ modulo @page_bytes, a dynamic
 * section outside all PT_LOADs, static TLS of 4 GiB and more. A PT_LOAD without memory is left out.
 * Returns 0 or -ENOEXEC. Any context.
 */
int ea_image_parse(const struct ea_header *header, const void *phdrs, size_t phdrs_bytes,
	uint64_t page_bytes, struct ea_image *out);

/*
 * ea_image_span - address range that the image occupies
 * @image: a parsed image
 * @page_bytes: base page size
 * @start_vaddr: receives the first PT_LOAD's vaddr, rounded down to a page
 *
 * Returns the bytes from there to the end of the last PT_LOAD's memory, not rounded: the very
 * length that ld.so passes to mmap (glibc elf/dl-load.c: maplength). Never 0. Any context.
 */
uint64_t ea_image_span(const struct ea_image *image, uint64_t page_bytes, uint64_t *start_vaddr);

/*
 * ea_segment_is_text - is this segment text: PF_X, not PF_W, with bytes from the file?
 */
int ea_segment_is_text(const struct ea_segment *segment);

#endif
