/* SPDX-License-Identifier: MIT */
/*
 * timed_run.h - run a command once, and measure it without being in its way
 *
 * Nothing traces or samples it. What the kernel accounts to a process it tells when the process has
 * been waited for; that includes the processes that this one started and waited for.
 */
#ifndef CLI_TIMED_RUN_H
#define CLI_TIMED_RUN_H

#include <signal.h>

#include "counters.h"
#include "target.h"

/* enum run_metric - what is measured of a run */
enum run_metric {
	RUN_WALL,	  /* seconds, from execve() to the end */
	RUN_CPU,	  /* seconds of processor time, the next two together */
	RUN_USER,
	RUN_SYSTEM,
	RUN_MINOR_FAULTS, /* page faults that read nothing */
	RUN_MAJOR_FAULTS,
	RUN_READ,	  /* bytes from storage; what others read ahead is not in it */
	RUN_MAX_RSS,	  /* bytes: of the largest process; NAN: smaller than could be told */
	RUN_METRIC_COUNT,
};

/* struct timed_run - what to run, and what became of it */
struct timed_run {
	const struct target *target;
	char *const *argv;
	char **env;
	struct counters *counters;
	volatile sig_atomic_t *stop;		       /* as of interruption_catch() */
	int status;				       /* result: as from waitpid(2) */
	double values[RUN_METRIC_COUNT + COUNTERS_MAX]; /* result: by metric, then by counter */
};

/*
 * timed_run - run it, with no input, and its output thrown away
 *
 * An interruption is passed on to the command, and waits for its end. Returns 0 whatever the
 * command's status is; -EINTR; or -errno if it could not be started. Context: single thread.
 */
int timed_run(struct timed_run *run);

#endif
