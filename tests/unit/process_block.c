/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "process_block.h"

static size_t count_of(char *const *strings, size_t *bytes)
{
	size_t count = 0;

	for (; strings[count]; count++)
		*bytes += strlen(strings[count]) + 1;
	return count;
}

static size_t entries_of(const struct ea_auxv *auxv)
{
	size_t count = 0;

	while (auxv[count].type != AT_NULL)
		count++;
	return count;
}

/* Copy @string to *@to; returns where it is now, and moves *@to behind it. */
static char *put(char **to, const char *string)
{
	char *copy = *to;

	strcpy(copy, string);
	*to += strlen(string) + 1;
	return copy;
}

static char **put_all(char **slots, char **to, char *const *strings)
{
	for (; *strings; strings++)
		*slots++ = put(to, *strings);
	*slots++ = NULL;
	return slots;
}

void process_block_build(struct process_block *block, char *const *argv, char *const *envp,
	const char *execfn, const struct ea_auxv *auxv)
{
	size_t string_bytes = execfn ? strlen(execfn) + 1 : 0;
	size_t argc = count_of(argv, &string_bytes);
	size_t envc = count_of(envp, &string_bytes);
	size_t entries = entries_of(auxv);
	size_t table_bytes = (1 + argc + 1 + envc + 1) * sizeof(char *) +
			     (entries + !!execfn + 1) * sizeof(struct ea_auxv);
	struct ea_auxv *entry;
	char *strings;
	char **slots;

	block->bytes = table_bytes + string_bytes;
	block->memory = calloc(1, block->bytes);
	if (!block->memory)
		abort();
	strings = block->memory + table_bytes;
	slots = (char **)block->memory;
	*(uint64_t *)slots++ = argc;

	block->stack.argv = slots;
	slots = put_all(slots, &strings, argv);
	block->environ_start = strings;
	block->stack.envp = slots;
	slots = put_all(slots, &strings, envp);
	block->environ_end = strings;

	entry = (struct ea_auxv *)slots;
	block->stack.auxv = entry;
	memcpy(entry, auxv, entries * sizeof(*entry));
	entry += entries;
	block->execfn = execfn ? put(&strings, execfn) : NULL;
	if (execfn)
		*entry++ = (struct ea_auxv){AT_EXECFN, (uint64_t)(uintptr_t)block->execfn};
	entry->type = AT_NULL;
}

void process_block_free(struct process_block *block)
{
	free(block->memory);
}
