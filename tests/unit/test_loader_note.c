/* SPDX-License-Identifier: MIT */
/*
 * test_loader_note.c - core/loader_note.h: notes as loaders have them, and as they should not be
 */
#include <stdlib.h>
#include <string.h>

#include "core/loader_note.h"
#include "unit.h"

/* struct words - notes are made of these, whatever their fields mean */
struct words {
	uint32_t word[16];
	size_t bytes;
};

/* "execalign" and its NUL, padded to 12. */
#define OWNER 0x63657865, 0x67696c61, 0x0000006e
#define NOTE(version, is_on) 10, 8, 1, OWNER, (version), (is_on)

/* The parser gets a copy at an odd address, that ends where it ends. */
static int find(const struct words *notes, struct ea_loader_note *out)
{
	unsigned char *copy = malloc(notes->bytes + 1);
	int found;

	if (!copy)
		abort();
	memcpy(copy + 1, notes->word, notes->bytes);
	found = ea_loader_note_find(copy + 1, notes->bytes, out);
	free(copy);
	return found;
}

TEST(loader_note, found)
{
	static const struct {
		struct words notes;
		uint32_t version, is_on;
	} rows[] = {
		{{{NOTE(1, 1)}, 32}, 1, 1},
		{{{NOTE(1, 0)}, 32}, 1, 0},
		/* A newer one, with more to say. */
		{{{10, 12, 1, OWNER, 7, 1, 99}, 36}, 7, 1},
		/* Behind a build ID; behind one without a name; behind an owner like ours. */
		{{{4, 4, 3, 0x554e47, 5, NOTE(1, 1)}, 52}, 1, 1},
		{{{0, 3, 1, 0, NOTE(1, 1)}, 48}, 1, 1},
		{{{10, 0, 1, 0x63657865, 0x67696c61, 0x1000000, NOTE(1, 1)}, 56}, 1, 1},
		/* The first of several. */
		{{{NOTE(1, 0), NOTE(1, 1)}, 64}, 1, 0},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_loader_note note = {0, 0};

		CHECK_U64(find(&rows[i].notes, &note), 1, "row %zu", i);
		CHECK_U64(note.version, rows[i].version, "row %zu", i);
		CHECK_U64(note.is_on, rows[i].is_on, "row %zu", i);
	}
}

TEST(loader_note, not_found)
{
	static const struct words rows[] = {
		{{0}, 0},
		{{10, 8}, 8},
		/* Cut off: in the words, before them, in the name. */
		{{NOTE(1, 1)}, 31},
		{{NOTE(1, 1)}, 24},
		{{NOTE(1, 1)}, 13},
		/* Another type, another owner, one that only begins so, one without its NUL. */
		{{10, 8, 2, OWNER, 1, 1}, 32},
		{{10, 8, 1, 0x63657865, 0x67696c61, 0x0000004e, 1, 1}, 32},
		{{11, 8, 1, OWNER, 1, 1}, 32},
		{{9, 8, 1, OWNER, 1, 1}, 32},
		{{10, 8, 1, 0x63657865, 0x67696c61, 0x0000646e, 1, 1}, 32},
		/* Too few words; version 0. */
		{{10, 7, 1, OWNER, 1, 1}, 32},
		{{10, 4, 1, OWNER, 1}, 28},
		{{NOTE(0, 1)}, 32},
		/* Sizes that overflow when padded or added, in front of a good one. */
		{{0xffffffff, 0, 1, NOTE(1, 1)}, 44},
		{{0, 0xffffffff, 1, NOTE(1, 1)}, 44},
		{{0xfffffff4, 0xfffffffc, 1, NOTE(1, 1)}, 44},
		{{10, 0xfffffff8, 1, OWNER, 1, 1}, 32},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_loader_note note = {77, 78};

		CHECK_U64(find(&rows[i], &note), 0, "row %zu", i);
		CHECK(note.version == 77 && note.is_on == 78, "row %zu is written to", i);
	}
}

TEST(loader_note, tunable)
{
	static const struct {
		const char *list, *value;
	} rows[] = {
		{NULL, NULL},
		{"", NULL},
		{":::", NULL},
		{"a.b=5", "5"},
		{"a.b=", ""},
		{"a.b=:c=1", ":c=1"},
		{"c=1:a.b=7:d=2", "7:d=2"},
		{"a.b=1:a.b=0", "0"},
		{"a.b=1:a.b", "1:a.b"},
		{"a.bc=1:xa.b=2:a.B=3", NULL},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		const char *value = ea_tunable_find(rows[i].list, "a.b=");

		CHECK(rows[i].value ? value && !strcmp(value, rows[i].value) : !value,
			"row %zu: %s", i, value ? value : "nothing");
	}
}

TEST(loader_note, is_on)
{
	/* What glibc makes of them: tests/loader/glibc-02-tunable.sh. */
	static const struct {
		const char *value;
		int when_on, when_off;
	} rows[] = {
		{NULL, 1, 0},
		{"0", 0, 0},
		{"", 0, 0},
		{":a=1", 0, 0},
		{"0:a=1", 0, 0},
		{"00", 0, 0},
		{"0x0", 0, 0},
		{"1", 1, 1},
		{"1:a=0", 1, 1},
		{"2097152", 1, 1},
		{"0x200000", 1, 1},
		{"010", 1, 1},
		{"off", 1, 0},
		{"-1", 1, 0},
	};
	const struct ea_loader_note on = {1, 1}, off = {1, 0};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		CHECK_U64(ea_loader_is_on(&on, rows[i].value), rows[i].when_on, "row %zu", i);
		CHECK_U64(ea_loader_is_on(&off, rows[i].value), rows[i].when_off, "row %zu", i);
	}
}
