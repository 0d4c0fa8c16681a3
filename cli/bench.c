/* SPDX-License-Identifier: MIT */
/*
 * bench.c - execalign bench WHAT: the table of benchmarks
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "command.h"
#include "message.h"

struct benchmark {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *help;
};

static const struct benchmark benchmarks[] = {
	{"app", bench_app_main, "a command, plain and under the shim, in turn"},
	{"exec", bench_exec_main,
		"code in a large file, mapped in ways that differ in what is large"},
};

#define BENCHMARK_COUNT (sizeof(benchmarks) / sizeof(benchmarks[0]))

static int print_help(void)
{
	size_t i;

	printf("Usage: execalign bench WHAT [OPTIONS...]\n\n"
	       "Measure on this machine what it is worth that code is mapped large.\n\n");
	for (i = 0; i < BENCHMARK_COUNT; i++)
		printf("  %-10s %s\n", benchmarks[i].name, benchmarks[i].help);
	printf("\n'execalign bench WHAT --help' shows its options.\n");
	return fflush(stdout) ? EXIT_TROUBLE : EXIT_DONE;
}

int bench_main(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		message("bench", "nothing to measure is named; as in execalign bench exec");
		return EXIT_TROUBLE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_help();
	for (i = 0; i < BENCHMARK_COUNT; i++)
		if (!strcmp(argv[1], benchmarks[i].name))
			return benchmarks[i].main(argc - 1, argv + 1);
	message(argv[1], *argv[1] == '-' ? "unknown option; see 'execalign bench --help'"
					 : "unknown benchmark; see 'execalign bench --help'");
	return EXIT_TROUBLE;
}
