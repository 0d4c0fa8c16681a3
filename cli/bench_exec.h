/* SPDX-License-Identifier: MIT */
/*
 * bench_exec.h - what execalign bench exec measured, and how it is printed
 */
#ifndef CLI_BENCH_EXEC_H
#define CLI_BENCH_EXEC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "machine.h"
#include "statistics.h"
#include "stub_text.h"

/* enum metric - what is measured of each way */
enum metric {
	METRIC_COLD,   /* ms to have read one byte of each page, beginning with nothing cached */
	METRIC_RANDOM, /* ns per call in a random page, when all are mapped */
	METRIC_COUNT,
};

/* struct measured - one way of mapping the code, over all rounds */
struct measured {
	enum way way;
	int error;		      /* -errno: it cannot be had here, and nothing was measured */
	double *values[METRIC_COUNT]; /* by round */
	uint64_t large_bytes;	      /* the least of all rounds, or UNKNOWN_BYTES */
	uint64_t left_bytes;	      /* the most that could not be evicted before a cold round */
};

/* struct bench_exec - all of it */
struct bench_exec {
	struct machine machine;
	const char *dir;
	char fs_type[32]; /* what caches the file; "" if unknown */
	uint64_t bytes;
	uint64_t block_bytes;
	uint64_t calls; /* in each round */
	uint64_t rounds;
	struct measured ways[WAY_COUNT];
};

/*
 * bench_exec_is_as_claimed - is it mapped as its name says?
 *
 * Of misplaced code nothing may be mapped large, of advised code and of copies nearly all (95 %) has to
 * be; congruent code is as the kernel has it. True where it cannot be told, and of what was not measured.
 */
bool bench_exec_is_as_claimed(const struct bench_exec *bench, const struct measured *measured);

/* bench_exec_is_cold - was nearly all of the file (99 %) out of the cache before each cold round? */
bool bench_exec_is_cold(const struct bench_exec *bench, const struct measured *measured);

/* bench_exec_is_known - was it measured, and under the conditions that the metric is about? */
bool bench_exec_is_known(
	const struct bench_exec *bench, const struct measured *measured, enum metric metric);

/* Text for people, and JSON as bench-exec-json.md describes it. Both return 0 or -errno. */
int bench_exec_print_text(FILE *stream, const struct bench_exec *bench);
int bench_exec_print_json(FILE *stream, const struct bench_exec *bench);

#endif
