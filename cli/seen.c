/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>

#include "seen.h"

#define FIRST_ROOM 64

/* struct seen_file - a place in the table; inode 0 is an empty one */
struct seen_file {
	uint64_t dev;
	uint64_t inode;
};

/* The place of a file: its own, or the empty one where it belongs. There are always empty ones. */
static struct seen_file *find(struct seen_file *files, size_t room, uint64_t dev, uint64_t inode)
{
	/* Knuth's multiplicative hash: neighbouring inodes go far apart. */
	size_t at = (size_t)((inode ^ dev << 32) * 0x9e3779b97f4a7c15) & (room - 1);

	while (files[at].inode && (files[at].inode != inode || files[at].dev != dev))
		at = (at + 1) & (room - 1);
	return &files[at];
}

static bool grow(struct seen *seen)
{
	size_t room = seen->room ? 2 * seen->room : FIRST_ROOM, i;
	struct seen_file *files = calloc(room, sizeof(*files));

	if (!files)
		return false;
	for (i = 0; i < seen->room; i++)
		if (seen->files[i].inode)
			*find(files, room, seen->files[i].dev, seen->files[i].inode) =
				seen->files[i];
	free(seen->files);
	seen->files = files;
	seen->room = room;
	return true;
}

static bool add(struct seen *seen, uint64_t dev, uint64_t inode)
{
	struct seen_file *file;

	if (2 * seen->count >= seen->room && !grow(seen))
		return false;
	file = find(seen->files, seen->room, dev, inode);
	if (file->inode)
		return true;
	*file = (struct seen_file){.dev = dev, .inode = inode};
	seen->count++;
	return false;
}

bool seen_add(struct seen *seen, const struct stat *info)
{
	bool known;

	pthread_mutex_lock(&seen->lock);
	known = add(seen, info->st_dev, info->st_ino);
	pthread_mutex_unlock(&seen->lock);
	return known;
}

void seen_free(struct seen *seen)
{
	free(seen->files);
}
