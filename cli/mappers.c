/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "mappers.h"

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_identities(const struct vma *a, const struct vma *b)
{
	if (a->inode != b->inode)
		return compare_numbers(a->inode, b->inode);
	if (a->dev_major != b->dev_major)
		return compare_numbers(a->dev_major, b->dev_major);
	return compare_numbers(a->dev_minor, b->dev_minor);
}

static int compare_files(const void *a, const void *b)
{
	return compare_identities(&((const struct wanted_file *)a)->identity,
		&((const struct wanted_file *)b)->identity);
}

static int compare_vma_with_file(const void *vma, const void *file)
{
	return compare_identities(vma, &((const struct wanted_file *)file)->identity);
}

static void read_comm(int pid, char *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (read_line(path, out, MAPPER_NAME_MAX))
		snprintf(out, MAPPER_NAME_MAX, "?");
}

static int add_mapper(struct wanted_file *file, int pid)
{
	struct mapper *mappers;

	/* Processes come one after another: if this one is there, it is the last. */
	if (file->count && file->mappers[file->count - 1].pid == pid)
		return 0;
	mappers = reallocarray(file->mappers, file->count + 1, sizeof(*mappers));
	if (!mappers)
		return -ENOMEM;
	file->mappers = mappers;
	mappers[file->count].pid = pid;
	read_comm(pid, mappers[file->count].comm);
	file->count++;
	return 0;
}

/* One that may not be looked at raises @unseen; one that has ended has nothing mapped. */
static int look_at(int pid, struct wanted_file *files, size_t count, size_t *unseen)
{
	struct buffer text;
	struct maps maps;
	char path[64];
	size_t i;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	err = read_file_at(AT_FDCWD, path, &text);
	if (err) {
		*unseen += err == -EACCES || err == -EPERM;
		return err == -ENOMEM ? err : 0;
	}
	err = maps_parse(text.data, text.bytes, &maps);
	free(text.data);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (i = 0; i < maps.count && !err; i++) {
		struct wanted_file *file =
			bsearch(&maps.vmas[i], files, count, sizeof(*files), compare_vma_with_file);

		if (file)
			err = add_mapper(file, pid);
	}
	maps_free(&maps);
	return err;
}

int mappers_find(struct wanted_file *files, size_t count, size_t *unseen)
{
	DIR *directory;
	struct dirent *entry;
	int err = 0;

	*unseen = 0;
	if (!count)
		return 0;
	qsort(files, count, sizeof(*files), compare_files);
	directory = opendir("/proc");
	if (!directory)
		return -errno;
	while (!err && (entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]))
			err = look_at(atoi(entry->d_name), files, count, unseen);
	closedir(directory);
	return err;
}
