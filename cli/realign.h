/* SPDX-License-Identifier: MIT */
/*
 * realign.h - change p_align in a file, in one step
 *
 *	copy (O_TMPFILE, locked) --> p_align, owner, mode, xattrs --> fsync
 *		--> .execalign-INODE --> rename over the file --> fsync of the directory
 *
 * At every moment the name leads to the whole old file or to the whole new one. Whoever has the old
 * one open or mapped keeps it. Before it is renamed the copy has a name of its own, which a process
 * that is killed just there leaves behind: the next change of that file or directory removes it.
 */
#ifndef CLI_REALIGN_H
#define CLI_REALIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "layout.h"
#include "seen.h"

/* enum outcome - what became of a file */
enum outcome {
	OUTCOME_NONE,		 /* nothing was asked for, or it is not eligible */
	OUTCOME_ALREADY,	 /* it is as it was asked for */
	OUTCOME_CHANGED,
	OUTCOME_WOULD_CHANGE,	 /* --dry-run */
	OUTCOME_REFUSED,	 /* it would break something, or be of no use: code and text say */
	OUTCOME_FAILED,		 /* it could not be done: error and text say */
	OUTCOME_COUNT,
};

/* enum refusal - why not; the names in JSON are in realign.c */
enum refusal {
	REFUSAL_NONE,
	REFUSAL_MISLAID,
	REFUSAL_ALIGNMENTS,
	REFUSAL_HARD_LINKS,
	REFUSAL_SIGNED,
	REFUSAL_MEASURED,
	REFUSAL_VERITY,
	REFUSAL_IMMUTABLE,
	REFUSAL_COUNT,
};

#define CHANGE_TEXT_MAX 400

/* struct change - the outcome for one file */
struct change {
	enum outcome outcome;
	enum refusal refusal;	 /* with OUTCOME_REFUSED */
	int error;		 /* -errno with OUTCOME_FAILED */
	uint64_t from_bytes;	 /* p_align of the text, and what it becomes; 0: no change */
	uint64_t to_bytes;
	char text[CHANGE_TEXT_MAX]; /* why not, and after a semicolon what to do about it */
};

/* struct target_file - an open file and where it is */
struct target_file {
	int dir_fd;		 /* its directory, open for reading */
	const char *name;	 /* in that directory, not a symbolic link */
	int fd;			 /* the file, open for reading */
	struct stat info;
	struct seen *seen;	 /* takes in the new file before it has the name; or NULL */
};

/* enum request - what to make of p_align */
enum request {
	REQUEST_NONE,
	REQUEST_RAISE,		 /* to layout->block_bytes, where that is more than there is */
	REQUEST_RESTORE,	 /* to what the linker wrote */
};

/*
 * realign - change p_align of the text, if need be
 * @layout: from layout_read(), LAYOUT_JUDGED
 * @dry_run: only check
 * @out: always filled
 *
 * Context: several threads may be at work on different files.
 */
void realign(const struct target_file *file, const struct layout *layout, enum request request,
	bool dry_run, struct change *out);

/*
 * realign_is_temporary - is this the name of a copy that realign() makes?
 */
bool realign_is_temporary(const char *name);

/*
 * realign_clean - remove a copy that a killed process has left
 * @name: in @dir_fd
 *
 * Copies that are being made are locked and stay. Returns 0, -EBUSY for such a one, or -errno.
 */
int realign_clean(int dir_fd, const char *name);

/* refusal_name - the stable name, NULL for REFUSAL_NONE */
const char *refusal_name(enum refusal refusal);

/* outcome_name - the stable name */
const char *outcome_name(enum outcome outcome);

#endif
