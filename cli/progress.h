/* SPDX-License-Identifier: MIT */
/*
 * progress.h - a bar on a terminal while files of directories are read
 *
 * How many files there are, a thread of its own counts ahead: that takes reading the directories
 * only. Until it has, there is a number and no bar.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_BAR_CHARACTERS 30

/*
 * progress_bar - "[######........................]"
 * @out: at least PROGRESS_BAR_CHARACTERS + 3 bytes
 * @total: above 0; @done is not above it
 *
 * Returns @out. Any context.
 */
const char *progress_bar(uint64_t done, uint64_t total, char *out);

/* progress_is_wanted - is stderr a terminal that can go back to the beginning of a line? */
bool progress_is_wanted(void);

/* struct progress - all fields are progress.c's */
struct progress {
	bool shown;
	bool on_screen;
	double next_show;	 /* seconds of CLOCK_MONOTONIC */
	pthread_t counter;
	char *const *paths;
	atomic_uint_least64_t files;
	atomic_bool counted;
};

/*
 * progress_start - if stderr is a terminal, begin to count
 * @paths: files and directories, up to a NULL; they have to outlive it
 */
void progress_start(struct progress *progress, char *const *paths);

/* progress_show - draw the bar; @done: files dealt with */
void progress_show(struct progress *progress, uint64_t done);

/* progress_hide - take it away, before something else is written to the terminal */
void progress_hide(struct progress *progress);

/* progress_end - hide it for good. Waits until the counting is done. */
void progress_end(struct progress *progress);

#endif
