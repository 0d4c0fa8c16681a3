/* SPDX-License-Identifier: MIT */
/*
 * fuzz_environment.c - the environment of a process that says that it was promoted
 *
 * The first byte is the number of arguments; strings follow, each ended by a zero. In front of a
 * string, a byte from 1 to 7 stands for one of the names below, so that they need not be guessed.
 * Whatever they are, ea_promotion_finish() stays within the block, keeps every variable that is
 * none of its own, and leaves the auxiliary vector where programs look for it.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "invariants.h"
#include "shim/promotion.h"
#include "tests/unit/process_block.h"
#include "tests/unit/shim_double.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TUNABLE "glibc.rtld.optional_static_tls="

static const char *const names[] = {"", "EXECALIGN_PROMOTED=", "EXECALIGN_PADDING=", "LD_AUDIT=",
	"GLIBC_TUNABLES=", TUNABLE, ("GLIBC_TUNABLES=" TUNABLE), "EXECALIGN_PROMOTED=0:0:"};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))
#define STRINGS_MAX 64

/* struct strings - pointers end with NULL */
struct strings {
	char *pointers[STRINGS_MAX + 1];
	size_t count;
};

static char *expand(const uint8_t *data, size_t bytes)
{
	const char *name = "";
	char *string;

	if (bytes && data[0] < NAME_COUNT) {
		name = names[data[0]];
		data++;
		bytes--;
	}
	string = malloc(strlen(name) + bytes + 1);
	if (!string)
		__builtin_trap();
	strcpy(string, name);
	memcpy(string + strlen(name), data, bytes);
	string[strlen(name) + bytes] = '\0';
	return string;
}

static void split(struct strings *strings, const uint8_t *data, size_t size)
{
	strings->count = 0;
	while (size && strings->count < STRINGS_MAX) {
		const uint8_t *end = memchr(data, 0, size);
		size_t bytes = end ? (size_t)(end - data) : size;

		strings->pointers[strings->count++] = expand(data, bytes);
		bytes += !!end;
		data += bytes;
		size -= bytes;
	}
	strings->pointers[strings->count] = NULL;
}

static int begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* A variable that may be changed, cleared or go; a cleared one is empty. */
static int is_touched(const char *entry)
{
	size_t i;

	if (!*entry)
		return 1;
	for (i = 1; i < NAME_COUNT; i++)
		if (begins_with(entry, names[i]))
			return 1;
	return 0;
}

/* Everything else is there, in its order. Returns the number of all variables. */
static size_t require_kept(const struct process_block *block, char *const *envp)
{
	char *const *actual = block->stack.envp;
	size_t count = 0;

	for (; *envp; envp++) {
		if (is_touched(*envp))
			continue;
		while (*actual && is_touched(*actual))
			actual++;
		REQUIRE(*actual && !strcmp(*actual, *envp));
		actual++;
	}
	for (actual = block->stack.envp; *actual; actual++, count++)
		REQUIRE(*actual >= block->environ_start && *actual < block->environ_end);
	return count;
}

static void require_sane_auxv(const struct process_block *block, size_t kept, size_t freed)
{
	const struct ea_auxv *auxv = block->stack.auxv;
	const struct ea_auxv *entry = (const struct ea_auxv *)(block->stack.envp + kept + 1);
	const char *execfn = (const char *)(uintptr_t)auxv[1].value;

	REQUIRE(auxv[0].type == AT_PAGESZ && auxv[0].value == 4096);
	REQUIRE(auxv[1].type == AT_EXECFN && auxv[2].type == AT_NULL);
	REQUIRE(execfn == block->execfn ||
		(execfn >= block->environ_start && execfn < block->environ_end));
	REQUIRE(!strcmp(block->execfn, "/proc/self/exe"));
	/* An odd number has been promised not to come. */
	if (freed % 2)
		return;
	while (entry < auxv) {
		REQUIRE(entry->type == AT_IGNORE && !entry->value);
		entry++;
	}
}

static void finish(char *const *argv, char *const *envp, size_t count)
{
	static const struct ea_auxv auxv[] = {{AT_PAGESZ, 4096}, {AT_NULL, 0}};
	struct process_block block;
	char *before;
	size_t kept, i;

	process_block_build(&block, argv, envp, "/proc/self/exe", auxv);
	before = malloc(block.bytes);
	if (!before)
		__builtin_trap();
	memcpy(before, block.memory, block.bytes);
	if (ea_promotion_finish(&block.stack)) {
		kept = require_kept(&block, envp);
		require_sane_auxv(&block, kept, count - kept);
		for (i = 0; argv[i]; i++)
			REQUIRE(!strcmp(block.stack.argv[i], argv[i]));
	} else {
		REQUIRE(!memcmp(before, block.memory, block.bytes));
	}
	free(before);
	process_block_free(&block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[STRINGS_MAX + 1];
	struct strings strings;
	size_t argc, i;

	if (!size)
		return 0;
	shim_double_reset();
	split(&strings, data + 1, size - 1);
	argc = data[0] < strings.count ? data[0] : strings.count;
	memcpy(argv, strings.pointers, argc * sizeof(*argv));
	argv[argc] = NULL;
	finish(argv, strings.pointers + argc, strings.count - argc);
	for (i = 0; i < strings.count; i++)
		free(strings.pointers[i]);
	return 0;
}
