/* SPDX-License-Identifier: MIT */
/*
 * prime.h - what execalign prime does to files, and what came of it
 *
 *	operands --prime_add_*()--> files with whole blocks, looked at: how much is to be read
 *	         --prime_file()---> block by block: drop small folios, read one of a block
 *	         --prime_explain()-> who has mapped what could not be dropped
 *	         --prime_print_*()-> tables or JSON
 */
#ifndef CLI_PRIME_H
#define CLI_PRIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/image.h"
#include "machine.h"
#include "mappers.h"
#include "page_cache.h"
#include "process.h"
#include "seen.h"

/* enum prime_reason - why a block is not in one folio; the names in JSON are in prime_reason.c */
enum prime_reason {
	PRIME_FINE,
	PRIME_TOO_SMALL, /* of a file: its text holds no whole block */
	PRIME_OLD_KERNEL,
	PRIME_FILESYSTEM,
	PRIME_NO_EXEC, /* mounted noexec, where reading takes an executable mapping */
	PRIME_DELETED, /* of a process: the next start will use another file */
	PRIME_UNREADABLE,
	PRIME_MAPPED,
	PRIME_DIRTY,
	PRIME_MEMORY,	    /* too little is available */
	PRIME_LIMIT,	    /* --max */
	PRIME_CHANGED,	    /* shorter than its headers say, or not readable any more */
	PRIME_SMALL_FOLIOS, /* the kernel read it in small folios all the same */
	PRIME_REASONS,
};

/* struct cache_state - of the whole blocks of a file; each of the sizes may be unknown */
struct cache_state {
	uint64_t cached_bytes;
	uint64_t in_blocks_bytes; /* of these, in folios of a block */
	bool folios_known;
	uint64_t folio_bytes[FOLIO_ORDERS]; /* cached_bytes by the order of the folio */
};

/* struct blocks - the whole blocks of one text segment */
struct blocks {
	uint64_t offset;
	uint64_t bytes;
};

/* struct primed_file - one file */
struct primed_file {
	char *path;
	struct cached_file cached; /* fd is -1 when nothing can be done about it */
	uint64_t text_bytes;
	struct blocks blocks[EA_LOADS_MAX];
	size_t blocks_count;
	uint64_t whole_bytes; /* sum over blocks */
	uint64_t need_bytes;  /* to be read, at most */

	struct cache_state before;
	struct cache_state after; /* a dry run's is not filled */
	uint64_t read_bytes;	  /* from disks; may be unknown */

	uint64_t missing_bytes[PRIME_REASONS]; /* whole blocks, by why they are not in one folio */
	enum prime_reason reason;	       /* that of most bytes, or of the file itself */
	char detail[128];		       /* in words, of some reasons */
	bool identified;		       /* mapped.identity is filled */
	struct wanted_file mapped;	       /* by whom, with PRIME_MAPPED */
};

/* struct prime_passed - files that are not shown, counted */
struct prime_passed {
	uint64_t too_small; /* cannot hold a whole block of text, or do not */
	uint64_t not_elf;
	uint64_t foreign;    /* 32-bit, or of another machine */
	uint64_t broken;     /* truncated or contradictory */
	uint64_t unreadable; /* files and directories */
};

/* struct prime - a run of the command */
struct prime {
	const struct machine *machine;
	bool dry_run;
	uint64_t max_bytes;  /* --max; UINT64_MAX: none */
	struct process self; /* whose mounts paths are looked up in */
	struct page_cache cache;
	struct seen seen;
	struct prime_passed passed;
	struct primed_file *files;
	size_t count;
	uint64_t need_bytes;	  /* sum over the files */
	uint64_t available_bytes; /* MemAvailable when it was planned; may be unknown */
	uint64_t left_bytes;	  /* that may be read yet */
	size_t unseen_processes;
};

/* prime_state_begin, prime_state_add - sum up what is seen, block by block */
void prime_state_begin(struct cache_state *state);
void prime_state_add(struct cache_state *state, const struct primed_file *file,
	const struct cached_block *block);

/*
 * prime_obstacle - what keeps a block from being dropped and read again
 * @block: as it was seen; not in one folio
 *
 * Returns PRIME_MAPPED, PRIME_DIRTY, or PRIME_FINE: nothing does.
 */
enum prime_reason prime_obstacle(const struct prime *prime, struct primed_file *file,
	uint64_t offset, const struct cached_block *block);

/*
 * prime_add_file - a file that was named: it is an error if it is none that can be primed
 * prime_add_tree - all files below a directory
 * prime_add_process - the files whose text a process has mapped
 *
 * They look at what is cached. Each file counts once. Return 0, or EXIT_TROUBLE after a message;
 * the others can still be primed.
 */
int prime_add_file(struct prime *prime, const char *path);
int prime_add_tree(struct prime *prime, const char *path);
int prime_add_process(struct prime *prime, int pid);

/*
 * prime_file - have the blocks of a file read, as far as prime->left_bytes goes
 *
 * Fills after, read_bytes and missing_bytes. Not for a file that has a reason already.
 */
void prime_file(struct prime *prime, struct primed_file *file);

/* prime_explain - find who has mapped what, and settle on a reason for each file; 0 or -errno */
int prime_explain(struct prime *prime);

/* enum prime_answer - are all whole blocks in one folio each? Of a dry run: will they be? */
enum prime_answer {
	PRIME_YES,
	PRIME_UNKNOWN,
	PRIME_NO,
};

enum prime_answer prime_answer_of(const struct prime *prime, const struct primed_file *file);
enum prime_answer prime_answer(const struct prime *prime);

/* prime_reason_name - the stable name that JSON uses, NULL for PRIME_FINE */
const char *prime_reason_name(enum prime_reason reason);

/*
 * prime_reason_text - why, for people, and what to do about it
 *
 * Returns a string to be freed, or NULL: nothing is missing, or no memory.
 */
char *prime_reason_text(const struct prime *prime, const struct primed_file *file);

/* prime_free - all that the functions above have allocated */
void prime_free(struct prime *prime);

/* Both return 0, or -EIO when the stream cannot be written. */
int prime_print_text(FILE *stream, const struct prime *prime);
int prime_print_json(FILE *stream, const struct prime *prime);

#endif
