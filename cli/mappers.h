/* SPDX-License-Identifier: MIT */
/*
 * mappers.h - which processes have files mapped
 */
#ifndef CLI_MAPPERS_H
#define CLI_MAPPERS_H

#include <stddef.h>
#include <stdint.h>

#include "maps.h"

#define MAPPER_NAME_MAX 64

/* struct mapper - a process that has a file mapped */
struct mapper {
	int pid;
	char comm[MAPPER_NAME_MAX]; /* "?" if it could not be read */
};

/* struct wanted_file - whose mappers are looked for */
struct wanted_file {
	struct vma identity;	/* in: dev_major, dev_minor and inode as in maps */
	size_t owner;		/* the caller's, to recognise it by */
	struct mapper *mappers; /* out: in the order of /proc; free() */
	size_t count;
};

/*
 * mappers_find - go through the maps of all processes once
 * @files: are sorted by this function
 * @unseen: receives how many processes may not be looked at
 *
 * A process in another mount namespace is found, too, except behind another overlay.
 * Returns 0 or -errno.
 */
int mappers_find(struct wanted_file *files, size_t count, size_t *unseen);

#endif
