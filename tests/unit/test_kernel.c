/* SPDX-License-Identifier: MIT */
/*
 * test_kernel.c - core/kernel.h: releases, what filesystems do, and every cell of the advice table
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "core/kernel.h"
#include "unit.h"

#define K EA_KIB
#define M EA_MIB

TEST(kernel, release_parse)
{
	static const struct {
		const char *text;
		uint32_t major, minor;
	} rows[] = {
		{"6.18.44-fc", 6, 18},
		{"6.1.0-18-amd64", 6, 1},
		{"7.2", 7, 2},
		{"7.2.13+deb14-arm64-16k", 7, 2},
		{"6.18-rc1", 6, 18},
		{"6.18rc1", 6, 18},
		{"10.0.1", 10, 0},
		{"0.0", 0, 0},
		{"006.018", 6, 18},
		{"4294967295.4294967295", UINT32_MAX, UINT32_MAX},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_release release = {99, 99};

		CHECK_U64(ea_release_parse(rows[i].text, &release), 0, "%s", rows[i].text);
		CHECK_U64(release.major, rows[i].major, "%s", rows[i].text);
		CHECK_U64(release.minor, rows[i].minor, "%s", rows[i].text);
	}
}

TEST(kernel, release_parse_refuses)
{
	static const char *const texts[] = {
		"",
		"6",
		"6.",
		".18",
		"6..18",
		"6.x",
		"6-18",
		"six.18",
		" 6.18",
		"6. 18",
		"-6.18",
		"6.-18",
		"+6.18",
		"v6.18",
		"4294967296.0",
		"0.4294967296",
		"99999999999999999999.1",
		"1.99999999999999999999",
	};
	struct ea_release release = {98, 99};
	size_t i;

	for (i = 0; i < COUNT_OF(texts); i++)
		CHECK(ea_release_parse(texts[i], &release) == -EINVAL, "\"%s\" was accepted",
			texts[i]);
	CHECK(release.major == 98 && release.minor == 99, "the output changed");
}

TEST(kernel, release_at_least)
{
	static const struct {
		struct ea_release release;
		uint32_t major, minor;
		int expected;
	} rows[] = {
		{{6, 18}, 6, 18, 1},
		{{6, 18}, 6, 19, 0},
		{{6, 18}, 6, 2, 1},
		{{6, 2}, 6, 18, 0},
		{{7, 0}, 6, 18, 1},
		{{6, 18}, 7, 0, 0},
		{{5, 99}, 6, 0, 0},
		{{0, 0}, 0, 0, 1},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++)
		CHECK_U64(ea_release_at_least(&rows[i].release, rows[i].major, rows[i].minor),
			rows[i].expected, "row %zu", i);
}

TEST(kernel, folio_limit_of_each_filesystem)
{
	static const struct {
		const char *name;
		uint64_t magic;
		struct ea_release release;
		uint64_t expected;
	} rows[] = {
		{"ext4", EA_FS_EXT4, {6, 15}, 0},
		{"ext4", EA_FS_EXT4, {6, 16}, 2 * M},
		{"ext4", EA_FS_EXT4, {7, 2}, 2 * M},
		{"xfs", EA_FS_XFS, {5, 17}, 0},
		{"xfs", EA_FS_XFS, {5, 18}, 2 * M},
		{"xfs", EA_FS_XFS, {6, 1}, 2 * M},
		{"erofs", EA_FS_EROFS, {6, 1}, 0},
		{"erofs", EA_FS_EROFS, {6, 2}, 2 * M},
		{"btrfs", EA_FS_BTRFS, {6, 16}, 0},
		{"btrfs", EA_FS_BTRFS, {6, 17}, 256 * K},
		{"btrfs", EA_FS_BTRFS, {7, 2}, 256 * K},
		{"squashfs", EA_FS_SQUASHFS, {7, 2}, 0},
		{"overlay", EA_FS_OVERLAY, {7, 2}, EA_FS_FOLIO_UNKNOWN},
		{"tmpfs", EA_FS_TMPFS, {7, 2}, EA_FS_FOLIO_UNKNOWN},
		{"fuse", EA_FS_FUSE, {7, 2}, EA_FS_FOLIO_UNKNOWN},
		{"f2fs", EA_FS_F2FS, {7, 2}, EA_FS_FOLIO_UNKNOWN},
		{"nfs", EA_FS_NFS, {7, 2}, EA_FS_FOLIO_UNKNOWN},
		{"none", 0, {7, 2}, EA_FS_FOLIO_UNKNOWN},
		/* f_type is a signed long: a magic that was sign-extended is not the magic. */
		{"btrfs sign-extended", 0xffffffff9123683e, {7, 2}, EA_FS_FOLIO_UNKNOWN},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++)
		CHECK_U64(ea_fs_folio_bytes_max(rows[i].magic, &rows[i].release), rows[i].expected,
			"%s on %u.%u", rows[i].name, rows[i].release.major, rows[i].release.minor);
}

TEST(kernel, filesystems_that_align_by_themselves)
{
	static const struct {
		const char *name;
		uint64_t magic;
		int before_5_18, since_5_18;
	} rows[] = {
		{"ext4", EA_FS_EXT4, 0, 1},
		{"xfs", EA_FS_XFS, 0, 1},
		{"btrfs", EA_FS_BTRFS, 0, 1},
		/* Compressed files were not aligned until 2026, others were. */
		{"erofs", EA_FS_EROFS, -1, -1},
		{"fuse", EA_FS_FUSE, 0, 1},
		{"overlay", EA_FS_OVERLAY, 0, 0},
		{"squashfs", EA_FS_SQUASHFS, 0, 0},
		{"f2fs", EA_FS_F2FS, 0, 0},
		{"tmpfs", EA_FS_TMPFS, 0, 0},
		{"nfs", EA_FS_NFS, 0, 0},
		{"unknown", 0x12345678, -1, -1},
	};
	static const struct ea_release before = {5, 17}, since = {5, 18}, later = {7, 2};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		CHECK(ea_fs_aligns_mmap(rows[i].magic, &before) == rows[i].before_5_18, "%s, 5.17",
			rows[i].name);
		CHECK(ea_fs_aligns_mmap(rows[i].magic, &since) == rows[i].since_5_18, "%s, 5.18",
			rows[i].name);
		CHECK(ea_fs_aligns_mmap(rows[i].magic, &later) == rows[i].since_5_18, "%s, 7.2",
			rows[i].name);
	}
}

static const struct ea_release advice_releases[] = {{5, 17}, {5, 18}, {6, 1}, {6, 2}, {6, 12},
	{6, 15}, {6, 16}, {6, 17}, {7, 1}, {7, 2}, {8, 0}};

#define RELEASE_COUNT COUNT_OF(advice_releases)

/* struct advice_row - the advice for one filesystem: one letter per release */
struct advice_row {
	const char *name;
	uint64_t fs_magic;
	char expected[RELEASE_COUNT + 1];
};

/* struct advice_table - one machine, page size and block */
struct advice_table {
	uint16_t machine;
	uint64_t page_bytes, block_bytes;
	struct advice_row rows[8];
};

/*
 * The letters: Y useful, o old kernel, m reads too much, p plain is better, f filesystem, ? unknown
 * filesystem. An overlay counts as ext4. The columns are advice_releases[]:
 *
 *	5.17  5.18  6.1  6.2  6.12  6.15  6.16  6.17  7.1  7.2  8.0
 */
/* clang-format off */
static const struct advice_table advice_tables[] = {
	/* A block that is one PMD of 4K pages: from 5.18 on, if the filesystem has the folios. */
	{EM_X86_64, 4 * K, 2 * M, {
		{"ext4", EA_FS_EXT4,         "offfffYYYYY"},
		{"xfs", EA_FS_XFS,           "oYYYYYYYYYY"},
		{"erofs", EA_FS_EROFS,       "offYYYYYYYY"},
		{"btrfs", EA_FS_BTRFS,       "offffffffff"},
		{"squashfs", EA_FS_SQUASHFS, "offffffffff"},
		{"overlay", EA_FS_OVERLAY,   "offfffYYYYY"},
		{"tmpfs", EA_FS_TMPFS,       "o??????????"},
		{"unknown", 0x12345678,      "o??????????"},
	}},
	{EM_AARCH64, 4 * K, 2 * M, {
		{"ext4", EA_FS_EXT4,         "offfffYYYYY"},
		{"xfs", EA_FS_XFS,           "oYYYYYYYYYY"},
		{"erofs", EA_FS_EROFS,       "offYYYYYYYY"},
		{"btrfs", EA_FS_BTRFS,       "offffffffff"},
		{"squashfs", EA_FS_SQUASHFS, "offffffffff"},
		{"unknown", 0x12345678,      "o??????????"},
	}},
	/* 64K blocks of 4K pages: never. */
	{EM_AARCH64, 4 * K, 64 * K, {
		{"overlay", EA_FS_OVERLAY,   "ppppppppppp"},
		{"ext4", EA_FS_EXT4,         "ppppppppppp"},
		{"xfs", EA_FS_XFS,           "ppppppppppp"},
		{"btrfs", EA_FS_BTRFS,       "ppppppppppp"},
		{"squashfs", EA_FS_SQUASHFS, "ppppppppppp"},
		{"unknown", 0x12345678,      "ppppppppppp"},
	}},
	/* 16K pages: folios of 32M are read before 7.2. */
	{EM_AARCH64, 16 * K, 2 * M, {
		{"overlay", EA_FS_OVERLAY,   "ommmmmmmmYY"},
		{"ext4", EA_FS_EXT4,         "ommmmmmmmYY"},
		{"xfs", EA_FS_XFS,           "ommmmmmmmYY"},
		{"erofs", EA_FS_EROFS,       "ommmmmmmmYY"},
		{"btrfs", EA_FS_BTRFS,       "ommmmmmmmff"},
		{"squashfs", EA_FS_SQUASHFS, "ommmmmmmmff"},
		{"unknown", 0x12345678,      "ommmmmmmm??"},
	}},
	/* A placement modulo 32M is served by the same folios. */
	{EM_AARCH64, 16 * K, 32 * M, {
		{"ext4", EA_FS_EXT4,         "ommmmmmmmYY"},
		{"btrfs", EA_FS_BTRFS,       "ommmmmmmmff"},
		{"unknown", 0x12345678,      "ommmmmmmm??"},
	}},
	/* 64K pages: the advice has no effect before 7.2. */
	{EM_AARCH64, 64 * K, 2 * M, {
		{"overlay", EA_FS_OVERLAY,   "oooooooooYY"},
		{"ext4", EA_FS_EXT4,         "oooooooooYY"},
		{"xfs", EA_FS_XFS,           "oooooooooYY"},
		{"erofs", EA_FS_EROFS,       "oooooooooYY"},
		{"btrfs", EA_FS_BTRFS,       "oooooooooff"},
		{"squashfs", EA_FS_SQUASHFS, "oooooooooff"},
		{"unknown", 0x12345678,      "ooooooooo??"},
	}},
};
/* clang-format on */

static char advice_letter(enum ea_advice advice)
{
	switch (advice) {
	case EA_ADVICE_USEFUL:
		return 'Y';
	case EA_ADVICE_OLD_KERNEL:
		return 'o';
	case EA_ADVICE_READS_TOO_MUCH:
		return 'm';
	case EA_ADVICE_PLAIN_IS_BETTER:
		return 'p';
	case EA_ADVICE_FILESYSTEM:
		return 'f';
	case EA_ADVICE_UNKNOWN_FILESYSTEM:
		return '?';
	}
	return '!';
}

static void check_advice_row(const struct advice_table *table, const struct ea_geometry *geometry,
	const struct advice_row *row)
{
	char actual[RELEASE_COUNT + 1] = "";
	size_t i;

	for (i = 0; i < RELEASE_COUNT; i++)
		actual[i] = advice_letter(ea_advice_for_block(
			geometry, table->block_bytes, &advice_releases[i], row->fs_magic));
	CHECK(!strcmp(actual, row->expected),
		"machine %u page %" PRIu64 "K block %" PRIu64 "K %s: %s, not %s", table->machine,
		table->page_bytes / K, table->block_bytes / K, row->name, actual, row->expected);
}

TEST(kernel, advice_in_every_cell)
{
	size_t i, j;

	for (i = 0; i < COUNT_OF(advice_tables); i++) {
		const struct advice_table *table = &advice_tables[i];
		struct ea_geometry geometry = {0};

		CHECK_U64(ea_geometry(table->machine, table->page_bytes, &geometry), 0, "table %zu",
			i);
		for (j = 0; j < COUNT_OF(table->rows) && table->rows[j].name; j++)
			check_advice_row(table, &geometry, &table->rows[j]);
	}
}

TEST(kernel, exec_reading_serves_64K_on_arm64_since_6_18)
{
	static const struct ea_release old = {6, 17}, new = {6, 18};
	static const struct {
		uint16_t machine;
		uint64_t page_bytes, block_bytes, fs_magic;
		char expected_old, expected_new;
	} rows[] = {
		{EM_AARCH64, 4 * K, 64 * K, EA_FS_EXT4, 'o', 'Y'},
		{EM_AARCH64, 4 * K, 64 * K, EA_FS_XFS, 'o', 'Y'},
		{EM_AARCH64, 4 * K, 64 * K, EA_FS_BTRFS, 'o', 'Y'},
		{EM_AARCH64, 4 * K, 64 * K, EA_FS_OVERLAY, 'o', 'Y'},
		{EM_AARCH64, 4 * K, 64 * K, EA_FS_SQUASHFS, 'o', 'f'},
		{EM_AARCH64, 4 * K, 64 * K, 0x12345678, 'o', '?'},
		{EM_AARCH64, 4 * K, 2 * M, EA_FS_EXT4, 'o', 'o'},
		{EM_AARCH64, 64 * K, 2 * M, EA_FS_EXT4, 'o', 'o'},
		{EM_X86_64, 4 * K, 2 * M, EA_FS_EXT4, 'o', 'o'},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_geometry geometry = {0};

		CHECK_U64(ea_geometry(rows[i].machine, rows[i].page_bytes, &geometry), 0, "row %zu",
			i);
		CHECK(advice_letter(ea_exec_reading_for_block(&geometry, rows[i].block_bytes, &old,
			      rows[i].fs_magic)) == rows[i].expected_old,
			"row %zu on 6.17", i);
		CHECK(advice_letter(ea_exec_reading_for_block(&geometry, rows[i].block_bytes, &new,
			      rows[i].fs_magic)) == rows[i].expected_new,
			"row %zu on 6.18", i);
	}
}

TEST(kernel, first_block_is_advised_where_a_folio_of_2M_is_read)
{
	static const struct ea_release releases[] = {{5, 17}, {5, 18}, {7, 1}, {7, 2}};
	static const struct {
		uint16_t machine;
		uint64_t page_bytes, expected[COUNT_OF(releases)];
	} rows[] = {
		{EM_X86_64, 4 * K, {0, 2 * M, 2 * M, 2 * M}},
		{EM_AARCH64, 4 * K, {0, 2 * M, 2 * M, 2 * M}},
		{EM_AARCH64, 16 * K, {0, 0, 0, 2 * M}},
		{EM_AARCH64, 64 * K, {0, 0, 0, 2 * M}},
	};
	size_t i, j;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_geometry geometry = {0};

		CHECK_U64(ea_geometry(rows[i].machine, rows[i].page_bytes, &geometry), 0, "row %zu",
			i);
		for (j = 0; j < COUNT_OF(releases); j++)
			CHECK_U64(ea_advice_first_block_bytes(&geometry, &releases[j]),
				rows[i].expected[j], "row %zu on %u.%u", i, releases[j].major,
				releases[j].minor);
	}
}

TEST(kernel, each_advice_has_its_own_reason)
{
	int i, j;

	for (i = EA_ADVICE_USEFUL; i <= EA_ADVICE_UNKNOWN_FILESYSTEM; i++) {
		const char *reason = ea_advice_reason((enum ea_advice)i);

		CHECK(reason && *reason && !strpbrk(reason, "\"\\\n"),
			"advice %d: no phrase for a log", i);
		for (j = EA_ADVICE_USEFUL; j < i; j++)
			CHECK(strcmp(reason, ea_advice_reason((enum ea_advice)j)) != 0,
				"advice %d and %d read the same", i, j);
	}
}
