/* SPDX-License-Identifier: MIT */
/*
 * report.h - what the two printers of execalign report are given
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "snapshot.h"

/* struct skipped - processes that --all could not show */
struct skipped {
	uint64_t kernel_threads;
	uint64_t denied;
	uint64_t ended;		 /* meanwhile */
	uint64_t failed;
};

/* struct aggregate - one file over all processes that map it */
struct aggregate {
	const struct object *example; /* one that has a reason, if there is one */
	uint64_t processes;
	uint64_t congruent;	 /* in this many of them */
	uint64_t whole_bytes;	 /* sums over the processes */
	uint64_t touched_bytes;
	uint64_t block_mapped_bytes;
};

/* struct report - everything to be printed */
struct report {
	const struct machine *machine;
	bool all;
	bool verbose;
	struct snapshot *snapshots;
	size_t count;
	struct totals totals;

	struct aggregate *aggregates; /* with all: the largest first */
	size_t aggregate_count;
	struct skipped skipped;

	char *const *command;	 /* or NULL */
	bool command_ended;
	int command_status;	 /* as from waitpid(2) */
	const struct samples *samples; /* how it executed, or NULL; and summed up: */
	struct entry_counts sampled;
	uint64_t sampled_elsewhere; /* of these, not in the text of any object */
};

/* Both return 0, or -EIO when the stream cannot be written. */
int report_print_text(FILE *stream, const struct report *report);
int report_print_json(FILE *stream, const struct report *report);

#endif
