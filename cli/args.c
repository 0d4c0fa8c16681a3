/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "message.h"

/* One command line is parsed in a process's life. */
static const char *command_name;
static bool error_said;

error_t args_error(const char *thing, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	message(thing, "%s", text);
	error_said = true;
	return EINVAL;
}

/* Long options of @argp and its children that begin with @name; @exact is one that equals it. */
static unsigned int find_options(const struct argp *argp, const char *name, size_t name_bytes,
	const struct argp_option **exact)
{
	const struct argp_option *option;
	const struct argp_child *child;
	unsigned int found = 0;

	for (option = argp->options; option && (option->name || option->key || option->doc);
		option++) {
		if (!option->name || strncmp(option->name, name, name_bytes))
			continue;
		found++;
		if (!option->name[name_bytes])
			*exact = option;
	}
	for (child = argp->children; child && child->argp; child++)
		found += find_options(child->argp, name, name_bytes, exact);
	return found;
}

/*
 * The word that getopt stopped at. It steps past a word when it has read all of it, which is not
 * yet so within "-xyz"; this command has no short options to combine, so such a word is wrong.
 */
static const char *wrong_word(const struct argp_state *state)
{
	const char *next = state->next < state->argc ? state->argv[state->next] : NULL;

	if (next && next[0] == '-' && next[1] && next[1] != '-' && next[2])
		return next;
	return state->argv[state->next - 1];
}

static void say_wrong_option(const struct argp_state *state)
{
	const struct argp_option *exact = NULL;
	const char *word = wrong_word(state);
	size_t name_bytes;
	unsigned int found;

	if (strncmp(word, "--", 2)) {
		message(word, "unknown option; see '%s --help'", command_name);
		return;
	}
	name_bytes = strcspn(word + 2, "=");
	found = find_options(state->root_argp, word + 2, name_bytes, &exact);
	if (!found)
		message(word, "unknown option; see '%s --help'", command_name);
	else if (!exact && found > 1)
		message(word, "fits more than one option; see '%s --help'", command_name);
	else if (word[2 + name_bytes])
		message(word, "this option takes no value; see '%s --help'", command_name);
	else
		message(word, "this option needs a value; see '%s --help'", command_name);
}

error_t args_common(int key, struct argp_state *state)
{
	switch (key) {
	case 'h':
		argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP, (char *)command_name);
		exit(fflush(stdout) ? EXIT_TROUBLE : EXIT_DONE);
	case ARGP_KEY_ERROR:
		if (!error_said)
			say_wrong_option(state);
		error_said = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int args_parse(const struct argp *argp, const char *name, int argc, char **argv, void *input)
{
	command_name = name;
	return argp_parse(
		       argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_IN_ORDER, NULL, input)
		       ? EINVAL
		       : 0;
}
