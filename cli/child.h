/* SPDX-License-Identifier: MIT */
/*
 * child.h - start a command and look at it while it lives
 *
 * The best moment is the last one. The kernel stops a traced process on its way out while its
 * address space is still whole (PTRACE_EVENT_EXIT), so programs of any length are seen with all
 * that they mapped, across every execve() on the way. Where tracing is refused, the process is
 * looked at again and again, and the last look that succeeded counts.
 *
 * What it executes is sampled from its execve() to the end of child_watch().
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "samples.h"
#include "snapshot.h"
#include "target.h"

/* struct child - a command that was started; all fields are child.c's, but the results */
struct child {
	pid_t pid;
	bool traced;
	bool ended;
	int status;		 /* result: as from waitpid(2), once ended */
	bool seen;		 /* result: snapshot is filled */
	struct snapshot snapshot; /* result: the last successful look; free it */
	struct samples samples;	 /* result: of child_watch(); free them */
	double started;		 /* seconds of CLOCK_MONOTONIC */
	double next_look;
};

/*
 * child_start - start @argv with this process's environment, terminal and descriptors
 * @silent: without input, and with its standard output thrown away
 *
 * From here on SIGINT and SIGQUIT from the terminal are the command's, and signals sent to this
 * process are passed on to it. Returns 0, or an exit code after a message. Context: single thread.
 */
int child_start(
	struct child *child, const struct target *target, char *const argv[], bool silent);

/*
 * child_watch - wait until the command ends, or until it has run for @seconds
 * @seconds: below 0: until it ends
 */
void child_watch(struct child *child, struct lens *lens, double seconds);

/* child_wait - let the command go on, without looking at it, and wait until it ends */
void child_wait(struct child *child);

#endif
