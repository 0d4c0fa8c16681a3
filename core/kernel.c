/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "kernel.h"

/* Reads digits; returns what follows them, or NULL where there are none or too many. */
static const char *parse_number(const char *text, uint32_t *out)
{
	uint32_t value = 0;

	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint32_t)(*text - '0'), &value))
			return NULL;
	}
	*out = value;
	return text;
}

int ea_release_parse(const char *text, struct ea_release *out)
{
	struct ea_release release;

	text = parse_number(text, &release.major);
	if (!text || *text != '.')
		return -EINVAL;
	if (!parse_number(text + 1, &release.minor))
		return -EINVAL;
	*out = release;
	return 0;
}

int ea_release_at_least(const struct ea_release *release, uint32_t major, uint32_t minor)
{
	if (release->major != major)
		return release->major > major;
	return release->minor >= minor;
}

static uint64_t since(
	const struct ea_release *release, uint32_t major, uint32_t minor, uint64_t folio_bytes)
{
	return ea_release_at_least(release, major, minor) ? folio_bytes : 0;
}

uint64_t ea_fs_folio_bytes_max(uint64_t fs_magic, const struct ea_release *release)
{
	switch (fs_magic) {
	case EA_FS_EXT4:
		return since(release, 6, 16, 2 * EA_MIB);
	case EA_FS_XFS:
		return since(release, 5, 18, 2 * EA_MIB);
	case EA_FS_EROFS:
		return since(release, 6, 2, 2 * EA_MIB);
	case EA_FS_BTRFS:
		return since(release, 6, 17, 256 * EA_KIB);
	case EA_FS_SQUASHFS:
		return 0;
	default:
		return EA_FS_FOLIO_UNKNOWN;
	}
}

int ea_fs_aligns_mmap(uint64_t fs_magic, const struct ea_release *release)
{
	switch (fs_magic) {
	case EA_FS_EXT4:
	case EA_FS_XFS:
	case EA_FS_BTRFS:
	case EA_FS_FUSE:
		/* Before, thp_get_unmapped_area() aligned files on DAX devices only. */
		return ea_release_at_least(release, 5, 18);
	case EA_FS_OVERLAY:
	case EA_FS_SQUASHFS:
	case EA_FS_F2FS:
	case EA_FS_TMPFS:
	case EA_FS_NFS:
		return 0;
	default:
		return -1;
	}
}

/* The folios that the kernel reads into an area under MADV_HUGEPAGE; 0: it heeds no advice. */
static uint64_t advised_folio_bytes(
	const struct ea_geometry *geometry, const struct ea_release *release)
{
	if (ea_release_at_least(release, 7, 2))
		return 2 * EA_MIB;
	/* The page cache holds no folio of 64K pages' 512 MiB PMD: the advice has no effect. */
	if (geometry->pmd_bytes > 32 * EA_MIB)
		return 0;
	return since(release, 5, 18, geometry->pmd_bytes);
}

/*
 * An overlay maps its lower file, whose filesystem statfs does not tell. Containers' layers are on
 * ext4 or xfs nearly always: expect what both of them can do.
 */
static uint64_t folio_bytes_to_expect(uint64_t fs_magic, const struct ea_release *release)
{
	if (fs_magic == EA_FS_OVERLAY)
		fs_magic = EA_FS_EXT4;
	return ea_fs_folio_bytes_max(fs_magic, release);
}

enum ea_advice ea_advice_for_block(const struct ea_geometry *geometry, uint64_t block_bytes,
	const struct ea_release *release, uint64_t fs_magic)
{
	uint64_t folio_bytes = advised_folio_bytes(geometry, release);
	uint64_t fs_bytes = folio_bytes_to_expect(fs_magic, release);

	if (block_bytes < 2 * EA_MIB)
		return EA_ADVICE_PLAIN_IS_BETTER;
	if (!folio_bytes)
		return EA_ADVICE_OLD_KERNEL;
	if (folio_bytes > 2 * EA_MIB)
		return EA_ADVICE_READS_TOO_MUCH;
	if (fs_bytes == EA_FS_FOLIO_UNKNOWN)
		return EA_ADVICE_UNKNOWN_FILESYSTEM;
	return fs_bytes < folio_bytes ? EA_ADVICE_FILESYSTEM : EA_ADVICE_USEFUL;
}

enum ea_advice ea_exec_reading_for_block(const struct ea_geometry *geometry, uint64_t block_bytes,
	const struct ea_release *release, uint64_t fs_magic)
{
	uint64_t fs_bytes = folio_bytes_to_expect(fs_magic, release);

	/* No other machine than arm64 has contiguous entries here. */
	if (!geometry->contpte_bytes || block_bytes > since(release, 6, 18, 64 * EA_KIB))
		return EA_ADVICE_OLD_KERNEL;
	if (fs_bytes == EA_FS_FOLIO_UNKNOWN)
		return EA_ADVICE_UNKNOWN_FILESYSTEM;
	return fs_bytes < block_bytes ? EA_ADVICE_FILESYSTEM : EA_ADVICE_USEFUL;
}

uint64_t ea_advice_first_block_bytes(
	const struct ea_geometry *geometry, const struct ea_release *release)
{
	uint64_t block_bytes = 2 * EA_MIB;

	if (geometry->contpte_bytes != block_bytes && geometry->pmd_bytes != block_bytes)
		return 0;
	return advised_folio_bytes(geometry, release) == block_bytes ? block_bytes : 0;
}

const char *ea_advice_reason(enum ea_advice advice)
{
	switch (advice) {
	case EA_ADVICE_USEFUL:
		return "useful";
	case EA_ADVICE_OLD_KERNEL:
		return "this kernel does not read block-sized folios when advised";
	case EA_ADVICE_READS_TOO_MUCH:
		return "this kernel would read folios larger than the block";
	case EA_ADVICE_PLAIN_IS_BETTER:
		return "the kernel's own readahead of text already suits this block";
	case EA_ADVICE_FILESYSTEM:
		return "the filesystem has no folios of this size";
	case EA_ADVICE_UNKNOWN_FILESYSTEM:
		return "the filesystem's folio sizes are not known";
	}
	return "unknown";
}
