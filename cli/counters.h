/* SPDX-License-Identifier: MIT */
/*
 * counters.h - what the processor counts while a command runs: perf events, by libpfm4's names
 *
 * A command is counted in user mode, with all its threads and all processes that it starts and
 * waits for. Counting costs nothing that could be measured: the counters run anyway.
 */
#ifndef CLI_COUNTERS_H
#define CLI_COUNTERS_H

/* libpfm4 has a copy of linux/perf_event.h, and the two exclude each other. */
#include <perfmon/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perf_refusal.h"

#define COUNTERS_MAX 12

/* struct counter - one event */
struct counter {
	const char *label;		/* for people */
	const char *event;		/* libpfm4's name of it, or NULL */
	struct perf_event_attr attr;
	char trouble[PERF_REFUSAL_MAX]; /* why it cannot be counted here; "" if it can */
	int fd;				/* of the run that is being counted, or -1 */
};

/* struct counters - begin with {0} */
struct counters {
	struct counter list[COUNTERS_MAX];
	size_t count;
};

/*
 * counters_add_usual - instructions, cycles, and what misses of instruction TLBs this processor counts
 *
 * Those that it does not count are added too, with the reason. Context: before counters_add().
 */
void counters_add_usual(struct counters *counters);

/*
 * counters_add - one by name
 * @event: as libpfm4 has it, "ITLB_WALK" or "perf::PAGE-FAULTS"; it has to outlive @counters
 *
 * Returns 0; -EINVAL: libpfm4 knows no such event of this processor; or -ENOSPC: too many.
 */
int counters_add(struct counters *counters, const char *event);

/*
 * counters_open - count @pid from its next execve() on, in every counter without trouble
 *
 * Returns 0 or -errno: what could be opened before can not be now. Close either way.
 */
int counters_open(struct counters *counters, pid_t pid);

/*
 * counters_close - read and end
 * @values: one per counter; NAN where nothing was counted. NULL: only end.
 *
 * Context: the command has been waited for, so that its processes' counts are in its own.
 */
void counters_close(struct counters *counters, double *values);

#endif
