/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tree.h"

static int dir_new(int fd, const char *parent, const char *name, struct tree_dir **out)
{
	size_t parent_bytes = strlen(parent), name_bytes = strlen(name) + 1;
	bool slash = parent_bytes && parent[parent_bytes - 1] != '/';
	struct tree_dir *dir = malloc(sizeof(*dir) + parent_bytes + slash + name_bytes);

	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	atomic_init(&dir->users, 1);
	dir->fd = fd;
	memcpy(dir->path, parent, parent_bytes);
	dir->path[parent_bytes] = '/';
	memcpy(dir->path + parent_bytes + slash, name, name_bytes);
	*out = dir;
	return 0;
}

int tree_dir_open(const char *path, struct tree_dir **out)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : dir_new(fd, "", path, out);
}

static int dir_open_in(struct tree_dir *parent, const char *name, struct tree_dir **out)
{
	int fd = openat(parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : dir_new(fd, parent->path, name, out);
}

struct tree_dir *tree_dir_get(struct tree_dir *dir)
{
	atomic_fetch_add_explicit(&dir->users, 1, memory_order_relaxed);
	return dir;
}

void tree_dir_put(struct tree_dir *dir)
{
	if (atomic_fetch_sub_explicit(&dir->users, 1, memory_order_acq_rel) != 1)
		return;
	close(dir->fd);
	free(dir);
}

char *tree_file_path(const struct tree_dir *dir, const char *name)
{
	size_t bytes = strlen(dir->path);
	const char *slash = bytes && dir->path[bytes - 1] == '/' ? "" : "/";
	char *path;

	return asprintf(&path, "%s%s%s", dir->path, slash, name) < 0 ? NULL : path;
}

/* A filesystem that holds no programs: of those that the kernel makes up as it is asked. */
static bool is_made_up(int fd)
{
	static const uint32_t made_up[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC,
		TRACEFS_MAGIC, SECURITYFS_MAGIC, SELINUX_MAGIC, SMACK_MAGIC, CGROUP_SUPER_MAGIC,
		CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC, PSTOREFS_MAGIC, EFIVARFS_MAGIC, BINFMTFS_MAGIC,
		DEVPTS_SUPER_MAGIC, NSFS_MAGIC};
	struct statfs info;
	size_t i;

	if (fstatfs(fd, &info))
		return false;
	for (i = 0; i < sizeof(made_up) / sizeof(made_up[0]); i++)
		if ((uint32_t)info.f_type == made_up[i])
			return true;
	return false;
}

/* DT_REG, DT_DIR or another; some filesystems leave it to fstatat(). */
static unsigned char type_of(int dir_fd, const struct dirent *entry)
{
	struct stat info;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	if (fstatat(dir_fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW))
		return DT_UNKNOWN;
	return IFTODT(info.st_mode);
}

static void walk(struct tree_dir *dir, dev_t parent_dev, const struct tree_visitor *visitor);

static void enter(
	struct tree_dir *parent, const char *name, dev_t dev, const struct tree_visitor *visitor)
{
	struct tree_dir *dir;
	int err;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return;
	err = dir_open_in(parent, name, &dir);
	if (!err) {
		walk(dir, dev, visitor);
		tree_dir_put(dir);
	} else if (err != -ENOENT && !dir_new(-1, parent->path, name, &dir)) {
		visitor->trouble(visitor->context, dir->path, err);
		tree_dir_put(dir);
	}
}

static void walk(struct tree_dir *dir, dev_t parent_dev, const struct tree_visitor *visitor)
{
	/* A descriptor of its own: others read relative to the directory's meanwhile. */
	int fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat info;

	if (!stream || fstat(fd, &info)) {
		visitor->trouble(visitor->context, dir->path, -errno);
		if (stream)
			closedir(stream);
		else if (fd >= 0)
			close(fd);
		return;
	}
	if (info.st_dev == parent_dev || !is_made_up(fd)) {
		while ((errno = 0, entry = readdir(stream))) {
			unsigned char type = type_of(fd, entry);

			if (type == DT_DIR)
				enter(dir, entry->d_name, info.st_dev, visitor);
			else if (type == DT_REG)
				visitor->file(visitor->context, dir, entry->d_name);
		}
		if (errno)
			visitor->trouble(visitor->context, dir->path, -errno);
	}
	closedir(stream);
}

void tree_walk(struct tree_dir *root, const struct tree_visitor *visitor)
{
	struct stat info;

	walk(root, fstat(root->fd, &info) ? 0 : info.st_dev, visitor);
}
