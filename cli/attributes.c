/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attributes.h"

#define ACL "system.posix_acl_access"

/* All names, each with its NUL, to be freed. Returns their bytes or -errno; 0 without any. */
static ssize_t list_names(int fd, char **out)
{
	ssize_t bytes;

	*out = NULL;
	for (;;) {
		ssize_t got;

		bytes = flistxattr(fd, NULL, 0);
		if (bytes <= 0)
			return bytes < 0 && errno != ENOTSUP ? -errno : 0;
		free(*out);
		*out = malloc((size_t)bytes);
		if (!*out)
			return -ENOMEM;
		got = flistxattr(fd, *out, (size_t)bytes);
		if (got >= 0)
			return got;
		/* Another one was added just now. */
		if (errno != ERANGE)
			return -errno;
	}
}

/* A value, to be freed. Returns its bytes or -errno. */
static ssize_t read_value(int fd, const char *name, char **out)
{
	ssize_t bytes = fgetxattr(fd, name, NULL, 0), got;

	*out = NULL;
	if (bytes < 0)
		return -errno;
	*out = malloc((size_t)bytes + 1);
	if (!*out)
		return -ENOMEM;
	got = fgetxattr(fd, name, *out, (size_t)bytes);
	return got < 0 ? -errno : got;
}

/* Does the copy have the value already, as with labels that the directory gives? */
static bool has_value(int fd, const char *name, const char *value, ssize_t bytes)
{
	char *own;
	ssize_t own_bytes = read_value(fd, name, &own);
	bool same = own_bytes == bytes && !memcmp(own, value, (size_t)bytes);

	free(own);
	return same;
}

static int copy_attribute(int from_fd, int to_fd, const char *name)
{
	char *value;
	ssize_t bytes = read_value(from_fd, name, &value);
	int err = 0;

	if (bytes < 0)
		err = bytes == -ENODATA ? 0 : (int)bytes;
	else if (!has_value(to_fd, name, value, bytes) &&
		 fsetxattr(to_fd, name, value, (size_t)bytes, 0))
		err = errno == ENOSPC || errno == EDQUOT ? -errno : -ENOTSUP;
	free(value);
	return err;
}

static int copy_attributes(int from_fd, int to_fd)
{
	char *names;
	ssize_t bytes = list_names(from_fd, &names);
	const char *name;
	int err = bytes < 0 ? (int)bytes : 0;

	for (name = names; !err && bytes > 0; name += strlen(name) + 1) {
		err = copy_attribute(from_fd, to_fd, name);
		bytes -= (ssize_t)strlen(name) + 1;
	}
	free(names);
	return err;
}

int attributes_copy(int from_fd, const struct stat *info, int to_fd)
{
	const struct timespec times[2] = {info->st_atim, {.tv_nsec = UTIME_OMIT}};
	struct stat own;

	if (fstat(to_fd, &own))
		return -errno;
	if ((own.st_uid != info->st_uid || own.st_gid != info->st_gid) &&
		fchown(to_fd, info->st_uid, info->st_gid))
		return -errno;
	/* The directory's default list, which the original need not have. */
	if (fremovexattr(to_fd, ACL) && errno != ENODATA && errno != ENOTSUP)
		return -errno;
	/* After fchown(), which takes set-user-ID away. */
	if (fchmod(to_fd, info->st_mode & 07777) || futimens(to_fd, times))
		return -errno;
	return copy_attributes(from_fd, to_fd);
}

const char *attributes_find_measured(int fd)
{
	static const char *const measured[] = {"security.ima", "security.evm"};
	size_t i;

	for (i = 0; i < sizeof(measured) / sizeof(measured[0]); i++)
		if (fgetxattr(fd, measured[i], NULL, 0) >= 0)
			return measured[i];
	return NULL;
}
