/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/sample_ring.h"
#include "unit.h"

#define LOST 2
#define COMM 3
#define THROTTLE 5
#define SAMPLE 9
#define COMM_EXEC (1 << 13)

#define RING_BYTES 128

/* struct ring - what the kernel writes into */
struct ring {
	unsigned char data[RING_BYTES];
	uint64_t head;
};

static void put(struct ring *ring, uint64_t field)
{
	memcpy(ring->data + ring->head % RING_BYTES, &field, sizeof(field));
	ring->head += sizeof(field);
}

static void put_header(struct ring *ring, uint64_t type, uint64_t misc, uint64_t bytes)
{
	put(ring, type | misc << 32 | bytes << 48);
}

static void put_sample(struct ring *ring, uint64_t address, uint64_t time, uint64_t entry_bytes)
{
	put_header(ring, SAMPLE, 2, 32);
	put(ring, address);
	put(ring, time);
	put(ring, entry_bytes);
}

static void put_lost(struct ring *ring, uint64_t lost)
{
	put_header(ring, LOST, 0, 32);
	put(ring, 77);
	put(ring, lost);
	put(ring, 1000);
}

/* Names of 8 and of 16 bytes: the kernel pads them. */
static void put_comm(struct ring *ring, uint64_t misc, unsigned int name_fields, uint64_t time)
{
	unsigned int i;

	put_header(ring, COMM, misc, 24 + 8 * name_fields);
	put(ring, 4711);
	for (i = 0; i < name_fields; i++)
		put(ring, 0x61616161);
	put(ring, time);
}

static struct ea_sample_ring reader(const struct ring *ring, uint64_t tail)
{
	return (struct ea_sample_ring){
		.data = ring->data, .bytes = RING_BYTES, .tail = tail, .head = ring->head};
}

static void check_end(struct ea_sample_ring *ring, const char *name)
{
	struct ea_record record;

	CHECK_U64(ea_sample_ring_next(ring, &record), EA_RECORD_END, "%s", name);
	CHECK_U64(ring->tail, ring->head, "%s", name);
}

TEST(sample_ring, empty)
{
	struct ring ring = {.head = 64};
	struct ea_sample_ring read = reader(&ring, 64);

	check_end(&read, "empty");
}

TEST(sample_ring, each_kind)
{
	struct ring ring = {.head = 0};
	struct ea_sample_ring read;
	struct ea_record record;

	put_sample(&ring, 0x7f0000001234, 50, 0x200000);
	put_header(&ring, THROTTLE, 0, 16);
	put(&ring, 1);
	put_lost(&ring, 3);
	read = reader(&ring, 0);

	CHECK_U64(ea_sample_ring_next(&read, &record), EA_RECORD_SAMPLE, "sample");
	CHECK_U64(record.address, 0x7f0000001234, "sample");
	CHECK_U64(record.time, 50, "sample");
	CHECK_U64(record.entry_bytes, 0x200000, "sample");
	CHECK_U64(record.lost, 0, "sample");
	CHECK_U64(ea_sample_ring_next(&read, &record), EA_RECORD_LOST, "lost");
	CHECK_U64(record.lost, 3, "lost");
	CHECK_U64(record.address, 0, "lost");
	check_end(&read, "each kind");
}

/* Only an execve() counts, not the name that a thread gives itself. */
TEST(sample_ring, exec_and_other_names)
{
	struct ring ring = {.head = 0};
	struct ea_sample_ring read;
	struct ea_record record;

	put_comm(&ring, 0, 1, 5);
	put_comm(&ring, COMM_EXEC, 1, 6);
	put_comm(&ring, COMM_EXEC, 2, 7);
	read = reader(&ring, 0);

	CHECK_U64(ea_sample_ring_next(&read, &record), EA_RECORD_EXEC, "short name");
	CHECK_U64(record.time, 6, "short name");
	CHECK_U64(ea_sample_ring_next(&read, &record), EA_RECORD_EXEC, "long name");
	CHECK_U64(record.time, 7, "long name");
	check_end(&read, "exec");
}

/* A record that begins at each place of the ring, long after the counters have passed its size. */
TEST(sample_ring, records_wrap)
{
	uint64_t start;

	for (start = 0; start < RING_BYTES; start += 8) {
		struct ring ring = {.head = (uint64_t)RING_BYTES * 1000003 + start};
		uint64_t tail = ring.head;
		struct ea_sample_ring read;
		struct ea_record record;
		unsigned int i;

		for (i = 0; i < RING_BYTES / 32; i++)
			put_sample(&ring, i + 1, start + i, 4096);
		read = reader(&ring, tail);
		for (i = 0; i < RING_BYTES / 32; i++) {
			CHECK_U64(ea_sample_ring_next(&read, &record), EA_RECORD_SAMPLE,
				"start %" PRIu64 " sample %u", start, i);
			CHECK_U64(record.address, i + 1, "start %" PRIu64, start);
			CHECK_U64(record.time, start + i, "start %" PRIu64, start);
		}
		check_end(&read, "wrap");
	}
}

/* The counters themselves may wrap. */
TEST(sample_ring, counters_wrap)
{
	struct ring ring = {.head = (uint64_t)0 - 16};
	struct ea_sample_ring read;
	struct ea_record record;

	put_sample(&ring, 1, 2, 4096);
	read = reader(&ring, (uint64_t)0 - 16);
	CHECK_U64(ea_sample_ring_next(&read, &record), EA_RECORD_SAMPLE, "counters");
	CHECK_U64(record.address, 1, "counters");
	check_end(&read, "counters");
}

TEST(sample_ring, what_cannot_be_a_record)
{
	static const struct {
		const char *name;
		uint64_t header_bytes;
		uint64_t tail;
		uint64_t head;
	} rows[] = {
		{"of no size", 0, 0, 32},
		{"of half a field", 12, 0, 32},
		{"beyond the head", 40, 0, 32},
		{"cut after its header", 32, 0, 8},
		{"less than a header", 32, 0, 4},
		{"at an odd place", 32, 4, 36},
		{"more than the ring holds", 32, 0, RING_BYTES + 8},
		{"head before tail", 32, 32, 0},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ring ring = {.head = 0};
		struct ea_sample_ring read;
		struct ea_record record;

		put_header(&ring, SAMPLE, 0, rows[i].header_bytes);
		ring.head = rows[i].head;
		read = reader(&ring, rows[i].tail);
		CHECK_U64(ea_sample_ring_next(&read, &record), EA_RECORD_LOST, "%s", rows[i].name);
		CHECK_U64(record.lost, 1, "%s", rows[i].name);
		check_end(&read, rows[i].name);
	}
}

/* Too short for what they say they are: passed over, and what follows is read. */
TEST(sample_ring, short_records)
{
	struct ring ring = {.head = 0};
	struct ea_sample_ring read;
	struct ea_record record;

	put_header(&ring, SAMPLE, 0, 24);
	put(&ring, 1);
	put(&ring, 2);
	put_header(&ring, LOST, 0, 16);
	put(&ring, 1);
	put_header(&ring, COMM, COMM_EXEC, 16);
	put(&ring, 1);
	put_sample(&ring, 9, 9, 65536);
	read = reader(&ring, 0);
	CHECK_U64(ea_sample_ring_next(&read, &record), EA_RECORD_SAMPLE, "after short ones");
	CHECK_U64(record.address, 9, "after short ones");
	check_end(&read, "short");
}
