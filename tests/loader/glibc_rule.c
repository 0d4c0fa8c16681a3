/* SPDX-License-Identifier: MIT */
/*
 * glibc_rule.c - glibc's dl-exec-align.h, as it is in the patched source, by the table of vectors
 *
 *	glibc_rule x86-64|aarch64
 *
 * Compiled with the machine's dl-exec-blocks.h in the path. Rows of another machine and those with
 * another cap than a loader's are left out.
 */
#include <dl-exec-align.h>

#include "tests/vectors/block_choice.h"

static unsigned int failures;

static void expect(const struct block_choice *row, const char *what, uint64_t is, uint64_t should_be)
{
	if (is == should_be)
		return;
	printf("line %u: %s is %#llx, not %#llx\n", row->line, what, (unsigned long long)is,
		(unsigned long long)should_be);
	failures++;
}

/* As _dl_map_object_from_fd() finds it: the largest power of two among p_align. */
static uint64_t largest_align(const struct block_choice *row)
{
	uint64_t align = 0;
	unsigned int i;

	for (i = 0; i < row->segment_count; i++) {
		uint64_t of_segment = row->segments[i].align;

		if (of_segment > align && !(of_segment & (of_segment - 1)))
			align = of_segment;
	}
	return align;
}

static int protection(uint32_t flags)
{
	return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
	       (flags & PF_X ? PROT_EXEC : 0);
}

/* The whole pages that glibc maps for a segment (elf/dl-load.c, struct loadcmd). */
static void add_segments(const struct block_choice *row, struct dl_exec_align *align)
{
	uint64_t mask = row->page_bytes - 1;
	unsigned int i;

	for (i = 0; i < row->segment_count; i++) {
		uint64_t vaddr = row->segments[i].vaddr;
		uint64_t end = vaddr + row->segments[i].file_bytes;

		_dl_exec_align_add(align, vaddr & ~mask, (end + mask) & ~mask,
			row->segments[i].offset & ~mask, protection(row->segments[i].flags));
	}
}

static void check(const struct block_choice *row)
{
	struct dl_exec_align align;
	const struct dl_exec_text *text;

	_dl_exec_align_init(&align, row->page_bytes, 1);
	add_segments(row, &align);
	text = _dl_exec_align_text(&align);
	expect(row, "block", text ? text->block : 0, row->block_bytes);
	if (text && row->block_bytes) {
		expect(row, "text", text->segment, (uint64_t)row->text);
		expect(row, "placed", _dl_exec_align_suits(text, largest_align(row)), row->has_base);
		if (row->has_base)
			expect(row, "base", text->base, row->base);
	}

	_dl_exec_align_init(&align, row->page_bytes, 0);
	add_segments(row, &align);
	expect(row, "a text when off", _dl_exec_align_text(&align) != NULL, 0);
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
