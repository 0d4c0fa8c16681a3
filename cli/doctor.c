/* SPDX-License-Identifier: MIT */
/*
 * doctor.c - execalign doctor: what this machine, kernel and filesystem can do
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "command.h"
#include "findings.h"
#include "io.h"
#include "message.h"

#define KEY_JSON 0x300

struct doctor_options {
	bool json;
	char **paths; /* NULL-terminated argv, or NULL */
};

static const struct argp_option doctor_argp_options[] = {
	ARGS_HELP_OPTION,
	{"json", KEY_JSON, NULL, 0, "print JSON, with sizes in bytes", 0},
	{0},
};

static error_t parse_doctor(int key, char *arg, struct argp_state *state)
{
	struct doctor_options *options = state->input;

	switch (key) {
	case KEY_JSON:
		options->json = true;
		return 0;
	case ARGP_KEY_ARGS:
		options->paths = state->argv + state->next;
		return 0;
	default:
		return args_common(key, state);
	}
}

static const struct argp doctor_argp = {
	.options = doctor_argp_options,
	.parser = parse_doctor,
	.args_doc = "[PATH...]",
	.doc = "Say what this machine, its kernel, the filesystem under each PATH and the loaders "
	       "can "
	       "do for text "
	       "in large blocks, and what to do about the rest.\v"
	       "Without PATH: / and the directory of the C library.\n\n"
	       "Exit status: 0 done, whatever was found; 2 wrong usage or failure.",
};

static int check_paths_exist(char **paths)
{
	for (; *paths; paths++) {
		if (!access(*paths, F_OK))
			continue;
		message(*paths, "%s; check the path", strerror(errno));
		return EXIT_TROUBLE;
	}
	return EXIT_DONE;
}

/* The output of a command that is a constant; NULL when it fails. */
static char *read_command(const char *command)
{
	FILE *stream = popen(command, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t bytes;

	if (!stream)
		return NULL;
	/* Up to a NUL, which no text holds. */
	bytes = getdelim(&text, &room, '\0', stream);
	if (pclose(stream) || bytes <= 0) {
		free(text);
		return NULL;
	}
	return text;
}

static char *read_config(const struct machine *machine)
{
	static const char *const places[] = {"/boot/config-", "/lib/modules/"};
	static const char *const ends[] = {"", "/config"};
	struct buffer text;
	char path[PATH_MAX];
	size_t i;

	if (!access("/proc/config.gz", R_OK))
		return read_command("gzip -dc </proc/config.gz 2>/dev/null");
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s%s%s", places[i], machine->uname.release, ends[i]);
		if (!read_file_at(AT_FDCWD, path, &text))
			return text.data;
	}
	return NULL;
}

static void check_libc_directory(struct doctor *doctor)
{
	Dl_info info;
	char *path;

	if (!dladdr((const void *)gnu_get_libc_version, &info) || !info.dli_fname)
		return;
	path = realpath(info.dli_fname, NULL);
	if (!path)
		return;
	*strrchr(path, '/') = '\0';
	check_path(doctor, path);
	free(path);
}

static void check_paths(struct doctor *doctor, char **paths)
{
	if (!paths) {
		check_path(doctor, "/");
		check_libc_directory(doctor);
		return;
	}
	for (; *paths; paths++)
		check_path(doctor, *paths);
}

int doctor_main(int argc, char **argv)
{
	struct doctor_options options = {0};
	struct doctor doctor = {0};
	struct machine machine;
	int err;

	if (args_parse(&doctor_argp, "execalign doctor", argc, argv, &options))
		return EXIT_TROUBLE;
	if (options.paths && check_paths_exist(options.paths))
		return EXIT_TROUBLE;
	if (machine_read(&machine))
		return EXIT_TROUBLE;
	doctor.machine = &machine;
	doctor.config = read_config(&machine);
	mounts_read(AT_FDCWD, "/proc/self/mountinfo", &doctor.mounts);

	loaders_ask(&doctor);
	check_machine(&doctor);
	check_kernel(&doctor);
	check_paths(&doctor, options.paths);
	check_libc(&doctor);
	check_loaders(&doctor, options.paths);
	check_shim(&doctor);
	check_privileges(&doctor);

	err = options.json ? findings_print_json(stdout, &doctor)
			   : findings_print_text(stdout, &doctor);
	findings_free(&doctor);
	return message_written(stdout, "standard output", err);
}
