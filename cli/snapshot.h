/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the text of one process at one moment
 */
#ifndef CLI_SNAPSHOT_H
#define CLI_SNAPSHOT_H

#include "machine.h"
#include "memory.h"
#include "object.h"
#include "reason.h"

/* struct totals - sums over objects; a sum is unknown if one of its terms is */
struct totals {
	uint64_t objects;
	uint64_t eligible;
	uint64_t congruent;
	uint64_t text_bytes;
	uint64_t eligible_text_bytes;
	uint64_t congruent_text_bytes;
	uint64_t whole_bytes;
	uint64_t touched_bytes;
	uint64_t block_mapped_bytes;
	bool folios_known;
	uint64_t folio_bytes[FOLIO_ORDERS];
	enum verdict verdict;
};

/* struct snapshot - free with snapshot_free() */
struct snapshot {
	int pid;
	char comm[64];
	enum shim_state shim;
	struct object *objects;
	size_t object_count;
	struct totals totals;
	struct memory memory;	 /* if the lens is asked for it */
};

/* struct lens - how to look */
struct lens {
	struct machine machine;
	uint64_t forced_block_bytes; /* 0: each file's own */
	bool with_memory;
	struct page_flags flags;
};

/* enum look - what became of an attempt to look at a process */
enum look {
	LOOK_DONE,
	LOOK_GONE,		 /* no such process, or it ended meanwhile */
	LOOK_DENIED,		 /* it is not ours */
	LOOK_KERNEL_THREAD,	 /* it has no address space */
	LOOK_ENDED,		 /* a zombie: it has none any more */
	LOOK_FAILED,		 /* anything else: out of memory, an unknown format */
};

/*
 * snapshot_take - read a process
 * @out: filled with LOOK_DONE only
 *
 * Context: /proc is mounted.
 */
enum look snapshot_take(struct lens *lens, int pid, struct snapshot *out);

void snapshot_free(struct snapshot *snapshot);

/* totals_add - add the sums of one process to those of many */
void totals_add(struct totals *sum, const struct totals *part);

#endif
