/* SPDX-License-Identifier: MIT */
/*
 * attributes.h - what a file has besides its contents
 */
#ifndef CLI_ATTRIBUTES_H
#define CLI_ATTRIBUTES_H

#include <sys/stat.h>

/*
 * attributes_copy - give a copy the owner, mode, access time and all extended attributes of the
 *	original: file capabilities, access control lists and security labels are such
 * @info: of the original
 *
 * The modification time is the copy's own: its contents are not the original's, and backups and
 * rsync go by it. Returns 0; -ENOTSUP when an extended attribute cannot be copied; or -errno.
 * Context: nothing is written to the copy afterwards, since that takes capabilities away.
 */
int attributes_copy(int from_fd, const struct stat *info, int to_fd);

/*
 * attributes_find_measured - the name of an extended attribute that signs the contents, or holds
 *	their checksum (IMA, EVM); NULL without one
 */
const char *attributes_find_measured(int fd);

#endif
