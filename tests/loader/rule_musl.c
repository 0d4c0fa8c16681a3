/* SPDX-License-Identifier: MIT */
/*
 * rule_musl.c - musl's exec_align_block(), as it is in the patched source, by the table of vectors
 *
 *	rule_musl x86-64|aarch64
 *
 * Compiled with -DRELOC_H and -DEXEC_ALIGN_H, the paths of the two files. Rows of another machine and
 * those with another cap than a loader's are left out.
 */
#include <endian.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "tests/vectors/block_choice.h"

typedef Elf64_Phdr Phdr;
static size_t page_size;
#undef PAGE_SIZE
#define PAGE_SIZE page_size
#include RELOC_H
#include EXEC_ALIGN_H

static unsigned int failures;

static void expect(const struct block_choice *row, const char *what, uint64_t is, uint64_t should_be)
{
	if (is == should_be)
		return;
	printf("line %u: %s is %#llx, not %#llx\n", row->line, what, (unsigned long long)is,
		(unsigned long long)should_be);
	failures++;
}

/* The largest power of two among the alignments, at least a page: as map_library() finds it. */
static size_t largest_align(const struct block_choice *row)
{
	size_t align = row->page_bytes;
	unsigned int i;

	for (i = 0; i < row->segment_count; i++) {
		size_t of_segment = row->segments[i].align;

		if (of_segment > align && !(of_segment & (of_segment - 1)))
			align = of_segment;
	}
	return align;
}

static void fill(const struct block_choice *row, Phdr *phdrs)
{
	unsigned int i;

	/* Something else in front, so that not each program header is a segment. */
	phdrs[0] = (Phdr){.p_type = PT_NOTE, .p_flags = PF_R | PF_X, .p_filesz = -1, .p_memsz = -1};
	for (i = 0; i < row->segment_count; i++)
		phdrs[i + 1] = (Phdr){
			.p_type = PT_LOAD,
			.p_flags = row->segments[i].flags,
			.p_offset = row->segments[i].offset,
			.p_vaddr = row->segments[i].vaddr,
			.p_filesz = row->segments[i].file_bytes,
			.p_memsz = row->segments[i].file_bytes,
			.p_align = row->segments[i].align,
		};
}

/* What map_library() reserves; it asks for a block only where that is at least exec_align_least(). */
static size_t span_bytes(const struct block_choice *row)
{
	size_t page_mask = row->page_bytes - 1, start = SIZE_MAX, end = 0;
	unsigned int i;

	for (i = 0; i < row->segment_count; i++) {
		size_t vaddr = row->segments[i].vaddr, bytes = row->segments[i].file_bytes;

		if (vaddr < start)
			start = vaddr;
		if (vaddr + bytes > end)
			end = vaddr + bytes;
	}
	return ((end + page_mask) & ~page_mask) - (start & ~page_mask);
}

static void check(const struct block_choice *row)
{
	Phdr phdrs[BLOCK_CHOICE_SEGMENTS_MAX + 1];
	const Phdr *text = NULL;
	size_t align = largest_align(row), p_align = align, rem = 0, block, base;

	page_size = row->page_bytes;
	fill(row, phdrs);
	block = exec_align_block(phdrs, row->segment_count + 1, sizeof(*phdrs), row->page_bytes, 1,
		&text, &align, &rem);
	expect(row, "block", block, row->block_bytes);
	expect(row, "text", text ? (uint64_t)(text - phdrs - 1) : 99,
		row->text < 0 ? 99 : (uint64_t)row->text);
	expect(row, "p_align kept", align >= p_align && !(rem & (p_align - 1)), 1);
	if (!block || !text)
		return;
	expect(row, "least", span_bytes(row) >= exec_align_least(1), 1);
	base = (text->p_offset - text->p_vaddr) & (block - 1);
	expect(row, "congruent", align >= block && (rem & (block - 1)) == base, row->has_base);
	if (row->has_base)
		expect(row, "base", rem & (block - 1), row->base);
	text = NULL;
	expect(row, "block when off",
		exec_align_block(phdrs, row->segment_count + 1, sizeof(*phdrs), row->page_bytes, 0,
			&text, &align, &rem),
		0);
}

int main(int argc, char **argv)
{
	uint16_t machine = argc > 1 && !strcmp(argv[1], "aarch64") ? EM_AARCH64 : EM_X86_64;
	struct block_choice row = {0};
	unsigned int rows = 0, others = 0;
	FILE *file = fopen(BLOCK_CHOICE_FILE, "r");
	int ret;

	if (!file) {
		perror(BLOCK_CHOICE_FILE);
		return 1;
	}
	while ((ret = block_choice_next(file, &row)) > 0) {
		if (row.machine != machine)
			continue;
		if (row.cap_bytes != BLOCK_CHOICE_CAP) {
			others++;
			continue;
		}
		check(&row);
		rows++;
	}
	if (ret < 0 || rows < 20) {
		printf("line %u: no row, or too few of them (%u)\n", row.line, rows);
		return 1;
	}
	printf("%u rows, %u of another cap, %u failures\n", rows, others, failures);
	return failures ? 1 : 0;
}
