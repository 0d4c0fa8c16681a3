/* SPDX-License-Identifier: MIT */
/*
 * samples.h - which entries a program executes through: perf events with CODE_PAGE_SIZE
 *
 * While the program runs, a timer interrupts it about a thousand times per second of processor
 * time, and the kernel notes the instruction and the size of the page-table entry (or contiguous run
 * of entries) that maps it. This sees what the page tables hold, contiguous entries included, and
 * weighs it by execution. It takes no hardware counter, so it is the same in virtual machines and
 * leaves the counters to others.
 *
 * Nothing of it is inside the program: the descriptors are this process's, there are no signals.
 * Threads are sampled as well, child processes are not. What was executed before an execve() is
 * forgotten with it.
 */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perf_refusal.h"

/* Processor time between two samples. Prime, so as not to keep step with what the program does. */
#define SAMPLE_INTERVAL_NS 1003001

/* Sizes of entries by their binary logarithm; 0 is for what the kernel could not tell. */
#define ENTRY_ORDERS 48

/* struct entry_counts - samples by the size of the entry that they went through */
struct entry_counts {
	uint64_t total;
	uint64_t of_order[ENTRY_ORDERS];
};

/* struct samples - of one process; all fields are samples.c's, but lost */
struct samples {
	struct sample_event *events; /* one per processor */
	size_t event_count;
	struct spot *spots;
	size_t spot_count;
	size_t spot_room;
	uint64_t page_bytes;
	uint64_t exec_time;	 /* of the last execve() */
	uint64_t lost;		 /* result: samples that found no room */
	char trouble[PERF_REFUSAL_MAX]; /* why there are none */
};

/*
 * samples_open - sample a child from its next execve() on
 * @out: to be freed with samples_free(), in every case
 *
 * Whatever stands in the way is left to samples_trouble(). Context: /proc is mounted.
 */
void samples_open(struct samples *out, pid_t pid);

/*
 * samples_take - take in what the kernel has noted; to be called once per SAMPLES_TAKE_SECONDS, for
 *	the buffers are not endless
 */
void samples_take(struct samples *samples);

#define SAMPLES_TAKE_SECONDS 1.0

/* samples_close - take in the rest and sample no more */
void samples_close(struct samples *samples);

/*
 * samples_trouble - why nothing is known of how the program executed, and after a semicolon what
 *	to do about it; NULL: there are samples
 *
 * Context: after samples_close().
 */
const char *samples_trouble(const struct samples *samples);

/* samples_count - add the samples of instructions in the pages of [@start, @end) to @out */
void samples_count(
	const struct samples *samples, uint64_t start, uint64_t end, struct entry_counts *out);

void samples_free(struct samples *samples);

#endif
