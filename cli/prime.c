/* SPDX-License-Identifier: MIT */
/*
 * prime.c - execalign prime: have libraries cached in folios of a block before anyone maps them
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "command.h"
#include "format.h"
#include "message.h"
#include "prime.h"

#define PROGRESS_INTERVAL_SECONDS 0.1
#define PROGRESS_WIDTH 30

enum prime_key {
	KEY_PID = 0x400,
	KEY_DRY_RUN,
	KEY_JSON,
	KEY_MAX,
};

/* struct operand - what is to be primed */
struct operand {
	const char *word;
	bool is_pid;
};

struct prime_options {
	bool dry_run;
	bool json;
	uint64_t max_bytes;
	struct operand *operands; /* room for all of argv */
	size_t count;
};

static const struct argp_option prime_argp_options[] = {
	ARGS_HELP_OPTION,
	{"pid", KEY_PID, "PID", 0, "prime what this process has mapped", 0},
	{"dry-run", KEY_DRY_RUN, NULL, 0, "look at what is cached, and read nothing", 0},
	{"json", KEY_JSON, NULL, 0, "print JSON, with sizes in bytes", 0},
	{"max", KEY_MAX, "SIZE", 0, "read no more than SIZE in all, such as 500M or 2G", 0},
	{0},
};

static void add_operand(struct prime_options *options, const char *word, bool is_pid)
{
	options->operands[options->count++] = (struct operand){.word = word, .is_pid = is_pid};
}

/* A number is a PID; a file of that name can be written with a slash. */
static bool looks_like_pid(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

static error_t parse_prime(int key, char *arg, struct argp_state *state)
{
	struct prime_options *options = state->input;

	switch (key) {
	case KEY_PID:
		if (!parse_pid(arg))
			return args_error("--pid", "'%s' is not a PID; as in --pid 1234", arg);
		add_operand(options, arg, true);
		return 0;
	case KEY_DRY_RUN:
		options->dry_run = true;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_MAX:
		if (parse_size(arg, &options->max_bytes))
			return args_error("--max", "'%s' is not a size; as in --max 500M", arg);
		return 0;
	case ARGP_KEY_ARG:
		add_operand(options, arg, looks_like_pid(arg));
		return 0;
	case ARGP_KEY_END:
		if (!options->count)
			return args_error("prime", "nothing to prime; name a FILE, a DIR or a PID");
		return 0;
	default:
		return args_common(key, state);
	}
}

static const struct argp prime_argp = {
	.options = prime_argp_options,
	.parser = parse_prime,
	.args_doc = "FILE|DIR|PID...",
	.doc = "Have the whole blocks of text of programs and libraries cached in one folio each, "
	       "so "
	       "that whoever maps them next can have them mapped large: of each FILE, of all files "
	       "below DIR, or of all files that the process PID has mapped. A number is a PID; "
	       "write ./1234 for a file of that name.\v"
	       "Exit status: 0 done; 1 something could not be cached so; 2 wrong usage or failure.",
};

static int add_word(struct prime *prime, const struct operand *operand)
{
	struct stat info;
	int pid;

	if (!operand->is_pid) {
		if (!stat(operand->word, &info) && S_ISDIR(info.st_mode))
			return prime_add_tree(prime, operand->word);
		return prime_add_file(prime, operand->word);
	}
	pid = parse_pid(operand->word);
	if (pid)
		return prime_add_process(prime, pid);
	message(operand->word, "not a PID; for a file of that name write ./%s", operand->word);
	return EXIT_TROUBLE;
}

static int add_operands(struct prime *prime, const struct prime_options *options)
{
	int status = EXIT_DONE;
	size_t i;

	for (i = 0; i < options->count; i++)
		if (add_word(prime, &options->operands[i]))
			status = EXIT_TROUBLE;
	return status;
}

/* Files stay open between the look and the reading, so that both are about the same file. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Would reading push out what others need? */
static int check_memory(const struct prime *prime)
{
	char need[FORMAT_BYTES_MAX], available[FORMAT_BYTES_MAX];

	if (prime->need_bytes <= prime->available_bytes)
		return EXIT_DONE;
	message("prime",
		"would read %s, but only %s of memory are available; nothing is read; name fewer "
		"files, or limit it with --max",
		format_bytes(prime->need_bytes, need),
		format_bytes(prime->available_bytes, available));
	return EXIT_TROUBLE;
}

/* A bar on a terminal, drawn over and over; @done of @all files, and at the end nothing. */
static void show_progress(const struct prime *prime, size_t done, uint64_t done_bytes)
{
	static double shown;
	char bytes[FORMAT_BYTES_MAX], all_bytes[FORMAT_BYTES_MAX];
	int filled;

	if (prime->count < 2 || !prime->need_bytes || !isatty(STDERR_FILENO))
		return;
	if (done == prime->count) {
		fprintf(stderr, "\r%*s\r", PROGRESS_WIDTH + 48, "");
		return;
	}
	if (now_seconds() < shown + PROGRESS_INTERVAL_SECONDS)
		return;
	shown = now_seconds();
	filled = (int)(PROGRESS_WIDTH * done_bytes / prime->need_bytes);
	fprintf(stderr, "\r[%.*s%*s] %s of %s, file %zu of %zu ", filled,
		"##############################", PROGRESS_WIDTH - filled, "",
		format_bytes(done_bytes, bytes), format_bytes(prime->need_bytes, all_bytes),
		done + 1, prime->count);
}

static void prime_all(struct prime *prime)
{
	uint64_t done_bytes = 0;
	size_t i;

	prime->left_bytes = prime->max_bytes;
	for (i = 0; i < prime->count; i++) {
		struct primed_file *file = &prime->files[i];

		show_progress(prime, i, done_bytes);
		if (file->reason)
			file->after = file->before;
		else
			prime_file(prime, file);
		done_bytes += file->need_bytes;
	}
	show_progress(prime, prime->count, done_bytes);
}

static int print_result(const struct prime *prime, bool json)
{
	int err = json ? prime_print_json(stdout, prime) : prime_print_text(stdout, prime);

	return message_written(stdout, "standard output", err);
}

static int run_prime(struct prime *prime, const struct prime_options *options)
{
	int status, err;

	prime->left_bytes = prime->max_bytes;
	status = add_operands(prime, options);
	prime->available_bytes = machine_available_bytes();
	if (!prime->dry_run) {
		if (check_memory(prime))
			return EXIT_TROUBLE;
		prime_all(prime);
	}
	err = prime_explain(prime);
	if (err) {
		message("/proc", "who has mapped what cannot be found: %s; is it mounted?",
			strerror(-err));
		status = EXIT_TROUBLE;
	}
	if (!prime->count && status)
		return status;
	if (print_result(prime, options->json))
		return EXIT_TROUBLE;
	if (!status && prime_answer(prime) == PRIME_NO)
		return EXIT_ANSWER_NO;
	return status;
}

int prime_main(int argc, char **argv)
{
	struct prime_options options = {.max_bytes = UINT64_MAX};
	struct machine machine;
	struct prime prime = {.machine = &machine, .seen = SEEN_INITIALIZER};
	int status = EXIT_TROUBLE, err;

	options.operands = calloc((size_t)argc, sizeof(*options.operands));
	if (!options.operands || args_parse(&prime_argp, "execalign prime", argc, argv, &options) ||
		machine_read(&machine))
		goto out;
	prime.dry_run = options.dry_run;
	prime.max_bytes = options.max_bytes;
	raise_file_limit();
	err = process_open(getpid(), &prime.self);
	if (err) {
		message("/proc", "this process is not in it; mount it");
		goto out;
	}
	err = page_cache_open(&prime.cache, machine.geometry.page_bytes);
	if (err) {
		message("prime", "no room for a mapping: %s; raise the limit (ulimit -v)",
			strerror(-err));
	} else {
		status = run_prime(&prime, &options);
		prime_free(&prime);
		page_cache_close(&prime.cache);
	}
	process_close(&prime.self);
out:
	free(options.operands);
	return status;
}
