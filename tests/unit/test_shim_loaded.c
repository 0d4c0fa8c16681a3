/* SPDX-License-Identifier: MIT */
/*
 * test_shim_loaded.c - shim/loaded.h: a table that grows a page at a time
 */
#include <errno.h>
#include <sys/syscall.h>

#include "shim/loaded.h"
#include "shim_double.h"
#include "unit.h"

#define CHUNK COUNT_OF(((struct ea_loaded_chunk *)NULL)->files)
/* Fills what the table has itself and two chunks, and begins a third. */
#define MANY (EA_LOADED_FIRST + 2 * CHUNK + 10)

/* The same inodes on two devices: both must agree. */
static uint64_t device_of(uint64_t i)
{
	return i % 2;
}

static uint64_t inode_of(uint64_t i)
{
	return 1 + i / 2;
}

static int has(const struct ea_loaded *loaded, uint64_t i)
{
	return ea_loaded_has(loaded, device_of(i), inode_of(i));
}

static struct ea_loaded_file *add(struct ea_loaded *loaded, uint64_t i)
{
	return ea_loaded_add(loaded, device_of(i), inode_of(i));
}

TEST(loaded, a_chunk_is_one_page)
{
	CHECK(sizeof(struct ea_loaded_chunk) <= 4096, "%zu bytes", sizeof(struct ea_loaded_chunk));
}

TEST(loaded, hundreds)
{
	static struct ea_loaded_file *files[MANY];
	struct ea_loaded loaded = {0};
	uint64_t i;

	shim_double_reset();
	CHECK(!has(&loaded, 0), "an empty table has something");
	for (i = 0; i < MANY; i++) {
		CHECK(!has(&loaded, i), "%" PRIu64 " is there before it was added", i);
		files[i] = add(&loaded, i);
		CHECK(files[i] && has(&loaded, i), "%" PRIu64 " is not there", i);
		if (i == EA_LOADED_FIRST - 1)
			CHECK_U64(shim_double.mmaps, 0, "memory before it is needed");
	}
	CHECK_U64(shim_double.mmaps, 3, "chunks");
	for (i = 0; i < MANY; i++)
		CHECK(has(&loaded, i), "%" PRIu64 " was lost", i);
	CHECK(!has(&loaded, MANY), "what was never added");
	CHECK(!ea_loaded_has(&loaded, 2, 1), "the inode, but another device");

	/* Every third goes; exactly these do. */
	for (i = 0; i < MANY; i += 3)
		ea_loaded_remove(&loaded, files[i]);
	for (i = 0; i < MANY; i++)
		CHECK_U64(!!has(&loaded, i), i % 3 != 0, "%" PRIu64, i);

	/* Their places are taken again. */
	for (i = 0; i < MANY; i += 3)
		CHECK(add(&loaded, MANY + i), "no room for %" PRIu64, MANY + i);
	CHECK_U64(shim_double.mmaps, 3, "chunks");
	for (i = 0; i < MANY; i++) {
		CHECK_U64(!!has(&loaded, i), i % 3 != 0, "%" PRIu64, i);
		CHECK_U64(!!has(&loaded, MANY + i), i % 3 == 0, "%" PRIu64, MANY + i);
	}
}

TEST(loaded, without_memory)
{
	struct ea_loaded loaded = {0};
	struct ea_loaded_file *first;
	uint64_t i;

	shim_double_reset();
	shim_double.fail_number = SYS_mmap;
	shim_double.fail_result = -ENOMEM;
	first = add(&loaded, 0);
	for (i = 1; i < EA_LOADED_FIRST; i++)
		CHECK(add(&loaded, i), "%" PRIu64 " needs no memory", i);
	CHECK(!add(&loaded, i), "added to nowhere");
	CHECK(!has(&loaded, i), "there nevertheless");
	for (i = 0; i < EA_LOADED_FIRST; i++)
		CHECK(has(&loaded, i), "%" PRIu64 " was lost", i);
	ea_loaded_remove(&loaded, first);
	CHECK(add(&loaded, EA_LOADED_FIRST) == first, "the free place is not used");
}

/* glibc may hand back a cookie that is an address of its own. */
TEST(loaded, removing_what_is_no_entry)
{
	static struct ea_loaded loaded, other;
	struct ea_loaded_file *foreign[4];
	uint64_t i;

	shim_double_reset();
	for (i = 0; i < MANY; i++)
		add(&loaded, i);
	foreign[0] = add(&other, 0);
	foreign[1] = NULL;
	foreign[2] = &loaded.files[EA_LOADED_FIRST];
	foreign[3] = &loaded.more->files[CHUNK];
	for (i = 0; i < COUNT_OF(foreign); i++)
		ea_loaded_remove(&loaded, foreign[i]);
	ea_loaded_remove(&loaded, (struct ea_loaded_file *)UINTPTR_MAX);
	CHECK(has(&other, 0), "an entry of another table was removed");
	for (i = 0; i < MANY; i++)
		CHECK(has(&loaded, i), "%" PRIu64 " was lost", i);

	/* The last places inside are entries. */
	ea_loaded_remove(&loaded, &loaded.files[EA_LOADED_FIRST - 1]);
	CHECK(!has(&loaded, EA_LOADED_FIRST - 1), "the last of the first ones");
	ea_loaded_remove(&loaded, &loaded.more->next->files[CHUNK - 1]);
	CHECK(!has(&loaded, EA_LOADED_FIRST + 2 * CHUNK - 1), "the last of a chunk");
}
