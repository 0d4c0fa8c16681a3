/* SPDX-License-Identifier: MIT */
/*
 * layout.h - how an ELF file on disk is laid out, and what loaders make of that
 *
 * libelf reads the headers, sections and strings; core/ judges the program headers as everywhere
 * else. What is judged is the file: where a running program has it is what the report shows.
 */
#ifndef CLI_LAYOUT_H
#define CLI_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/align.h"
#include "core/block.h"

/* Base page sizes that a machine may have: 4, 16 and 64 KiB on arm64. */
#define GRANULES_MAX 3

/* enum layout_kind - can it be judged? */
enum layout_kind {
	LAYOUT_JUDGED,
	LAYOUT_NOT_ELF,
	LAYOUT_32BIT,
	LAYOUT_BIG_ENDIAN,
	LAYOUT_OTHER_MACHINE,	 /* no blocks are known for it; machine is filled */
	LAYOUT_NOT_LOADABLE,	 /* an object file, a kernel module, a core dump */
	LAYOUT_TRUNCATED,	 /* headers or segments reach beyond the end of the file */
	LAYOUT_BROKEN,		 /* the headers contradict each other */
	LAYOUT_UNREADABLE,	 /* error is filled */
	LAYOUT_KIND_COUNT,
};

/* enum layout_verdict - does the file carry the alignment that its text needs? */
enum layout_verdict {
	LAYOUT_TOO_SMALL,	 /* no text holds a whole block: not eligible */
	LAYOUT_ALIGNED,		 /* congruent under every loader that heeds p_align */
	LAYOUT_FIXED,		 /* mapped where it is linked to, and congruent there */
	LAYOUT_RAISE,		 /* a larger p_align would make it so */
	LAYOUT_MISLAID,		 /* no p_align can: it has to be linked in another way */
	LAYOUT_VERDICT_COUNT,
};

/* enum placer - who decides where the text goes */
enum placer {
	PLACER_LOADER,		 /* a library: ld.so */
	PLACER_KERNEL,		 /* a position-independent program with an interpreter */
	PLACER_KERNEL_STATIC,	 /* the same without */
	PLACER_LINKER,		 /* ET_EXEC: its addresses are fixed */
};

/* enum libc_kind - whose loader a library is for, by what it needs */
enum libc_kind {
	LIBC_UNKNOWN,
	LIBC_GLIBC,
	LIBC_MUSL,
};

/* struct granule - the file on a machine with this base page size */
struct granule {
	uint64_t page_bytes;
	bool mappable;		 /* false: loaders refuse it, nothing else is filled */
	uint64_t block_bytes;	 /* 0: no block fits */
	uint64_t whole_bytes;	 /* of the text with the most, in whole blocks */
	bool congruent;		 /* for this block, in a mapping that starts on a boundary */
};

/* struct layout - one file */
struct layout {
	enum layout_kind kind;
	int error;		 /* -errno, with LAYOUT_UNREADABLE */
	uint16_t machine;
	enum placer placer;
	enum libc_kind libc;	 /* of eligible files */
	char linker[64];	 /* "LLD 14.0.6", of mislaid files; "": unknown */
	uint64_t text_bytes;	 /* of all texts */
	uint64_t align_bytes;	 /* largest p_align over the PT_LOADs: what loaders go by */
	struct granule granules[GRANULES_MAX];
	size_t granule_count;

	enum layout_verdict verdict;
	uint64_t block_bytes;	 /* that it is judged by; 0: not eligible */
	uint64_t offset;	 /* of the text with the most whole blocks, in the file */
	uint64_t vaddr;
	uint64_t segment_bytes;	 /* its size */
	uint64_t base_vaddr;	 /* of the first segment */
	enum ea_fault fault;
	uint64_t distance_bytes; /* see ea_align_fault() */
	struct ea_align align;	 /* p_align of that text, or of the one that was raised */
	uint64_t original_bytes; /* what the linker gave it; 0: cannot be told */
};

/*
 * layout_read - read and judge a file
 * @fd: open for reading, a regular file
 * @file_bytes: its size
 * @block_bytes: block to judge by, a power of two; 0: the largest that any machine that can run
 *	the file would choose for it
 * @out: kind is always filled, the rest with LAYOUT_JUDGED, or as said there
 *
 * Context: elf_version() was called. Several threads may be at work, on descriptors of their own.
 */
void layout_read(int fd, uint64_t file_bytes, uint64_t block_bytes, struct layout *out);

/* layout_eligible - does its text hold a whole block? */
bool layout_eligible(const struct layout *layout);

/* layout_carries - is nothing left to be done for it: aligned, fixed, or nothing to align */
bool layout_carries(const struct layout *layout);

/* Stable names, for programs. */
const char *layout_kind_name(enum layout_kind kind);
const char *layout_verdict_name(enum layout_verdict verdict);
const char *layout_placer_name(enum placer placer);
const char *layout_libc_name(enum libc_kind libc);

/*
 * layout_trouble - why a file cannot be judged, and after a semicolon what to do about it
 * @out: receives the text
 *
 * Context: kind is not LAYOUT_JUDGED.
 */
void layout_trouble(const struct layout *layout, char *out, size_t out_bytes);

/*
 * layout_remedy - what is to be done for a file that does not carry the alignment: what would help,
 *	under which loaders
 * @out: receives the text, "" where there is nothing to do
 */
void layout_remedy(const struct layout *layout, char *out, size_t out_bytes);

#endif
