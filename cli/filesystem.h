/* SPDX-License-Identifier: MIT */
/*
 * filesystem.h - what the filesystem under a file means for its text
 *
 * Two filesystems may be meant: the one that the path is on decides where a mapping is placed, the
 * one whose page cache holds the file decides in which folios. They differ on overlayfs.
 */
#ifndef CLI_FILESYSTEM_H
#define CLI_FILESYSTEM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/kernel.h"
#include "mounts.h"

/* struct filesystem - the verdict on one file or directory */
struct filesystem {
	bool known;		 /* false: it could not be asked, nothing else is filled */
	char type[32];		 /* "ext4", "overlay" */
	uint64_t magic;
	int aligns_mmap;	 /* 1, 0, or -1: unknown */

	bool layered;		 /* an overlay */
	char layer[PATH_MAX];	 /* the overlay's directory that holds it; "": not found */
	char layer_type[32];

	uint64_t folio_magic;	 /* of the filesystem that caches it, 0: not found */
	uint64_t folio_bytes_max; /* or EA_FS_FOLIO_UNKNOWN */
	dev_t dev;		 /* of that filesystem */
};

/*
 * filesystem_of - judge the filesystem of an open file
 * @fd: may be an O_PATH descriptor
 * @path: absolute, in the mount namespace that @mounts describes
 * @mounts: to name the type and to find the layers of an overlay; the layers' own paths are looked
 *	up in this process's namespace and believed only if the file is there
 * @out: always filled
 *
 * Any context.
 */
void filesystem_of(int fd, const char *path, const struct mounts *mounts,
	const struct ea_release *release, struct filesystem *out);

/* filesystem_cache_type - name of the filesystem that caches the file: layer_type or type */
const char *filesystem_cache_type(const struct filesystem *filesystem);

#endif
