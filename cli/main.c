/* SPDX-License-Identifier: MIT */
/*
 * main.c - execalign COMMAND: the table of commands
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "message.h"

#define EXECALIGN_VERSION "0.1.0"

struct command {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *help;
};

static const struct command commands[] = {
	{"run", run_main, "execute a program with the text of its libraries on block boundaries"},
	{"report", report_main, "show how the text of running programs is mapped, and why"},
	{"doctor", doctor_main, "say what this machine, kernel and filesystem can do"},
	{"elf", elf_main, "say how files are laid out for large blocks, and set their alignment"},
	{"prime", prime_main, "have text cached in large folios before a program starts"},
	{"bench", bench_main, "measure what it is worth that code is mapped large"},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int print_help(void)
{
	size_t i;

	printf("Usage: execalign COMMAND [OPTIONS...]\n\n"
	       "Make executable text of shared libraries eligible for large TLB entries, and show "
	       "it.\n\n");
	for (i = 0; i < COMMAND_COUNT; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	printf("  %-10s %s\n\n", "help CMD", "what a command takes");
	printf("execalign --version prints the version. See execalign(1).\n");
	return fflush(stdout) ? EXIT_TROUBLE : EXIT_DONE;
}

static int unknown_command(const char *name)
{
	message(name, *name == '-' ? "unknown option; see 'execalign --help'"
				   : "unknown command; see 'execalign --help'");
	return EXIT_TROUBLE;
}

static int help_main(int argc, char **argv)
{
	const struct command *command;
	char help[] = "--help";
	char *help_argv[] = {argv[1], help, NULL};

	if (argc < 2)
		return print_help();
	command = find_command(argv[1]);
	return command ? command->main(2, help_argv) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		message("usage", "no command is given; see 'execalign --help'");
		return EXIT_TROUBLE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_help();
	if (!strcmp(argv[1], "help"))
		return help_main(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version")) {
		puts("execalign " EXECALIGN_VERSION);
		return fflush(stdout) ? EXIT_TROUBLE : EXIT_DONE;
	}
	command = find_command(argv[1]);
	return command ? command->main(argc - 1, argv + 1) : unknown_command(argv[1]);
}
