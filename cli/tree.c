/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fts.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>

#include "tree.h"

#define FIRST_SLOTS 256

/* struct inode - one file; an inode number of 0 does not exist and marks a free slot */
struct inode {
	dev_t dev;
	ino_t number;
};

/* Where @dev, @number is or would be. */
static struct inode *find_slot(const struct inodes *inodes, dev_t dev, ino_t number)
{
	/* Fibonacci hashing: numbers that follow each other are spread. */
	uint64_t hash = ((uint64_t)number ^ (uint64_t)dev << 32) * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(hash >> 32) & (inodes->slots - 1);

	while (inodes->table[at].number &&
		(inodes->table[at].number != number || inodes->table[at].dev != dev))
		at = (at + 1) & (inodes->slots - 1);
	return &inodes->table[at];
}

static int grow(struct inodes *inodes)
{
	struct inodes grown = {
		.slots = inodes->slots ? 2 * inodes->slots : FIRST_SLOTS, .count = inodes->count};
	size_t i;

	grown.table = calloc(grown.slots, sizeof(*grown.table));
	if (!grown.table)
		return -ENOMEM;
	for (i = 0; i < inodes->slots; i++)
		if (inodes->table[i].number)
			*find_slot(&grown, inodes->table[i].dev, inodes->table[i].number) =
				inodes->table[i];
	free(inodes->table);
	*inodes = grown;
	return 0;
}

int inodes_add(struct inodes *inodes, dev_t dev, ino_t inode)
{
	struct inode *slot;

	/* At most half full. */
	if (2 * inodes->count >= inodes->slots && grow(inodes))
		return -ENOMEM;
	slot = find_slot(inodes, dev, inode);
	if (slot->number)
		return 0;
	*slot = (struct inode){.dev = dev, .number = inode};
	inodes->count++;
	return 1;
}

void inodes_free(struct inodes *inodes)
{
	free(inodes->table);
	memset(inodes, 0, sizeof(*inodes));
}

/* Does the kernel make the files of this directory up as they are read? */
static bool is_made_up(const char *path)
{
	struct statfs filesystem;

	if (statfs(path, &filesystem))
		return false;
	switch ((uint32_t)filesystem.f_type) {
	case BINFMTFS_MAGIC:
	case BPF_FS_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case DEBUGFS_MAGIC:
	case DEVPTS_SUPER_MAGIC:
	case EFIVARFS_MAGIC:
	case PROC_SUPER_MAGIC:
	case PSTOREFS_MAGIC:
	case SECURITYFS_MAGIC:
	case SELINUX_MAGIC:
	case SYSFS_MAGIC:
	case TRACEFS_MAGIC:
		return true;
	default:
		return false;
	}
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* struct walk - one call of tree_walk() */
struct walk {
	FTS *fts;
	struct inodes *seen;
	tree_visit_fn visit;
	void *context;
	uint64_t *unreadable;
	dev_t dev; /* of the last directory */
};

static int visit_file(struct walk *walk, const FTSENT *entry)
{
	int new = inodes_add(walk->seen, entry->fts_statp->st_dev, entry->fts_statp->st_ino);

	return new > 0 ? walk->visit(walk->context, entry->fts_path, entry->fts_statp) : new;
}

static int visit_entry(struct walk *walk, FTSENT *entry)
{
	switch (entry->fts_info) {
	case FTS_D:
		if (entry->fts_statp->st_dev != walk->dev && is_made_up(entry->fts_path))
			fts_set(walk->fts, entry, FTS_SKIP);
		else
			walk->dev = entry->fts_statp->st_dev;
		return 0;
	case FTS_F:
		return visit_file(walk, entry);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		if (entry->fts_level == FTS_ROOTLEVEL)
			return -entry->fts_errno;
		(*walk->unreadable)++;
		return 0;
	default:
		return 0;
	}
}

int tree_walk(const char *path, struct inodes *seen, tree_visit_fn visit, void *context,
	uint64_t *unreadable)
{
	char *const paths[] = {(char *)path, NULL};
	struct walk walk = {
		.seen = seen, .visit = visit, .context = context, .unreadable = unreadable};
	FTSENT *entry;
	int err = 0;

	walk.fts = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare_names);
	if (!walk.fts)
		return -errno;
	while (!err && (errno = 0, entry = fts_read(walk.fts)))
		err = visit_entry(&walk, entry);
	if (!err && errno)
		err = -errno;
	fts_close(walk.fts);
	return err;
}
