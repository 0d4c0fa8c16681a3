/* SPDX-License-Identifier: MIT */
/*
 * test_shim_link_map.c - shim/link_map.h on dynamic sections made by hand
 */
#include <elf.h>
#include <string.h>

#include "shim/link_map.h"
#include "shim_double.h"
#include "unit.h"

#define SYMBOLS 4

/* struct object - a loaded object; as linkers do it, the strings follow the symbols */
struct object {
	struct ea_elf_dyn dynamic[8];
	uint32_t hash[2];	       /* nbucket, nchain */
	uint32_t gnu_hash[4 + 2 + 2]; /* head, one Bloom word, two buckets */
	Elf64_Sym symbols[SYMBOLS];
	char strings[64];
};

enum tables {
	NO_TABLE,
	SYSV_TABLE,
	GNU_TABLE,
	BOTH_TABLES,
	GNU_TABLE_OF_NOTHING,
};

static const char *const names[] = {"dlopen", "dlmopen", NULL};

static struct ea_elf_dyn *add_entry(
	struct object *object, struct ea_elf_dyn *entry, int64_t tag, const void *address, int bias)
{
	uint64_t value = (uintptr_t)address;

	*entry = (struct ea_elf_dyn){tag, bias ? value : value - (uintptr_t)object};
	return entry + 1;
}

/* As the loader leaves it: @is_relocated: the load bias was added to the entries, as glibc does. */
static void fill_dynamic(struct object *object, enum tables tables, int is_relocated)
{
	struct ea_elf_dyn *entry = object->dynamic;

	*entry++ = (struct ea_elf_dyn){DT_NEEDED, 1};
	entry = add_entry(object, entry, DT_STRTAB, object->strings, is_relocated);
	entry = add_entry(object, entry, DT_SYMTAB, object->symbols, is_relocated);
	if (tables == SYSV_TABLE || tables == BOTH_TABLES)
		entry = add_entry(object, entry, DT_HASH, object->hash, is_relocated);
	if (tables == GNU_TABLE || tables == BOTH_TABLES || tables == GNU_TABLE_OF_NOTHING)
		entry = add_entry(object, entry, DT_GNU_HASH, object->gnu_hash, is_relocated);
	entry->tag = DT_NULL;
}

/* @defined: symbols from this one on are definitions */
static void fill_tables(struct object *object, enum tables tables, uint32_t defined)
{
	int is_empty = tables == GNU_TABLE_OF_NOTHING;

	object->hash[0] = 1;
	object->hash[1] = SYMBOLS;
	object->gnu_hash[0] = is_empty ? 1 : 2;
	object->gnu_hash[1] = is_empty ? 1 : defined;
	object->gnu_hash[2] = 1;
	object->gnu_hash[6] = is_empty ? 0 : defined;
}

/* Symbol 1 and so on are called as in @symbols. */
static void fill_symbols(struct object *object, const char *const *symbols, uint32_t defined)
{
	uint32_t bytes = 1, i;

	for (i = 0; i < SYMBOLS - 1; i++) {
		object->symbols[i + 1].st_name = bytes;
		object->symbols[i + 1].st_shndx = i + 1 >= defined ? 7 : SHN_UNDEF;
		strcpy(object->strings + bytes, symbols[i]);
		bytes += (uint32_t)strlen(symbols[i]) + 1;
	}
}

static const struct {
	const char *symbols[SYMBOLS - 1];
	uint32_t defined;
	enum tables tables;
	int expected;
} imports[] = {
	/* The first, the last and none of the undefined symbols. */
	{{"dlopen", "malloc", "own"}, 3, GNU_TABLE, 1},
	{{"malloc", "dlmopen", "own"}, 3, GNU_TABLE, 1},
	{{"malloc", "free", "own"}, 3, GNU_TABLE, 0},
	{{"dlopen", "malloc", "own"}, 3, SYSV_TABLE, 1},
	{{"malloc", "dlmopen", "own"}, 3, SYSV_TABLE, 1},
	{{"malloc", "free", "own"}, 3, SYSV_TABLE, 0},
	{{"malloc", "dlmopen", "own"}, 3, BOTH_TABLES, 1},
	{{"malloc", "free", "own"}, 3, BOTH_TABLES, 0},
	/* A definition is no import. */
	{{"malloc", "free", "dlopen"}, 3, GNU_TABLE, 0},
	{{"malloc", "free", "dlopen"}, 3, SYSV_TABLE, 0},
	{{"dlopen", "dlmopen", "x"}, 1, GNU_TABLE, 0},
	{{"dlopen", "dlmopen", "x"}, 1, SYSV_TABLE, 0},
	/* An object that defines nothing: its GNU table says 1, whatever there is. */
	{{"malloc", "free", "dlopen"}, 4, GNU_TABLE_OF_NOTHING, 1},
	{{"malloc", "free", "calloc"}, 4, GNU_TABLE_OF_NOTHING, 0},
	{{"malloc", "free", "dlopen"}, 4, SYSV_TABLE, 1},
	/* Only the whole name counts. */
	{{"dlopen_", "xdlopen", "dlope"}, 4, SYSV_TABLE, 0},
	{{"dlopen_", "xdlopen", ""}, 4, GNU_TABLE_OF_NOTHING, 0},
	/* Without a table nobody knows how many symbols there are. */
	{{"dlopen", "dlmopen", "x"}, 4, NO_TABLE, 0},
};

TEST(link_map, imports)
{
	size_t i;
	int is_relocated;

	for (i = 0; i < COUNT_OF(imports); i++)
		for (is_relocated = 0; is_relocated <= 1; is_relocated++) {
			struct object object = {0};
			struct link_map map = {
				.l_addr = (uintptr_t)&object, .l_ld = object.dynamic};

			fill_dynamic(&object, imports[i].tables, is_relocated);
			fill_tables(&object, imports[i].tables, imports[i].defined);
			fill_symbols(&object, imports[i].symbols, imports[i].defined);
			CHECK_U64(!!ea_link_map_imports(&map, names), imports[i].expected,
				"row %zu, relocated %d", i, is_relocated);
		}
}

/* An executable at fixed addresses has no load bias. */
TEST(link_map, imports_without_bias)
{
	static const char *const symbols[] = {"malloc", "dlopen", "own"};
	static const char *const none[] = {NULL};
	struct object object = {0};
	struct link_map map = {.l_addr = 0, .l_ld = object.dynamic};

	fill_dynamic(&object, GNU_TABLE, 1);
	fill_tables(&object, GNU_TABLE, 3);
	fill_symbols(&object, symbols, 3);
	CHECK(ea_link_map_imports(&map, names), "dlopen is imported");
	CHECK(!ea_link_map_imports(&map, none), "none of no names");
}

TEST(link_map, what_is_missing_imports_nothing)
{
	static const int64_t tags[] = {DT_SYMTAB, DT_STRTAB, DT_HASH};
	static const char *const symbols[] = {"dlopen", "dlmopen", "x"};
	struct link_map map = {0};
	size_t i, j;

	CHECK(!ea_link_map_imports(&map, names), "an object without dynamic section");
	for (i = 0; i < COUNT_OF(tags); i++) {
		struct object object = {0};

		map.l_ld = object.dynamic;
		map.l_addr = (uintptr_t)&object;
		fill_dynamic(&object, SYSV_TABLE, 1);
		fill_tables(&object, SYSV_TABLE, 4);
		fill_symbols(&object, symbols, 4);
		CHECK(ea_link_map_imports(&map, names), "all is there");
		for (j = 0; object.dynamic[j].tag != DT_NULL; j++)
			if (object.dynamic[j].tag == tags[i])
				object.dynamic[j].tag = DT_DEBUG;
		CHECK(!ea_link_map_imports(&map, names), "without tag %d", (int)tags[i]);
		/* An entry behind the end is none. */
		object.dynamic[j + 1] = (struct ea_elf_dyn){tags[i], (uintptr_t)&object};
		CHECK(!ea_link_map_imports(&map, names), "tag %d is behind the end", (int)tags[i]);
	}
}

TEST(link_map, self)
{
	struct ea_elf_dyn other[1] = {{DT_NULL, 0}};
	struct link_map maps[3] = {{.l_ld = other, .l_next = &maps[1]},
		{.l_ld = NULL, .l_next = &maps[2]}, {.l_ld = other}};

	CHECK(!ea_link_map_self(NULL), "in an empty list");
	CHECK(!ea_link_map_self(maps), "not in the list");
	maps[2].l_ld = shim__DYNAMIC;
	CHECK(ea_link_map_self(maps) == &maps[2], "the last");
	maps[1].l_ld = shim__DYNAMIC;
	CHECK(ea_link_map_self(maps) == &maps[1], "in between");
}
