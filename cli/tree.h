/* SPDX-License-Identifier: MIT */
/*
 * tree.h - the regular files below a directory, each once
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* struct inodes - a set of files, whatever their names; begins as {0} */
struct inodes {
	struct inode *table; /* open addressing */
	size_t slots;	     /* 0 or a power of two */
	size_t count;
};

/*
 * inodes_add - put a file into the set
 *
 * Returns 1 if it was not there, 0 if it was, or -ENOMEM. Any context.
 */
int inodes_add(struct inodes *inodes, dev_t dev, ino_t inode);

void inodes_free(struct inodes *inodes);

/*
 * tree_visit_fn - called for each regular file
 * @path: begins with the directory's path as it was given
 * @info: as from lstat(2)
 *
 * Returns 0 to go on, or an error to end the walk with.
 */
typedef int (*tree_visit_fn)(void *context, const char *path, const struct stat *info);

/*
 * tree_walk - visit the regular files below @path, in the order of their names
 * @path: a directory, or a symbolic link to one
 * @seen: files that are in it are passed over, those that are visited are added
 * @unreadable: raised by one for each directory that cannot be read
 *
 * Symbolic links below @path are not followed. Mount points are crossed, but not into what the
 * kernel makes up (proc, sysfs and the like), where reading a file may do anything.
 * Returns 0, what @visit returned, or -errno when @path itself cannot be read. Any context.
 */
int tree_walk(const char *path, struct inodes *seen, tree_visit_fn visit, void *context,
	uint64_t *unreadable);

#endif
