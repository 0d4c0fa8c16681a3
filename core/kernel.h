/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - which kernel reads executable text in which folios
 */
#ifndef EA_KERNEL_H
#define EA_KERNEL_H

#include <stdint.h>

#include "block.h"

/* Magic numbers of statfs(2) that matter here (include/uapi/linux/magic.h, fs sources). */
#define EA_FS_EXT4 0xEF53u
#define EA_FS_XFS 0x58465342u
#define EA_FS_BTRFS 0x9123683Eu
#define EA_FS_EROFS 0xE0F5E1E2u
#define EA_FS_OVERLAY 0x794C7630u
#define EA_FS_TMPFS 0x01021994u
#define EA_FS_SQUASHFS 0x73717368u
#define EA_FS_FUSE 0x65735546u
#define EA_FS_F2FS 0xF2F52010u
#define EA_FS_NFS 0x6969u

/* struct ea_release - the two numbers of a kernel release that features are keyed by */
struct ea_release {
	uint32_t major;
	uint32_t minor;
};

/*
 * ea_release_parse - read "6.18.44-fc" as 6.18
 * @text: NUL-terminated uname release
 *
 * Returns 0, or -EINVAL when it does not begin with number, dot, number. Any context.
 */
int ea_release_parse(const char *text, struct ea_release *out);

/* ea_release_at_least - is @release @major.@minor or newer? */
int ea_release_at_least(const struct ea_release *release, uint32_t major, uint32_t minor);

/*
 * ea_fs_folio_bytes_max - largest folio that a filesystem puts file pages in
 * @fs_magic: statfs f_type
 * @release: the kernel
 *
 * Returns page-cache folio limit in bytes as far as block sizes up to 2 MiB are concerned: 0 when
 * only single pages, 256 KiB for btrfs, 2 MiB for ext4, xfs, erofs in the versions that have
 * large folios. For overlayfs, whose answer is its lower filesystem's, and for filesystems not
 * known to this table, returns EA_FS_FOLIO_UNKNOWN. Any context.
 */
uint64_t ea_fs_folio_bytes_max(uint64_t fs_magic, const struct ea_release *release);
#define EA_FS_FOLIO_UNKNOWN UINT64_MAX

/* ea_fs_aligns_mmap - 1: it has get_unmapped_area = thp_get_unmapped_area, 0: not, -1: unknown */
int ea_fs_aligns_mmap(uint64_t fs_magic, const struct ea_release *release);

/* enum ea_advice - why MADV_HUGEPAGE + MADV_RANDOM on whole blocks would help, or not */
enum ea_advice {
	EA_ADVICE_USEFUL,
	EA_ADVICE_OLD_KERNEL,	   /* the kernel does not read block-sized folios when advised */
	EA_ADVICE_READS_TOO_MUCH,  /* it would read folios larger than the block (16K before 7.2) */
	EA_ADVICE_PLAIN_IS_BETTER, /* the kernel's own exec readahead already gives this block */
	EA_ADVICE_FILESYSTEM,	   /* no folios of that size on this filesystem */
	EA_ADVICE_UNKNOWN_FILESYSTEM,
};

/*
 * ea_advice_for_block - would advice give whole blocks of @block_bytes block-sized folios?
 * @geometry: from ea_geometry()
 * @block_bytes: the block chosen for the text
 * @release: the kernel
 * @fs_magic: the file's filesystem
 *
 * The rule (mm/filemap.c, do_sync_mmap_readahead()):
 *  - 16K and 64K pages: from 7.2 on, where MADV_HUGEPAGE reads min(mapping maximum, 2M). Before,
 *    16K reads 32M folios and 64K ignores the advice.
 *  - block == PMD == 2M: from 5.18 on, where MADV_HUGEPAGE makes file readahead PMD-sized.
 *  - 64K blocks at 4K pages: never; the kernel's own exec folios are as good.
 * An overlay is judged as if it lay over ext4, an unknown filesystem gets no advice.
 * Any context.
 */
enum ea_advice ea_advice_for_block(const struct ea_geometry *geometry, uint64_t block_bytes,
	const struct ea_release *release, uint64_t fs_magic);

/*
 * ea_exec_reading_for_block - does the kernel itself read executable mappings in such folios?
 * @geometry, @block_bytes, @release, @fs_magic: as for ea_advice_for_block()
 *
 * What serves the blocks that advice is EA_ADVICE_PLAIN_IS_BETTER for: arm64 reads text in folios of
 * 64K since 6.18 (arch/arm64/include/asm/pgtable.h, exec_folio_order()). Returns EA_ADVICE_USEFUL if
 * so, or why not. Any context.
 */
enum ea_advice ea_exec_reading_for_block(const struct ea_geometry *geometry, uint64_t block_bytes,
	const struct ea_release *release, uint64_t fs_magic);

/*
 * ea_advice_first_block_bytes - size of the first block to be read with advice before the header is
 *
 * Text that begins in the file's first block (older and arm64 linker layouts) lies in it whole, and
 * reading the header without advice would cache it in small folios. Returns the block that advice
 * can give at this geometry and kernel, or 0 when the header may be read at once. Any context.
 */
uint64_t ea_advice_first_block_bytes(
	const struct ea_geometry *geometry, const struct ea_release *release);

/* ea_advice_reason - a short phrase for logs and reports */
const char *ea_advice_reason(enum ea_advice advice);

#endif
