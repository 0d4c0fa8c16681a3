/* SPDX-License-Identifier: MIT */
/*
 * seen.h - a set of files, by device and inode
 */
#ifndef CLI_SEEN_H
#define CLI_SEEN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* struct seen - 64 bytes or less per file */
struct seen {
	pthread_mutex_t lock;
	struct seen_file *files;
	size_t count;
	size_t room;
};

#define SEEN_INITIALIZER {.lock = PTHREAD_MUTEX_INITIALIZER}

/*
 * seen_add - is it there already? If not, add it.
 *
 * When out of memory it is not added. Context: any thread.
 */
bool seen_add(struct seen *seen, const struct stat *info);

void seen_free(struct seen *seen);

#endif
