/* SPDX-License-Identifier: MIT */
#include "loaded.h"
#include "sys.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int has(const struct ea_loaded_file *files, size_t count, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < count; i++) {
		if (files[i].inode == inode && files[i].device == device)
			return 1;
	}
	return 0;
}

static struct ea_loaded_file *unused(struct ea_loaded_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!files[i].inode)
			return &files[i];
	}
	return NULL;
}

int ea_loaded_has(const struct ea_loaded *loaded, uint64_t device, uint64_t inode)
{
	if (has(loaded->files, COUNT(loaded->files), device, inode))
		return 1;
	for (const struct ea_loaded_chunk *chunk = loaded->more; chunk; chunk = chunk->next) {
		if (has(chunk->files, COUNT(chunk->files), device, inode))
			return 1;
	}
	return 0;
}

static struct ea_loaded_chunk *add_chunk(struct ea_loaded *loaded)
{
	struct ea_loaded_chunk *chunk;
	long addr;

	addr = sys_mmap(
		0, sizeof(*chunk), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(addr))
		return NULL;
	chunk = (struct ea_loaded_chunk *)addr;
	chunk->next = loaded->more;
	loaded->more = chunk;
	return chunk;
}

static struct ea_loaded_file *find_unused(struct ea_loaded *loaded)
{
	struct ea_loaded_file *file = unused(loaded->files, COUNT(loaded->files));
	struct ea_loaded_chunk *chunk = loaded->more;

	for (; !file && chunk; chunk = chunk->next)
		file = unused(chunk->files, COUNT(chunk->files));
	if (file)
		return file;
	chunk = add_chunk(loaded);
	return chunk ? &chunk->files[0] : NULL;
}

struct ea_loaded_file *ea_loaded_add(struct ea_loaded *loaded, uint64_t device, uint64_t inode)
{
	struct ea_loaded_file *file = find_unused(loaded);

	if (!file)
		return NULL;
	file->device = device;
	file->inode = inode;
	return file;
}

static int is_in(
	const struct ea_loaded_file *files, size_t count, const struct ea_loaded_file *file)
{
	return (uintptr_t)file >= (uintptr_t)files && (uintptr_t)file < (uintptr_t)(files + count);
}

void ea_loaded_remove(struct ea_loaded *loaded, struct ea_loaded_file *file)
{
	struct ea_loaded_chunk *chunk = loaded->more;
	int is_ours = is_in(loaded->files, COUNT(loaded->files), file);

	for (; !is_ours && chunk; chunk = chunk->next)
		is_ours = is_in(chunk->files, COUNT(chunk->files), file);
	if (is_ours)
		file->inode = 0;
}
