/* SPDX-License-Identifier: MIT */
/*
 * sample_ring.h - records in the ring buffer of a perf event
 *
 * The kernel appends records at head, which counts bytes and never wraps; the reader follows with
 * tail. The event must have been opened with
 *
 *	sample_type	IP | TIME | CODE_PAGE_SIZE
 *	sample_id_all, comm, comm_exec
 *
 * so that its records are (include/uapi/linux/perf_event.h; each number is a field of 64 bits):
 *
 *	sample		header, address, time, size of the entry that maps the address
 *	execve()	header, pid and tid, name (8 bytes or 16), time
 *	lost		header, event, number of lost samples, time
 */
#ifndef EA_SAMPLE_RING_H
#define EA_SAMPLE_RING_H

#include <stdint.h>

/* struct ea_sample_ring - one ring buffer while it is read */
struct ea_sample_ring {
	const unsigned char *data;
	uint64_t bytes; /* of data, a power of two */
	uint64_t tail;	/* where to read next */
	uint64_t head;	/* where to stop */
};

/* enum ea_record_kind - what ea_sample_ring_next() found */
enum ea_record_kind {
	EA_RECORD_END, /* nothing more up to head */
	EA_RECORD_SAMPLE,
	EA_RECORD_EXEC, /* the process executes another program from this time on */
	EA_RECORD_LOST, /* the buffer was full */
};

/* struct ea_record - one record; fields that its kind does not have are 0 */
struct ea_record {
	enum ea_record_kind kind;
	uint64_t time;	      /* of the clock that all events share */
	uint64_t address;     /* of the instruction that was executed */
	uint64_t entry_bytes; /* that one TLB entry maps there; 0: the kernel could not tell */
	uint64_t lost;
};

/*
 * ea_sample_ring_next - read the next record and move tail behind it
 * @record: filled in every case
 *
 * Records of other kinds are passed over. What cannot be a record ends the reading: tail moves to
 * head, and one sample counts as lost. Returns record->kind. Any context.
 */
enum ea_record_kind ea_sample_ring_next(struct ea_sample_ring *ring, struct ea_record *record);

#endif
