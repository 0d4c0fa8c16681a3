/* SPDX-License-Identifier: MIT */
/*
 * tree.h - the regular files below a directory
 *
 * Directories are opened one from another and symbolic links are not followed, so that nobody who
 * may write in the tree can lead the walk out of it. Memory and descriptors are needed for the
 * directories from the root to the present one only.
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include <stdatomic.h>

/* struct tree_dir - an open directory; shared by those who work on files in it */
struct tree_dir {
	atomic_uint users;
	int fd;			 /* open for reading */
	char path[];		 /* as seen from the root that was given */
};

/*
 * tree_dir_open - open a directory by its path
 *
 * Returns 0 or -errno. tree_dir_put() frees it. Any context.
 */
int tree_dir_open(const char *path, struct tree_dir **out);

/* tree_dir_get - one user more; tree_dir_put - one less, and none frees it. Any thread. */
struct tree_dir *tree_dir_get(struct tree_dir *dir);
void tree_dir_put(struct tree_dir *dir);

/*
 * tree_file_path - the path of a file in a directory, as seen from the root that was given
 *
 * Returns a string to free, or NULL when out of memory. Any thread.
 */
char *tree_file_path(const struct tree_dir *dir, const char *name);

/* struct tree_visitor - what is done on the way */
struct tree_visitor {
	/* A regular file; @dir is kept beyond the call by tree_dir_get(). */
	void (*file)(void *context, struct tree_dir *dir, const char *name);
	/* A directory that could not be read, -errno; the walk goes on. */
	void (*trouble)(void *context, const char *path, int err);
	void *context;
};

/*
 * tree_walk - visit every regular file below a directory, in the order of the filesystem
 *
 * Other filesystems are entered, except those that show the kernel's state and not files (/proc,
 * /sys and the like), unless the root is one.
 */
void tree_walk(struct tree_dir *root, const struct tree_visitor *visitor);

#endif
