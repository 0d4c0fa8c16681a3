/* SPDX-License-Identifier: MIT */
/*
 * dpkg.h - which Debian package a file belongs to, by the checksums that dpkg keeps
 */
#ifndef CLI_DPKG_H
#define CLI_DPKG_H

#include <pthread.h>
#include <stddef.h>

/* struct dpkg - the databases that were needed so far */
struct dpkg {
	pthread_mutex_t lock;
	struct dpkg_root *roots;
	size_t root_count;
};

#define DPKG_INITIALIZER {.lock = PTHREAD_MUTEX_INITIALIZER}

/*
 * dpkg_owner - the package that has a checksum of a file
 * @path: absolute, without symbolic links. The database is that of the nearest directory above it
 *	with var/lib/dpkg/info, so that an unpacked image is judged by its own
 *
 * Returns its name, as in "libc6:amd64", valid until dpkg_free(); NULL: none has, or there is no
 * database, or no memory for it. Context: any thread.
 */
const char *dpkg_owner(struct dpkg *dpkg, const char *path);

void dpkg_free(struct dpkg *dpkg);

#endif
