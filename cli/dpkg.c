/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dpkg.h"

#define INFO_DIRECTORY "/var/lib/dpkg/info"
#define SUMS_SUFFIX ".md5sums"
#define SUM_CHARACTERS 32

/* struct dpkg_entry - a path of a package: only its hash, there are hundreds of thousands */
struct dpkg_entry {
	uint64_t hash;
	const char *package;
};

/* struct dpkg_root - one database */
struct dpkg_root {
	char *path; /* of the root, without a slash at its end: "" for / */
	char **packages;
	size_t package_count;
	struct dpkg_entry *entries; /* sorted */
	size_t entry_count;
	size_t entry_room;
};

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t hash_of(const char *text, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325;
	size_t i;

	for (i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
	return hash;
}

static int compare_entries(const void *left, const void *right)
{
	const struct dpkg_entry *one = left, *other = right;

	return one->hash < other->hash ? -1 : one->hash > other->hash;
}

static int add_entry(struct dpkg_root *root, const char *path, size_t bytes, const char *package)
{
	if (root->entry_count == root->entry_room) {
		size_t room = root->entry_room ? 2 * root->entry_room : 4096;
		struct dpkg_entry *entries = reallocarray(root->entries, room, sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		root->entries = entries;
		root->entry_room = room;
	}
	root->entries[root->entry_count++] =
		(struct dpkg_entry){.hash = hash_of(path, bytes), .package = package};
	return 0;
}

/* Lines are "d41d8cd98f00b204e9800998ecf8427e  usr/lib/libx.so.1". */
static void read_sums(struct dpkg_root *root, FILE *stream, const char *package)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t bytes;

	while ((bytes = getline(&line, &room, stream)) > SUM_CHARACTERS + 2) {
		char *path = line + SUM_CHARACTERS + 2;

		if (add_entry(root, path, strcspn(path, "\n"), package))
			break;
	}
	free(line);
}

static void read_package(struct dpkg_root *root, int dir_fd, const char *name)
{
	size_t bytes = strlen(name) - strlen(SUMS_SUFFIX);
	char **packages =
		reallocarray(root->packages, root->package_count + 1, sizeof(*root->packages));
	FILE *stream;
	int fd;

	if (!packages)
		return;
	root->packages = packages;
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	stream = fd < 0 ? NULL : fdopen(fd, "r");
	if (!stream) {
		close(fd);
		return;
	}
	packages[root->package_count] = strndup(name, bytes);
	if (packages[root->package_count])
		read_sums(root, stream, packages[root->package_count++]);
	fclose(stream);
}

static bool is_sums(const char *name)
{
	size_t bytes = strlen(name);

	return bytes > strlen(SUMS_SUFFIX) &&
	       !strcmp(name + bytes - strlen(SUMS_SUFFIX), SUMS_SUFFIX);
}

static void read_database(struct dpkg_root *root)
{
	char directory[PATH_MAX + sizeof(INFO_DIRECTORY)];
	struct dirent *entry;
	DIR *stream;

	snprintf(directory, sizeof(directory), "%s" INFO_DIRECTORY, root->path);
	stream = opendir(directory);
	if (!stream)
		return;
	while ((entry = readdir(stream)))
		if (is_sums(entry->d_name))
			read_package(root, dirfd(stream), entry->d_name);
	closedir(stream);
	if (root->entry_count)
		qsort(root->entries, root->entry_count, sizeof(*root->entries), compare_entries);
}

static struct dpkg_root *find_root(struct dpkg *dpkg, const char *path)
{
	struct dpkg_root *roots;
	size_t i;

	for (i = 0; i < dpkg->root_count; i++)
		if (!strcmp(dpkg->roots[i].path, path))
			return &dpkg->roots[i];
	roots = reallocarray(dpkg->roots, dpkg->root_count + 1, sizeof(*roots));
	if (!roots)
		return NULL;
	dpkg->roots = roots;
	roots[i] = (struct dpkg_root){.path = strdup(path)};
	if (!roots[i].path)
		return NULL;
	dpkg->root_count++;
	read_database(&roots[i]);
	return &roots[i];
}

static const char *find_path(const struct dpkg_root *root, const char *path)
{
	struct dpkg_entry wanted = {.hash = hash_of(path, strlen(path))};
	const struct dpkg_entry *found = NULL;

	if (root->entry_count)
		found = bsearch(
			&wanted, root->entries, root->entry_count, sizeof(wanted), compare_entries);
	return found ? found->package : NULL;
}

/* Where /lib is a link to /usr/lib, packages may still name what is in it by the short path. */
static const char *find_owner(const struct dpkg_root *root, const char *path)
{
	static const char usr[] = "usr/";
	const char *owner = find_path(root, path);

	if (!owner && !strncmp(path, usr, strlen(usr)))
		owner = find_path(root, path + strlen(usr));
	return owner;
}

const char *dpkg_owner(struct dpkg *dpkg, const char *path)
{
	char root[PATH_MAX], info[PATH_MAX + sizeof(INFO_DIRECTORY)];
	const char *owner = NULL;
	char *slash;

	if (*path != '/' || snprintf(root, sizeof(root), "%s", path) >= PATH_MAX)
		return NULL;
	pthread_mutex_lock(&dpkg->lock);
	while ((slash = strrchr(root, '/'))) {
		struct dpkg_root *found;

		*slash = '\0';
		snprintf(info, sizeof(info), "%s" INFO_DIRECTORY, root);
		if (access(info, X_OK))
			continue;
		found = find_root(dpkg, root);
		if (found)
			owner = find_owner(found, path + strlen(root) + 1);
		break;
	}
	pthread_mutex_unlock(&dpkg->lock);
	return owner;
}

void dpkg_free(struct dpkg *dpkg)
{
	size_t i, k;

	for (i = 0; i < dpkg->root_count; i++) {
		struct dpkg_root *root = &dpkg->roots[i];

		for (k = 0; k < root->package_count; k++)
			free(root->packages[k]);
		free(root->packages);
		free(root->entries);
		free(root->path);
	}
	free(dpkg->roots);
}
