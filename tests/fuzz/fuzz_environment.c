/* SPDX-License-Identifier: MIT */
/*
 * fuzz_environment.c - the environment of a process that says that it was promoted, or is promoted
 *
 * The first byte has the number of arguments in its lower seven bits; strings follow, each ended by a zero. In front of a
 * string, a byte from 1 to 7 stands for one of the names below, so that they need not be guessed.
 * Whatever they are, ea_promotion_finish() stays within the block, keeps every variable that is
 * none of its own, and leaves the auxiliary vector where programs look for it. With the first byte's
 * highest bit that is a process that ea_promotion_try() made of one with these strings.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "invariants.h"
#include "shim/environment.h"
#include "shim/promotion.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/process_block.h"
#include "tests/unit/shim_double.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define SHIM "/shim"
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

static void require_sane_auxv(const struct process_block *block)
{
	const struct ea_auxv *auxv = block->stack.auxv;
	const char *execfn = (const char *)(uintptr_t)auxv[1].value;

	REQUIRE(auxv[0].type == AT_PAGESZ && auxv[0].value == 4096);
	REQUIRE(auxv[1].type == AT_EXECFN && auxv[2].type == AT_NULL);
	REQUIRE(execfn == block->execfn ||
		(execfn >= block->environ_start && execfn < block->environ_end));
	REQUIRE(!strcmp(block->execfn, "/proc/self/exe"));
}

/* Freed slots are entries to be ignored, in pairs. */
static void require_no_hole(const struct process_block *block, size_t kept, size_t freed)
{
	const struct ea_auxv *entry = (const struct ea_auxv *)(block->stack.envp + kept + 1);

	REQUIRE(freed % 2 == 0);
	for (; entry < block->stack.auxv; entry++)
		REQUIRE(entry->type == AT_IGNORE && !entry->value);
}

static void require_arguments(const struct process_block *block, char *const *argv)
{
	size_t i;

	for (i = 0; argv[i]; i++)
		REQUIRE(!strcmp(block->stack.argv[i], argv[i]));
	REQUIRE(!block->stack.argv[i]);
}

static void require_no_marker(char *const *envp)
{
	REQUIRE(!ea_env_find(envp, "EXECALIGN_PROMOTED", NULL));
	REQUIRE(!ea_env_find(envp, "EXECALIGN_PADDING", NULL));
}

static const struct ea_auxv auxv_after_exec[] = {{AT_PAGESZ, 4096}, {AT_NULL, 0}};

/* A process that only says so: nobody has seen to it that its markers make pairs. */
static void finish(char *const *argv, char *const *envp, size_t count)
{
	struct ea_promotion_marker marker;
	struct process_block block;
	char *before;
	size_t kept;

	process_block_build(&block, argv, envp, "/proc/self/exe", auxv_after_exec);
	before = malloc(block.bytes);
	if (!before)
		__builtin_trap();
	memcpy(before, block.memory, block.bytes);
	if (ea_promotion_finish(&block.stack, &marker)) {
		kept = require_kept(&block, envp);
		require_no_marker(block.stack.envp);
		require_sane_auxv(&block);
		if ((count - kept) % 2 == 0)
			require_no_hole(&block, kept, count - kept);
		require_arguments(&block, argv);
	} else {
		REQUIRE(!memcmp(before, block.memory, block.bytes));
	}
	free(before);
	process_block_free(&block);
}

/* The process after the exec, while there is one. */
static struct process_block promoted;
static size_t promoted_count;

static void start_promoted(const char *path, char *const *argv, char *const *envp)
{
	process_block_build(&promoted, argv, envp, path, auxv_after_exec);
	promoted_count = ea_env_count(envp);
}

static void require_same_value(char *const *envp, char *const *expected, const char *name)
{
	const char *value = ea_env_find(envp, name, NULL);
	const char *expected_value = ea_env_find(expected, name, NULL);

	REQUIRE(!value == !expected_value);
	REQUIRE(!value || !strcmp(value, expected_value));
}

/* A process that is promoted finds back to what it was started with, but for foreign markers. */
static void there_and_back(char *const *argv, char *const *envp)
{
	const struct ea_auxv auxv[] = {{AT_PAGESZ, 4096}, {AT_PHDR, getauxval(AT_PHDR)},
		{AT_PHNUM, getauxval(AT_PHNUM)}, {AT_NULL, 0}};
	const struct ea_settings settings = {.promote = EA_PROMOTE_ALWAYS};
	struct ea_promotion_marker marker;
	struct process_block block;
	struct elf_file elf;
	char *before;
	size_t kept;

	/* A shim without TLS. */
	elf_begin(&elf, MACHINE);
	elf_add(&elf, PT_LOAD, PF_R, 0, 0, 0x1000, 0x1000);
	shim_double_serve(SHIM, &elf, sizeof(elf), elf.file_bytes);
	process_block_build(&block, argv, envp, "/bin/program", auxv);
	before = malloc(block.bytes);
	if (!before)
		__builtin_trap();
	memcpy(before, block.memory, block.bytes);
	ea_promotion_try(&block.stack, &settings);
	REQUIRE(!memcmp(before, block.memory, block.bytes));
	free(before);
	process_block_free(&block);
	if (!shim_double.execs)
		return; /* the user has the auditor already, or GLIBC_TUNABLES is malformed */

	REQUIRE(ea_promotion_finish(&promoted.stack, &marker) && !marker.seccomp_filters);
	kept = require_kept(&promoted, envp);
	require_no_marker(promoted.stack.envp);
	require_sane_auxv(&promoted);
	require_no_hole(&promoted, kept, promoted_count - kept);
	require_arguments(&promoted, argv);
	require_same_value(promoted.stack.envp, envp, "LD_AUDIT");
	require_same_value(promoted.stack.envp, envp, "GLIBC_TUNABLES");
	process_block_free(&promoted);
}

/* ld.so's list of this program and the shim. */
static void load_shim(void)
{
	static struct link_map maps[2] = {
		{.l_name = (char *)"", .l_next = &maps[1]},
		{.l_name = (char *)SHIM, .l_ld = shim__DYNAMIC},
	};

	shim_double_reset();
	shim_double.on_exec = start_promoted;
	shim__r_debug.r_map = maps;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[STRINGS_MAX + 1];
	struct strings strings;
	size_t argc, i;

	if (!size)
		return 0;
	split(&strings, data + 1, size - 1);
	argc = data[0] & 0x7f;
	if (argc > strings.count)
		argc = strings.count;
	memcpy(argv, strings.pointers, argc * sizeof(*argv));
	argv[argc] = NULL;
	load_shim();
	if (data[0] & 0x80)
		there_and_back(argv, strings.pointers + argc);
	else
		finish(argv, strings.pointers + argc, strings.count - argc);
	for (i = 0; i < strings.count; i++)
		free(strings.pointers[i]);
	return 0;
}
