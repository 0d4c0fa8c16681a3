/* SPDX-License-Identifier: MIT */
/*
 * target.h - how the kernel is going to execute a command
 */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <limits.h>

#include "machine.h"

/* enum target_kind - what the shim can do for the program that really runs */
enum target_kind {
	TARGET_DYNAMIC,		 /* everything */
	TARGET_MUSL,		 /* the program's own mappings only: its loader has no auditors */
	TARGET_STATIC,		 /* nothing: no loader */
	TARGET_PRIVILEGED,	 /* nothing: its loader ignores LD_PRELOAD */
	TARGET_32BIT,		 /* nothing: its loader would complain about a 64-bit library */
	TARGET_FOREIGN,		 /* the same */
	TARGET_UNKNOWN,		 /* neither ELF nor script, or not readable: see what happens */
};

/* struct target - a command that has been looked up */
struct target {
	enum target_kind kind;
	char path[PATH_MAX];	 /* what to execute */
	char program[PATH_MAX];	 /* what will run: path, or the interpreter of a #! script */
	int is_elf;		 /* path is an ELF file */
	char detail[64];	 /* for the note: the foreign machine, the kind of privilege */
};

/*
 * target_find - look a command up as execvp(3) does and see what it is
 * @command: a path, or a name to be looked for in PATH
 *
 * Follows #! lines to the program that runs. Returns 0, or after a message EXIT_NOT_FOUND or
 * EXIT_NOT_EXECUTABLE. Any context.
 */
int target_find(const struct machine *machine, const char *command, struct target *out);

/*
 * target_exec - execute it; as execvp(3), a file that is neither ELF nor script runs in /bin/sh
 * @argv: argv[0] is the command as the user gave it
 *
 * Returns only on failure, with -errno.
 */
int target_exec(const struct target *target, char *const argv[]);

/*
 * target_exec_failed - the message for what target_exec() returned
 *
 * Returns EXIT_NOT_FOUND or EXIT_NOT_EXECUTABLE.
 */
int target_exec_failed(const struct target *target, const char *command, int err);

#endif
