/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <linux/elf.h>

#include "link_map.h"
#include "text.h"

/* gABI, chapter 5; linux/elf.h has no names for these. */
#ifndef DT_FLAGS
#define DT_FLAGS 30
#endif
#ifndef DF_TEXTREL
#define DF_TEXTREL 0x4
#endif

/* The linker defines it in every shared object; hidden, so it is our own. */
extern struct ea_elf_dyn _DYNAMIC[] __attribute__((visibility("hidden")));

struct link_map *ea_link_map_self(struct link_map *map)
{
	for (; map; map = map->l_next) {
		if (map->l_ld == _DYNAMIC)
			return map;
	}
	return NULL;
}

/*
 * Address in entry @tag, or NULL. glibc adds the load bias to these in place, musl does not, so an
 * address below the bias still needs it.
 */
static const void *dynamic_address(const struct link_map *map, int64_t tag)
{
	for (const struct ea_elf_dyn *dyn = map->l_ld; dyn && dyn->tag != DT_NULL; dyn++) {
		if (dyn->tag != tag)
			continue;
		return (const void *)(dyn->value < map->l_addr ? dyn->value + map->l_addr
							       : dyn->value);
	}
	return NULL;
}

/* struct gnu_hash - head of a DT_GNU_HASH table; the Bloom filter and the buckets follow */
struct gnu_hash {
	uint32_t bucket_count;
	uint32_t
		first_hashed; /* symbols before this one are not in the table: the undefined ones */
	uint32_t bloom_words;
	uint32_t bloom_shift;
	uint64_t bloom[];
};

static int is_empty(const struct gnu_hash *table)
{
	const uint32_t *buckets = (const uint32_t *)(table->bloom + table->bloom_words);

	return table->bucket_count <= 1 && !buckets[0];
}

/* Symbols from here on are definitions, or the end of the table. */
static uint64_t undefined_end(const struct link_map *map)
{
	const struct gnu_hash *gnu_hash = dynamic_address(map, DT_GNU_HASH);
	const uint32_t *hash = dynamic_address(map, DT_HASH);
	uintptr_t symbols = (uintptr_t)dynamic_address(map, DT_SYMTAB);
	uintptr_t strings = (uintptr_t)dynamic_address(map, DT_STRTAB);

	if (hash)
		return hash[1]; /* nchain: the number of symbols */
	if (!gnu_hash)
		return 0;
	if (!is_empty(gnu_hash))
		return gnu_hash->first_hashed;
	/* An empty table says 1 whatever there is; linkers put the strings behind the symbols. */
	return strings > symbols ? (strings - symbols) / sizeof(Elf64_Sym) : 0;
}

static int is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (ea_streq(name, *names))
			return 1;
	}
	return 0;
}

int ea_link_map_imports(const struct link_map *map, const char *const *names)
{
	const Elf64_Sym *symbols = dynamic_address(map, DT_SYMTAB);
	const char *strings = dynamic_address(map, DT_STRTAB);
	uint64_t end = undefined_end(map);

	if (!symbols || !strings)
		return 0;
	for (uint64_t i = 1; i < end; i++) {
		if (symbols[i].st_shndx == SHN_UNDEF &&
			is_one_of(strings + symbols[i].st_name, names))
			return 1;
	}
	return 0;
}

int ea_link_map_has_textrel(const struct link_map *map)
{
	for (const struct ea_elf_dyn *dyn = map->l_ld; dyn && dyn->tag != DT_NULL; dyn++) {
		if (dyn->tag == DT_TEXTREL || (dyn->tag == DT_FLAGS && dyn->value & DF_TEXTREL))
			return 1;
	}
	return 0;
}
