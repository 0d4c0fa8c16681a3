/* SPDX-License-Identifier: MIT */
/*
 * args.h - argp with one-line errors
 *
 * argp answers a wrong option with getopt's message, a usage line and a hint. The command promises
 * one line that names the thing and the remedy, so argp is kept silent (ARGP_NO_ERRS) and the
 * messages and --help, which that flag silences too, are made here.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <argp.h>

/* To be the first entry of every command's option table. */
#define ARGS_HELP_OPTION {"help", 'h', NULL, 0, "show this help and exit", -1}

/*
 * args_parse - parse a command's arguments
 * @argp: its parser calls args_common() for the keys that it does not know itself
 * @name: as the user would type it, "execalign run"
 * @argv: argv[0] is the command's name
 *
 * Returns 0, or EINVAL after a message. Options end at the first argument that is none.
 */
int args_parse(const struct argp *argp, const char *name, int argc, char **argv, void *input);

/*
 * args_common - the keys that every command treats alike: --help and unknown options
 *
 * Returns ARGP_ERR_UNKNOWN for other keys. Does not return from --help.
 */
error_t args_common(int key, struct argp_state *state);

/*
 * args_error - say what is wrong with an argument
 *
 * Returns EINVAL, for the parser to return.
 */
error_t args_error(const char *thing, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
