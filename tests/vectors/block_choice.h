/* SPDX-License-Identifier: MIT */
/*
 * block_choice.h - reads tests/vectors/block_choice.txt, for every test that is driven by it
 *
 * Needs a libc and nothing of the project, so that a test of a loader's source can include it.
 */
#ifndef EA_VECTORS_BLOCK_CHOICE_H
#define EA_VECTORS_BLOCK_CHOICE_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_CHOICE_FILE "tests/vectors/block_choice.txt"
#define BLOCK_CHOICE_CAP ((uint64_t)2 << 20) /* of every loader */
#define BLOCK_CHOICE_SEGMENTS_MAX 8

/* struct block_choice - one row */
struct block_choice {
	unsigned int line; /* in the file; start with 0 */
	uint64_t page_bytes;
	uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
	uint64_t cap_bytes;
	unsigned int segment_count;
	struct {
		uint64_t offset, file_bytes, vaddr, align;
		uint32_t flags;
	} segments[BLOCK_CHOICE_SEGMENTS_MAX];
	uint64_t block_bytes; /* 0: none */
	int text;	      /* -1: none */
	int has_base;
	uint64_t base;
};

/* A number, or a sum of numbers; moves @at behind it, or sets it to NULL. */
static inline uint64_t block_choice_number(const char **at)
{
	uint64_t sum = 0, value;
	char *end;

	while (*at) {
		value = strtoull(*at, &end, 0);
		if (end == *at) {
			*at = NULL;
			break;
		}
		switch (*end) {
		case 'G':
			value <<= 10; /* fall through */
		case 'M':
			value <<= 10; /* fall through */
		case 'K':
			value <<= 10;
			end++;
		}
		sum += value;
		*at = end;
		if (*end != '+')
			break;
		(*at)++;
	}
	return sum;
}

/* A number and the character behind it. */
static inline uint64_t block_choice_field(const char **at, char behind)
{
	uint64_t value = block_choice_number(at);

	if (*at)
		*at = **at == behind ? *at + 1 : NULL;
	return value;
}

static inline uint32_t block_choice_flags(const char **at)
{
	uint32_t flags = 0;

	for (; *at && **at != ':'; (*at)++) {
		if (**at == 'R')
			flags |= PF_R;
		else if (**at == 'W')
			flags |= PF_W;
		else if (**at == 'X')
			flags |= PF_X;
		else
			*at = NULL;
		if (!*at)
			return 0;
	}
	if (*at)
		(*at)++;
	return flags;
}

/* Returns 0, or -1 where the text is no list of segments. */
static inline int block_choice_segments(struct block_choice *row, const char *at)
{
	for (row->segment_count = 0; row->segment_count < BLOCK_CHOICE_SEGMENTS_MAX; at++) {
		unsigned int i = row->segment_count++;

		row->segments[i].offset = block_choice_field(&at, ':');
		row->segments[i].file_bytes = block_choice_field(&at, ':');
		row->segments[i].vaddr = block_choice_field(&at, ':');
		row->segments[i].flags = block_choice_flags(&at);
		row->segments[i].align = block_choice_number(&at);
		if (!at || (*at && *at != ','))
			return -1;
		if (!*at)
			return 0;
	}
	return -1;
}

/* A number that is all of @text; returns -1 where it is not. */
static inline int block_choice_whole(const char *text, uint64_t *out)
{
	*out = block_choice_number(&text);
	return text && !*text ? 0 : -1;
}

static inline int block_choice_parse(struct block_choice *row, const char *line)
{
	char page[24], machine[24], cap[24], segments[400], block[24], text[24], base[24], more[2];
	uint64_t number = 0;

	if (sscanf(line, "%23s %23s %23s %399s %23s %23s %23s %1s", page, machine, cap, segments,
		    block, text, base, more) != 7)
		return -1;
	if (strcmp(machine, "x86-64") && strcmp(machine, "aarch64"))
		return -1;
	row->machine = strcmp(machine, "x86-64") ? EM_AARCH64 : EM_X86_64;
	row->text = -1;
	row->base = 0;
	row->has_base = strcmp(base, "-") != 0;
	if (block_choice_whole(page, &row->page_bytes) || block_choice_whole(cap, &row->cap_bytes) ||
		block_choice_whole(block, &row->block_bytes) ||
		block_choice_segments(row, segments))
		return -1;
	if (row->has_base && block_choice_whole(base, &row->base))
		return -1;
	if (strcmp(text, "-")) {
		if (block_choice_whole(text, &number) || number >= row->segment_count)
			return -1;
		row->text = (int)number;
	}
	/* A block has a text, and only a block has a base. */
	return (row->block_bytes == 0) == (row->text < 0) && (!row->has_base || row->block_bytes)
		       ? 0
		       : -1;
}

/*
 * block_choice_next - read the next row
 * @row: line 0 at first; filled
 *
 * Returns 1, 0 at the end of the file, -1 where line @row->line is no row.
 */
static inline int block_choice_next(FILE *file, struct block_choice *row)
{
	char line[600];

	while (fgets(line, sizeof(line), file)) {
		row->line++;
		if (line[0] == '#' || line[strspn(line, " \t\n")] == '\0')
			continue;
		return block_choice_parse(row, line) ? -1 : 1;
	}
	return 0;
}

#endif
