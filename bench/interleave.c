/* SPDX-License-Identifier: MIT */
/*
 * interleave - time several ways of running a program against each other
 *
 *	interleave [-p] [-n ROUNDS] [-c CPU] [-b COMMAND] + LABEL [VAR=VALUE]... CMD [ARG]... [+ ...]
 *
 *	-p	compare processor time, user and system, instead of wall-clock time: what other
 *		programs do meanwhile has less part in it
 *	-n	rounds, 100 by default
 *	-c	run everything on this processor
 *	-b	shell command to run before each run, not measured
 *
 * Each round runs every variant once, from exec to exit, beginning with another one each time, so
 * that whatever slows the machine down for a while slows all of them down. Ratios and differences
 * are taken within a round against the first variant; their median is printed with the interval
 * that the true median lies in at a confidence of 95 %. One line of tab-separated fields per
 * variant, after a line that names them; times in microseconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VARIANTS_MAX 8
#define ROUNDS_MAX 1000000
/* Rounds that are thrown away: they fill the caches. */
#define WARMUP_ROUNDS 1

/* struct variant - one way of running a program, and what it took in each round */
struct variant {
	const char *label;
	char **argv;
	char **envp;
	double *us;	/* time of each run */
	double *faults; /* page faults that needed no I/O */
};

/* struct options - how to measure */
struct options {
	int processor_time;
	long rounds;
	char *before;
};

/* struct estimate - a median and the interval around it */
struct estimate {
	double median;
	double low;
	double high;
};

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("interleave: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

static void *allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	if (!memory)
		die("out of memory");
	return memory;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value at quantile @q of @sorted, by nearest rank. */
static double quantile(const double *sorted, long count, double q)
{
	long rank = (long)ceil(q * (double)count);

	return sorted[rank < 1 ? 0 : rank - 1];
}

/*
 * Sorts @values. The interval is that between two order statistics: how many values lie below the
 * true median is a binomial variable with p = 1/2, whatever their distribution. Of fewer than six
 * values not even the extremes enclose it at 95 %; they are what is printed then.
 */
static struct estimate estimate(double *values, long count)
{
	double half_width = 1.96 * sqrt((double)count);
	long low = (long)floor(((double)count - half_width) / 2);
	long high = (long)ceil(1 + ((double)count + half_width) / 2);

	qsort(values, (size_t)count, sizeof(*values), compare_doubles);
	low = low < 1 ? 1 : low;
	high = high > count ? count : high;
	return (struct estimate){
		.median = (values[(count - 1) / 2] + values[count / 2]) / 2,
		.low = values[low - 1],
		.high = values[high - 1],
	};
}

/* The environment with @count assignments put in place of what was there. */
static char **merge_environment(char **assignments, size_t count)
{
	size_t inherited = 0, used = 0;
	char **envp;

	while (environ[inherited])
		inherited++;
	envp = allocate(inherited + count + 1, sizeof(*envp));
	for (size_t i = 0; i < inherited; i++) {
		size_t name_bytes = strcspn(environ[i], "=") + 1, j = 0;

		while (j < count && strncmp(environ[i], assignments[j], name_bytes))
			j++;
		if (j == count)
			envp[used++] = environ[i];
	}
	memcpy(envp + used, assignments, count * sizeof(*envp));
	return envp;
}

/* Reads "LABEL [VAR=VALUE]... CMD [ARG]...", ended by NULL. */
static void parse_variant(struct variant *variant, char **words, long rounds)
{
	size_t assignments = 0;

	if (!words[0])
		die("expected LABEL CMD after +");
	variant->label = *words++;
	while (words[assignments] && strchr(words[assignments], '='))
		assignments++;
	if (!words[assignments])
		die("%s: no command", variant->label);
	variant->envp = merge_environment(words, assignments);
	variant->argv = words + assignments;
	variant->us = allocate((size_t)rounds, sizeof(double));
	variant->faults = allocate((size_t)rounds, sizeof(double));
}

/* Splits the words at each "+"; returns the number of variants. */
static size_t parse_variants(struct variant *variants, char **words, size_t count, long rounds)
{
	char **starts[VARIANTS_MAX];
	size_t found = 0;

	if (!count || strcmp(words[0], "+"))
		die("usage: interleave [-p] [-n ROUNDS] [-c CPU] [-b COMMAND] "
		    "+ LABEL [VAR=VALUE]... CMD [ARG]... [+ ...]");
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i], "+"))
			continue;
		if (found == VARIANTS_MAX)
			die("more than %d variants", VARIANTS_MAX);
		words[i] = NULL;
		starts[found++] = &words[i + 1];
	}
	for (size_t i = 0; i < found; i++)
		parse_variant(&variants[i], starts[i], rounds);
	return found;
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double timeval_us(const struct timeval *time)
{
	return (double)time->tv_sec * 1e6 + (double)time->tv_usec;
}

/*
 * Runs one command to its end with no input and no output; dies unless it exits with 0.
 * Returns the wall-clock time from before the spawn until the process was reaped.
 */
static double run(char **argv, char **envp, struct rusage *usage)
{
	posix_spawn_file_actions_t actions;
	double start_us, wall_us;
	int error, status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	start_us = now_us();
	error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, envp);
	if (error)
		die("%s: %s", argv[0], strerror(error));
	while (wait4(pid, &status, 0, usage) < 0)
		if (errno != EINTR)
			die("wait4: %s", strerror(errno));
	wall_us = now_us() - start_us;
	posix_spawn_file_actions_destroy(&actions);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		die("%s: %s %d", argv[0], WIFEXITED(status) ? "exit status" : "killed by signal",
			WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return wall_us;
}

static void measure_once(struct variant *variant, const struct options *options, long round)
{
	char *before_argv[] = {"sh", "-c", options->before, NULL};
	struct rusage usage;
	double us;

	if (options->before)
		run(before_argv, environ, &usage);
	us = run(variant->argv, variant->envp, &usage);
	if (round < 0)
		return;
	if (options->processor_time)
		us = timeval_us(&usage.ru_utime) + timeval_us(&usage.ru_stime);
	variant->us[round] = us;
	variant->faults[round] = (double)usage.ru_minflt;
}

static void measure(struct variant *variants, size_t count, const struct options *options)
{
	for (long round = -WARMUP_ROUNDS; round < options->rounds; round++)
		for (size_t i = 0; i < count; i++)
			measure_once(&variants[((size_t)(round + WARMUP_ROUNDS) + i) % count],
				options, round);
}

static void print_results(const struct variant *variants, size_t count, long rounds)
{
	struct estimate *more_us = allocate(count, sizeof(*more_us));
	struct estimate *ratio = allocate(count, sizeof(*ratio));
	double *scratch = allocate((size_t)rounds, sizeof(*scratch));

	/* Pairs are formed before anything is sorted. */
	for (size_t i = 0; i < count; i++) {
		for (long round = 0; round < rounds; round++)
			scratch[round] = variants[i].us[round] / variants[0].us[round];
		ratio[i] = estimate(scratch, rounds);
		for (long round = 0; round < rounds; round++)
			scratch[round] = variants[i].us[round] - variants[0].us[round];
		more_us[i] = estimate(scratch, rounds);
	}
	puts("label\trounds\tmedian_us\tp10_us\tp90_us\tratio\tratio_low\tratio_high"
	     "\tmore_us\tmore_low_us\tmore_high_us\tfaults");
	for (size_t i = 0; i < count; i++) {
		const struct variant *variant = &variants[i];
		struct estimate us = estimate(variant->us, rounds);

		printf("%s\t%ld\t%.0f\t%.0f\t%.0f\t%.4f\t%.4f\t%.4f\t%.0f\t%.0f\t%.0f\t%.0f\n",
			variant->label, rounds, us.median,
			quantile(variant->us, rounds, 0.1),
			quantile(variant->us, rounds, 0.9), ratio[i].median, ratio[i].low,
			ratio[i].high, more_us[i].median, more_us[i].low, more_us[i].high,
			estimate(variant->faults, rounds).median);
	}
	if (fflush(stdout))
		die("cannot write the results: %s", strerror(errno));
}

static long parse_number(const char *text, long max, char option)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end || number < 0 || number > max)
		die("-%c %s: not a number up to %ld", option, text, max);
	return number;
}

/* Keeps this process and its children on one processor: migrations are the largest noise. */
static void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot run on cpu %ld: %s", cpu, strerror(errno));
}

int main(int argc, char **argv)
{
	struct variant variants[VARIANTS_MAX] = {0};
	struct options options = {.rounds = 100};
	size_t count;
	int option;

	/* The leading + of the option string stops at the first word that is not an option. */
	while ((option = getopt(argc, argv, "+pn:c:b:")) != -1) {
		switch (option) {
		case 'p':
			options.processor_time = 1;
			break;
		case 'n':
			options.rounds = parse_number(optarg, ROUNDS_MAX, 'n');
			break;
		case 'c':
			pin(parse_number(optarg, CPU_SETSIZE - 1, 'c'));
			break;
		case 'b':
			options.before = optarg;
			break;
		default:
			return 2;
		}
	}
	if (!options.rounds)
		die("-n 0: at least one round is needed");
	count = parse_variants(
		variants, argv + optind, (size_t)(argc - optind), options.rounds);
	measure(variants, count, &options);
	print_results(variants, count, options.rounds);
	return 0;
}
