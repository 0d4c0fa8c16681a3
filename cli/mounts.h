/* SPDX-License-Identifier: MIT */
/*
 * mounts.h - the text of /proc/PID/mountinfo, and the layers of overlay mounts
 */
#ifndef CLI_MOUNTS_H
#define CLI_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* struct mount - one line; all strings are owned by the struct mounts */
struct mount {
	uint64_t id;
	char *root;		 /* the directory of the filesystem that is mounted there */
	char *point;		 /* where it is mounted, unescaped */
	char *type;		 /* "ext4", "overlay" */
	char *options;		 /* of the superblock, as written: still escaped */
};

/* struct mounts - in the order of the file */
struct mounts {
	struct mount *mounts;
	size_t count;
};

/*
 * mounts_parse - read mountinfo
 * @text: @bytes bytes; needs no NUL. Lines that are not in its format are passed over
 *
 * Returns 0 or -ENOMEM. Free with mounts_free(). Any context.
 */
int mounts_parse(const char *text, size_t bytes, struct mounts *out);

/*
 * mounts_read - mounts_parse() of a file
 * @dir_fd: directory that @path is relative to, or AT_FDCWD
 * @out: what it was, where the file cannot be read: nothing is known of the mounts then
 *
 * Free with mounts_free(). Context: /proc is mounted, or nothing is known.
 */
void mounts_read(int dir_fd, const char *path, struct mounts *out);

void mounts_free(struct mounts *mounts);

/* mounts_find - the mount with statx(2)'s stx_mnt_id, or NULL */
const struct mount *mounts_find(const struct mounts *mounts, uint64_t id);

/* struct layers - the directories that an overlay mount is made of, the uppermost first */
struct layers {
	char **paths;
	size_t count;
};

/*
 * mount_layers - the layers of an overlay mount, as they were given to mount(2)
 *
 * Their paths belong to the mount namespace of whoever mounted it. For a mount that is no overlay
 * there are none. Returns 0 or -ENOMEM. Free with layers_free(). Any context.
 */
int mount_layers(const struct mount *mount, struct layers *out);

void layers_free(struct layers *layers);

#endif
