/* SPDX-License-Identifier: MIT */
#include "sample_ring.h"

/* include/uapi/linux/perf_event.h */
#define TYPE_LOST 2
#define TYPE_COMM 3
#define TYPE_SAMPLE 9
#define MISC_COMM_EXEC (1 << 13)

/* All fields and all records are multiples of 64 bits, so none of them wraps. */
#define FIELD_BYTES 8

#define SAMPLE_FIELDS 4
#define LOST_FIELDS 3
#define COMM_FIELDS_MIN 4

/* struct header - the first field */
struct header {
	uint32_t type;
	uint16_t misc;
	uint16_t bytes;
};

static uint64_t field(const struct ea_sample_ring *ring, unsigned int index)
{
	uint64_t at = (ring->tail + index * FIELD_BYTES) & (ring->bytes - 1), value;

	__builtin_memcpy(&value, ring->data + at, sizeof(value));
	return value;
}

static void take_sample(const struct ea_sample_ring *ring, struct ea_record *out)
{
	out->kind = EA_RECORD_SAMPLE;
	out->address = field(ring, 1);
	out->time = field(ring, 2);
	out->entry_bytes = field(ring, 3);
}

static void take_exec(const struct ea_sample_ring *ring, unsigned int fields, struct ea_record *out)
{
	out->kind = EA_RECORD_EXEC;
	out->time = field(ring, fields - 1);
}

static void take_lost(uint64_t lost, struct ea_record *out)
{
	out->kind = EA_RECORD_LOST;
	out->lost = lost;
}

/* Leaves @out as it is for a record that nobody asked for. */
static void take_record(
	const struct ea_sample_ring *ring, const struct header *header, struct ea_record *out)
{
	unsigned int fields = header->bytes / FIELD_BYTES;

	if (header->type == TYPE_SAMPLE && fields >= SAMPLE_FIELDS)
		take_sample(ring, out);
	else if (header->type == TYPE_COMM && (header->misc & MISC_COMM_EXEC) &&
		 fields >= COMM_FIELDS_MIN)
		take_exec(ring, fields, out);
	else if (header->type == TYPE_LOST && fields >= LOST_FIELDS)
		take_lost(field(ring, 2), out);
}

enum ea_record_kind ea_sample_ring_next(struct ea_sample_ring *ring, struct ea_record *record)
{
	*record = (struct ea_record){.kind = EA_RECORD_END};
	while (record->kind == EA_RECORD_END && ring->tail != ring->head) {
		uint64_t left = ring->head - ring->tail, first;
		struct header header = {0};

		if (left >= FIELD_BYTES && left <= ring->bytes && !(ring->tail % FIELD_BYTES)) {
			first = field(ring, 0);
			__builtin_memcpy(&header, &first, sizeof(header));
		}
		if (!header.bytes || header.bytes % FIELD_BYTES || header.bytes > left) {
			ring->tail = ring->head;
			take_lost(1, record);
			break;
		}
		take_record(ring, &header, record);
		ring->tail += header.bytes;
	}
	return record->kind;
}
