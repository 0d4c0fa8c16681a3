/* SPDX-License-Identifier: MIT */
/*
 * launch.h - starting a command under the shim: the options that `run` and `report -- CMD` share
 */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include <argp.h>
#include <stdbool.h>

#include "machine.h"
#include "target.h"

/* struct launch - what was asked for; NULL: leave the environment as it is */
struct launch {
	const char *block;	 /* EXECALIGN_BLOCK */
	char *allow;		 /* EXECALIGN_ALLOW */
	char *deny;		 /* EXECALIGN_DENY */
	const char *log;	 /* FILE, or "-" for stderr */
	const char *advise;	 /* EXECALIGN_ADVISE */
	const char *promote;	 /* EXECALIGN_PROMOTE */
	bool for_command;	 /* some option other than --block was given */
};

/* A child parser; its input is a struct launch. */
extern const struct argp launch_argp;

/*
 * launch_find_shim - the shim beside this program, or where `make install` puts it
 *
 * Returns its path, to be freed, or NULL.
 */
char *launch_find_shim(void);

/*
 * launch_preload - put the shim and its settings into this process's environment, as an image or a
 *	service has them: LD_PRELOAD, and the command starts itself again where that is needed
 *
 * Returns the path of the shim, to be freed, or NULL after a message: then the environment is as it
 * was, and the command runs without. Context: single thread.
 */
char *launch_preload(
	const struct launch *launch, const struct target *target, const char *command);

/*
 * launch_prepare - put the shim and its settings into this process's environment, so that the
 *	command starts under the auditor at once where that is possible
 *
 * Whatever stands in the way is said on stderr in one line; the command can be executed all the
 * same, at worst with the environment as it was. Context: single thread.
 */
void launch_prepare(const struct machine *machine, const struct launch *launch,
	const struct target *target, const char *command);

#endif
