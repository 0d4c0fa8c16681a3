/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "args.h"
#include "audited_start.h"
#include "format.h"
#include "launch.h"
#include "list.h"
#include "message.h"
#include "reason.h"
#include "paths.h" /* generated: EXECALIGN_LIBDIR */

#define SHIM_NAME "libexecalign.so"

enum launch_key {
	KEY_BLOCK = 0x100,
	KEY_ALLOW,
	KEY_DENY,
	KEY_LOG,
	KEY_ADVISE,
	KEY_NO_ADVISE,
	KEY_PROMOTE,
};

static const struct argp_option launch_options[] = {
	{"block", KEY_BLOCK, "SIZE", 0, "block to align to: auto, 64K, 2M or 32M", 0},
	{"allow", KEY_ALLOW, "PATTERNS", 0,
		"place only libraries that match one of these (colon-separated, with * and ?)", 0},
	{"deny", KEY_DENY, "PATTERNS", 0, "place no library that matches one of these", 0},
	{"log", KEY_LOG, "FILE", 0, "append what the shim does to FILE, - for stderr", 0},
	{"advise", KEY_ADVISE, "MODE", 0,
		"advise the kernel about large folios: auto, hugepage or never", 0},
	{"no-advise", KEY_NO_ADVISE, NULL, 0, "the same as --advise never", 0},
	{"promote", KEY_PROMOTE, "MODE", 0,
		"start CMD again under the auditor: auto, always or never", 0},
	{0},
};

/* The word in @words that @value equals, or NULL after a message. */
static const char *one_of(const char *option, const char *value, const char *const words[])
{
	size_t i;

	for (i = 0; words[i]; i++)
		if (!strcmp(value, words[i]))
			return words[i];
	args_error(option, "'%s' is not one of %s, %s, %s; use one of these", value, words[0],
		words[1], words[2]);
	return NULL;
}

static const char *block_word(const char *value)
{
	uint64_t bytes;

	if (!strcmp(value, "auto"))
		return "auto";
	if (!parse_size(value, &bytes)) {
		if (bytes == 64 * EA_KIB)
			return "64K";
		if (bytes == 2 * EA_MIB)
			return "2M";
		if (bytes == 32 * EA_MIB)
			return "32M";
	}
	args_error("--block", "'%s' is not a block size; use auto, 64K, 2M or 32M", value);
	return NULL;
}

/* Patterns given by several options add up. */
static error_t add_patterns(const char *option, char **list, const char *patterns)
{
	char *joined;

	if (!*patterns)
		return args_error(option, "the list is empty; name a library, as in 'libLLVM*'");
	if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? ":" : "", patterns) < 0)
		return args_error(option, "out of memory; give fewer patterns");
	free(*list);
	*list = joined;
	return 0;
}

static error_t parse_launch(int key, char *arg, struct argp_state *state)
{
	static const char *const advise_words[] = {"auto", "hugepage", "never", NULL};
	static const char *const promote_words[] = {"auto", "always", "never", NULL};
	struct launch *launch = state->input;

	if (key > KEY_BLOCK && key <= KEY_PROMOTE)
		launch->for_command = true;
	switch (key) {
	case KEY_BLOCK:
		launch->block = block_word(arg);
		return launch->block ? 0 : EINVAL;
	case KEY_ALLOW:
		return add_patterns("--allow", &launch->allow, arg);
	case KEY_DENY:
		return add_patterns("--deny", &launch->deny, arg);
	case KEY_LOG:
		if (!*arg)
			return args_error("--log", "no file is named; use - for stderr");
		launch->log = arg;
		return 0;
	case KEY_ADVISE:
		launch->advise = one_of("--advise", arg, advise_words);
		return launch->advise ? 0 : EINVAL;
	case KEY_NO_ADVISE:
		launch->advise = "never";
		return 0;
	case KEY_PROMOTE:
		launch->promote = one_of("--promote", arg, promote_words);
		return launch->promote ? 0 : EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp launch_argp = {.options = launch_options, .parser = parse_launch};

/* The directory of this program: of its file where /proc tells, else of the name it was run by. */
static char *own_directory(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	char *path = realpath("/proc/self/exe", NULL);

	if (!path && name)
		path = realpath(name, NULL);
	if (path)
		*strrchr(path, '/') = '\0';
	return path;
}

char *launch_find_shim(void)
{
	char *directory = own_directory();
	char *path = NULL;

	if (directory && asprintf(&path, "%s/" SHIM_NAME, directory) >= 0 && !access(path, R_OK)) {
		free(directory);
		return path;
	}
	free(directory);
	free(path);
	path = strdup(EXECALIGN_LIBDIR "/" SHIM_NAME);
	if (path && !access(path, R_OK))
		return path;
	free(path);
	return NULL;
}

/* Ours goes first: what it interposes must be found before anybody else's. */
static int set_preload(const char *shim)
{
	const char *list = getenv("LD_PRELOAD");
	char *joined;
	int err;

	if (list && list_has(list, ": ", shim))
		return 0;
	if (asprintf(&joined, "%s%s%s", shim, list && *list ? ":" : "", list ? list : "") < 0)
		return -ENOMEM;
	err = setenv("LD_PRELOAD", joined, 1);
	free(joined);
	return err;
}

/* CMD may change its directory: the shim gets an absolute path. NULL: not writable. */
static char *writable_log(const char *file)
{
	char *directory = NULL, *path = NULL;
	int fd =
		open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);

	if (fd < 0) {
		message(file, "cannot write the log: %s; running without one", strerror(errno));
		return NULL;
	}
	close(fd);
	if (*file == '/')
		return strdup(file);
	directory = getcwd(NULL, 0);
	if (!directory || asprintf(&path, "%s/%s", directory, file) < 0)
		path = NULL;
	free(directory);
	if (!path)
		message(file, "cannot tell its absolute path; running without a log");
	return path;
}

static void set_log(const char *file)
{
	char *path;

	if (!strcmp(file, "-")) {
		setenv("EXECALIGN_LOG", "stderr", 1);
		return;
	}
	path = writable_log(file);
	if (path)
		setenv("EXECALIGN_LOG", path, 1);
	else
		unsetenv("EXECALIGN_LOG");
	free(path);
}

static void set_if(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
}

/* Can the shim be loaded into @target? Says why not. */
static bool target_takes_shim(const struct target *target, const char *command)
{
	switch (target->kind) {
	case TARGET_STATIC:
		message(command, "statically linked, nothing to place; it runs unchanged");
		return false;
	case TARGET_PRIVILEGED:
		message(command,
			"gains privileges (%s), so its loader ignores the shim; it runs "
			"unchanged",
			target->detail);
		return false;
	case TARGET_32BIT:
		message(command, "a 32-bit program, nothing to place; it runs unchanged");
		return false;
	case TARGET_FOREIGN:
		message(command, "built for another machine (%s); it runs unchanged",
			target->detail);
		return false;
	case TARGET_MUSL:
		message(command, "linked with musl: only mappings that it makes itself are placed, "
				 "not its libraries");
		return true;
	case TARGET_DYNAMIC:
	case TARGET_UNKNOWN:
		return true;
	}
	return true;
}

char *launch_preload(
	const struct launch *launch, const struct target *target, const char *command)
{
	char *shim;

	if (!target_takes_shim(target, command))
		return NULL;
	shim = launch_find_shim();
	if (!shim) {
		message(SHIM_NAME,
			"not found beside this program nor in %s; install it; %s runs "
			"without it",
			EXECALIGN_LIBDIR, command);
		return NULL;
	}
	if (strpbrk(shim, ": ")) {
		message(shim,
			"LD_PRELOAD cannot hold a path with a space or a colon; move it; %s "
			"runs without it",
			command);
		free(shim);
		return NULL;
	}
	set_preload(shim);
	set_if("EXECALIGN_BLOCK", launch->block);
	set_if("EXECALIGN_ALLOW", launch->allow);
	set_if("EXECALIGN_DENY", launch->deny);
	set_if("EXECALIGN_ADVISE", launch->advise);
	set_if("EXECALIGN_PROMOTE", launch->promote);
	if (launch->log)
		set_log(launch->log);
	return shim;
}

void launch_prepare(const struct machine *machine, const struct launch *launch,
	const struct target *target, const char *command)
{
	const char *off = getenv("EXECALIGN");
	char *shim = launch_preload(launch, target, command);

	if (!shim)
		return;
	if (shim_is_off(off))
		message("EXECALIGN",
			"is set to '%s': the shim will do nothing; unset it to place "
			"libraries",
			off);
	else
		audited_start_prepare(machine, target, shim);
	free(shim);
}
