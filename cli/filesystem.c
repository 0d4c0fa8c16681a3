/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "filesystem.h"

/* overlayfs stacks two deep (FILESYSTEM_MAX_STACK_DEPTH). */
#define LAYER_DEPTH_MAX 3

/* For a mount that is not in the table of mounts that we have. */
static const char *name_of(uint64_t magic)
{
	switch (magic) {
	case EA_FS_EXT4:
		return "ext4";
	case EA_FS_XFS:
		return "xfs";
	case EA_FS_BTRFS:
		return "btrfs";
	case EA_FS_EROFS:
		return "erofs";
	case EA_FS_OVERLAY:
		return "overlay";
	case EA_FS_TMPFS:
		return "tmpfs";
	case EA_FS_SQUASHFS:
		return "squashfs";
	case EA_FS_FUSE:
		return "fuse";
	case EA_FS_F2FS:
		return "f2fs";
	case EA_FS_NFS:
		return "nfs";
	default:
		return "an unknown filesystem";
	}
}

static const struct mount *mount_of(int fd, const struct mounts *mounts)
{
	struct statx info;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) || !(info.stx_mask & STATX_MNT_ID))
		return NULL;
	return mounts_find(mounts, info.stx_mnt_id);
}

/* The path within the mounted filesystem: "" for its root. NULL: @path is not under the mount. */
static const char *path_in_mount(const struct mount *mount, const char *path)
{
	size_t bytes = strcmp(mount->point, "/") ? strlen(mount->point) : 0;

	if (strncmp(path, mount->point, bytes) || (path[bytes] && path[bytes] != '/'))
		return NULL;
	return path + bytes;
}

/* The uppermost layer that has the file: an O_PATH descriptor of it there, or -1. */
static int open_in_layers(
	const struct mount *mount, const char *inner_path, struct filesystem *out, char *path)
{
	const char *root = strcmp(mount->root, "/") ? mount->root : "";
	struct layers layers;
	int fd = -1;
	size_t i;

	if (mount_layers(mount, &layers))
		return -1;
	for (i = 0; i < layers.count && fd < 0; i++) {
		if (snprintf(path, PATH_MAX, "%s%s%s", layers.paths[i], root, inner_path) >=
				PATH_MAX ||
			*path != '/')
			continue;
		fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			snprintf(out->layer, sizeof(out->layer), "%s", layers.paths[i]);
	}
	layers_free(&layers);
	return fd;
}

static void judge(int fd, const char *path, const struct mounts *mounts,
	const struct ea_release *release, unsigned int depth, struct filesystem *out);

static void judge_layers(const struct mount *mount, const char *path, const struct mounts *mounts,
	const struct ea_release *release, unsigned int depth, struct filesystem *out)
{
	const char *inner_path = mount ? path_in_mount(mount, path) : NULL;
	struct filesystem layer;
	char layer_path[PATH_MAX];
	int fd;

	out->layered = true;
	out->folio_bytes_max = EA_FS_FOLIO_UNKNOWN;
	if (!inner_path || depth == LAYER_DEPTH_MAX)
		return;
	fd = open_in_layers(mount, inner_path, out, layer_path);
	if (fd < 0)
		return;
	judge(fd, layer_path, mounts, release, depth + 1, &layer);
	close(fd);
	if (!layer.known)
		return;
	snprintf(out->layer_type, sizeof(out->layer_type), "%s", filesystem_cache_type(&layer));
	out->folio_magic = layer.folio_magic;
	out->folio_bytes_max = layer.folio_bytes_max;
	out->dev = layer.dev;
}

static void judge(int fd, const char *path, const struct mounts *mounts,
	const struct ea_release *release, unsigned int depth, struct filesystem *out)
{
	const struct mount *mount = mount_of(fd, mounts);
	struct statfs filesystem;
	struct stat info;

	memset(out, 0, sizeof(*out));
	if (fstatfs(fd, &filesystem) || fstat(fd, &info))
		return;
	out->known = true;
	/* f_type is signed and as wide as a long: the magic numbers have 32 bits. */
	out->magic = (uint32_t)filesystem.f_type;
	snprintf(out->type, sizeof(out->type), "%s", mount ? mount->type : name_of(out->magic));
	out->aligns_mmap = ea_fs_aligns_mmap(out->magic, release);
	if (out->magic == EA_FS_OVERLAY) {
		judge_layers(mount, path, mounts, release, depth, out);
		return;
	}
	out->folio_magic = out->magic;
	out->folio_bytes_max = ea_fs_folio_bytes_max(out->magic, release);
	out->dev = info.st_dev;
}

void filesystem_of(int fd, const char *path, const struct mounts *mounts,
	const struct ea_release *release, struct filesystem *out)
{
	judge(fd, path, mounts, release, 0, out);
}

const char *filesystem_cache_type(const struct filesystem *filesystem)
{
	return filesystem->layered ? filesystem->layer_type : filesystem->type;
}
