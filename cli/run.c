/* SPDX-License-Identifier: MIT */
/*
 * run.c - execalign run: execute a program under the shim
 *
 * The program takes this process's place, so its signals, exit status and terminal are its own.
 */
#include <stdbool.h>
#include <stddef.h>

#include "args.h"
#include "command.h"
#include "launch.h"
#include "machine.h"
#include "message.h"
#include "target.h"

struct run_options {
	struct launch launch;
	char **command;
};

static const struct argp_option run_argp_options[] = {ARGS_HELP_OPTION, {0}};

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct run_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->launch;
		return 0;
	case ARGP_KEY_ARG:
		options->command = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		return args_error("run", "no command is given; as in 'execalign run -- clang -v'");
	default:
		return args_common(key, state);
	}
}

static const struct argp_child run_children[] = {{.argp = &launch_argp}, {0}};

static const struct argp run_argp = {
	.options = run_argp_options,
	.parser = parse_run,
	.args_doc = "[--] CMD [ARGS...]",
	.doc = "Execute CMD with the text of its libraries placed on block boundaries.\v"
	       "A program that cannot be placed (static, set-user-ID, 32-bit) runs unchanged after "
	       "a note on stderr.\n\n"
	       "Exit status: that of CMD; 2 wrong usage, 126 CMD cannot be executed, 127 CMD not "
	       "found.",
	.children = run_children,
};

int run_main(int argc, char **argv)
{
	struct run_options options = {0};
	struct machine machine;
	struct target target;
	bool known;
	int code;

	if (args_parse(&run_argp, "execalign run", argc, argv, &options))
		return EXIT_TROUBLE;
	known = !machine_read(&machine);
	code = target_find(&machine, options.command[0], &target);
	if (code)
		return code;
	/* Where there is nothing to place, the program runs all the same. */
	if (known)
		launch_prepare(&machine, &options.launch, &target, options.command[0]);
	return target_exec_failed(
		&target, options.command[0], target_exec(&target, options.command));
}
