/* SPDX-License-Identifier: MIT */
/*
 * test_shim_record_reader.c - shim/record_reader.h on files whose records lie across its buffer
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "prng.h"
#include "shim/record_reader.h"
#include "shim_double.h"
#include "unit.h"

#define BUF_BYTES sizeof(((struct ea_record_reader *)NULL)->buf)
#define FILE_BYTES_MAX 20000

/* struct contents - what a file holds */
struct contents {
	size_t bytes;
	char text[FILE_BYTES_MAX];
};

static void add_record(struct contents *contents, char letter, size_t bytes, const char *end)
{
	memset(contents->text + contents->bytes, letter, bytes);
	contents->bytes += bytes;
	if (end)
		contents->text[contents->bytes++] = *end;
}

/* Put @contents into a temporary file and open it. Returns whether that went well. */
static int open_contents(struct ea_record_reader *reader, const struct contents *contents, char end)
{
	char path[] = "/tmp/execalign-unit-XXXXXX";
	int fd = mkstemp(path);
	int err;

	CHECK(fd >= 0, "no temporary file");
	if (fd < 0)
		return 0;
	CHECK(write(fd, contents->text, contents->bytes) == (ssize_t)contents->bytes, "write");
	close(fd);
	shim_double_reset();
	err = ea_record_open(reader, path, end);
	CHECK(!err, "open: %d", err);
	unlink(path);
	return !err;
}

/* The next record is @bytes times @letter, cut to @size - 1. */
static void check_record(struct ea_record_reader *reader, char letter, size_t bytes, size_t size)
{
	size_t kept = bytes < size - 1 ? bytes : size - 1, length = 999999, i;
	/* Of the exact size: a sanitizer sees a write beyond it. */
	char *record = malloc(size);

	memset(record, '#', size);
	CHECK_U64(ea_record_next(reader, record, size, &length), 1, "%zu times %c", bytes, letter);
	CHECK_U64(length, bytes, "%zu times %c", bytes, letter);
	for (i = 0; i < kept; i++)
		if (record[i] != letter)
			break;
	CHECK_U64(i, kept, "%zu times %c", bytes, letter);
	CHECK(!record[kept], "%zu times %c in %zu is not terminated", bytes, letter, size);
	free(record);
}

static void check_end(struct ea_record_reader *reader)
{
	char record[16];
	size_t length = 77;

	CHECK_U64(ea_record_next(reader, record, sizeof(record), &length), 0, "the end");
	CHECK_U64(length, 77, "the end");
	/* It stays at the end. */
	CHECK_U64(ea_record_next(reader, record, sizeof(record), NULL), 0, "the end");
}

TEST(record_reader, records_of_any_length)
{
	static const size_t lengths[] = {0, 1, 0, 7, BUF_BYTES - 12, 0, BUF_BYTES - 1, BUF_BYTES,
		BUF_BYTES + 1, 3 * BUF_BYTES + 5, 2, 5000};
	static const size_t sizes[] = {1, 2, 8, BUF_BYTES, 5001, 9000};
	static const char ends[] = {'\n', '\0'};
	static struct contents contents;
	struct ea_record_reader reader;
	size_t i, j, k;

	for (i = 0; i < COUNT_OF(ends); i++) {
		contents.bytes = 0;
		for (j = 0; j < COUNT_OF(lengths); j++)
			add_record(&contents, (char)('a' + j), lengths[j], &ends[i]);
		for (k = 0; k < COUNT_OF(sizes); k++) {
			if (!open_contents(&reader, &contents, ends[i]))
				return;
			for (j = 0; j < COUNT_OF(lengths); j++)
				check_record(&reader, (char)('a' + j), lengths[j], sizes[k]);
			check_end(&reader);
			ea_record_close(&reader);
		}
	}
}

TEST(record_reader, what_was_not_ended_is_dropped)
{
	static const size_t lengths[] = {0, 1, BUF_BYTES - 2, BUF_BYTES - 1, BUF_BYTES, 5000};
	static struct contents contents;
	struct ea_record_reader reader;
	size_t i;

	for (i = 0; i < COUNT_OF(lengths); i++) {
		contents.bytes = 0;
		add_record(&contents, 'a', 1, "\n");
		add_record(&contents, 'b', lengths[i], NULL);
		if (!open_contents(&reader, &contents, '\n'))
			return;
		check_record(&reader, 'a', 1, 8);
		check_end(&reader);
		ea_record_close(&reader);
	}
}

/* The other kind of end is an ordinary byte. */
TEST(record_reader, ends_are_not_mixed_up)
{
	static const struct contents contents = {8, "ab\0c\nde\0"};
	struct ea_record_reader reader;
	char record[16] = "";
	size_t length = 0;

	if (!open_contents(&reader, &contents, '\0'))
		return;
	CHECK_U64(ea_record_next(&reader, record, sizeof(record), &length), 1, "first");
	CHECK(length == 2 && !strcmp(record, "ab"), "%s", record);
	CHECK_U64(ea_record_next(&reader, record, sizeof(record), &length), 1, "second");
	CHECK(length == 4 && !strcmp(record, "c\nde"), "%s", record);
	check_end(&reader);
	ea_record_close(&reader);
}

TEST(record_reader, random_records)
{
	static struct contents contents;
	struct prng prng = {4};
	size_t lengths[40];
	unsigned int round;
	size_t i;

	for (round = 0; round < 50; round++) {
		struct ea_record_reader reader;
		size_t size = 1 + prng_below(&prng, 2 * BUF_BYTES);

		contents.bytes = 0;
		for (i = 0; i < COUNT_OF(lengths); i++) {
			lengths[i] = prng_below(&prng, prng_one_in(&prng, 4) ? 1500 : 50);
			add_record(&contents, (char)('A' + i), lengths[i], "\n");
		}
		if (!open_contents(&reader, &contents, '\n'))
			return;
		for (i = 0; i < COUNT_OF(lengths); i++)
			check_record(&reader, (char)('A' + i), lengths[i], size);
		check_end(&reader);
		ea_record_close(&reader);
	}
}

TEST(record_reader, errors)
{
	static const struct contents contents = {2, "a\n"};
	struct ea_record_reader reader;

	shim_double_reset();
	CHECK(ea_record_open(&reader, "/nonexistent/file", '\n') == -ENOENT, "opened nothing");
	if (!open_contents(&reader, &contents, '\n'))
		return;
	shim_double.fail_number = SYS_read;
	shim_double.fail_result = -EIO;
	check_end(&reader);
	shim_double_reset();
	check_record(&reader, 'a', 1, 8);
	ea_record_close(&reader);
}
