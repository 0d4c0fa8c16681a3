/* SPDX-License-Identifier: MIT */
/*
 * bench_exec.c - execalign bench exec: the same code, mapped in several ways, read and called
 *
 * A round goes through all ways, each round beginning with another one, so that what slows the
 * machine down for a while slows all of them down.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "bench.h"
#include "bench_exec.h"
#include "clock.h"
#include "filesystem.h"
#include "format.h"
#include "interruption.h"
#include "message.h"
#include "stub_file.h"

#define DEFAULT_BYTES (512 * EA_MIB)
#define DEFAULT_ROUNDS 9
#define DEFAULT_CALLS 1000000
/* Second-level TLBs hold 1,000 to 3,000 entries of 4 KiB: less code than this needs no large ones. */
#define MIN_BYTES (16 * EA_MIB)
#define MAX_BYTES ((uint64_t)1 << 40)
#define MAX_COUNT 1000000000
#define PERCENT_COLD 99
#define PERCENT_LARGE 95

enum exec_key {
	KEY_SIZE = 0x400,
	KEY_DIR,
	KEY_ROUNDS,
	KEY_CALLS,
	KEY_JSON,
};

struct exec_options {
	struct bench_exec *bench;
	bool json;
};

static const struct argp_option exec_argp_options[] = {
	ARGS_HELP_OPTION,
	{"size", KEY_SIZE, "SIZE", 0, "of the code (512M)", 0},
	{"dir", KEY_DIR, "DIR", 0, "where its file is, on a disk ($TMPDIR, or /var/tmp)", 0},
	{"rounds", KEY_ROUNDS, "N", 0, "measure everything N times (9)", 0},
	{"calls", KEY_CALLS, "N", 0, "calls in random pages, in each round (1000000)", 0},
	{"json", KEY_JSON, NULL, 0, "print JSON", 0},
	{0},
};

static error_t parse_count(const char *option, const char *text, uint64_t *out)
{
	char *end;

	*out = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && *out && *out <= MAX_COUNT)
		return 0;
	return args_error(
		option, "'%s' is not a number from 1 to %d; as in %s 20", text, MAX_COUNT, option);
}

static error_t parse_code_size(const char *text, struct bench_exec *bench)
{
	if (parse_size(text, &bench->bytes))
		return args_error("--size", "'%s' is not a size; as in --size 512M", text);
	if (bench->bytes < MIN_BYTES)
		return args_error("--size",
			"%s is too small to say anything, as TLBs hold that many pages; "
			"name 16M or more",
			text);
	if (bench->bytes > MAX_BYTES)
		return args_error("--size", "%s is too large; name 1024G or less", text);
	return 0;
}

static error_t parse_exec(int key, char *arg, struct argp_state *state)
{
	struct exec_options *options = state->input;
	struct bench_exec *bench = options->bench;

	switch (key) {
	case KEY_SIZE:
		return parse_code_size(arg, bench);
	case KEY_DIR:
		bench->dir = arg;
		return 0;
	case KEY_ROUNDS:
		return parse_count("--rounds", arg, &bench->rounds);
	case KEY_CALLS:
		return parse_count("--calls", arg, &bench->calls);
	case KEY_JSON:
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		return args_error(arg, "bench exec takes no operand; see 'execalign bench exec "
				       "--help'");
	default:
		return args_common(key, state);
	}
}

static const struct argp exec_argp = {
	.options = exec_argp_options,
	.parser = parse_exec,
	.doc = "Write a file of code that only returns, and map it in ways that differ in what can "
	       "be mapped large. Cold: read a byte of each page when nothing is cached. Random: "
	       "call it in random pages when all are mapped.\v"
	       "Exit status: 0 done; 2 wrong usage, failure, or interrupted.",
};

bool bench_exec_is_as_claimed(const struct bench_exec *bench, const struct measured *measured)
{
	if (measured->error || measured->large_bytes == UNKNOWN_BYTES)
		return true;
	switch (measured->way) {
	case WAY_MISPLACED:
		return !measured->large_bytes;
	case WAY_CONGRUENT:
		return true;
	default:
		return measured->large_bytes >= bench->bytes / 100 * PERCENT_LARGE;
	}
}

bool bench_exec_is_cold(const struct bench_exec *bench, const struct measured *measured)
{
	return measured->left_bytes <= bench->bytes / 100 * (100 - PERCENT_COLD);
}

bool bench_exec_is_known(
	const struct bench_exec *bench, const struct measured *measured, enum metric metric)
{
	return !measured->error && (metric != METRIC_COLD || bench_exec_is_cold(bench, measured));
}

/* struct lab - what it takes to measure */
struct lab {
	struct bench_exec *bench;
	volatile sig_atomic_t *stop;
	int file_fd;
	int pagemap_fd;
	struct page_flags flags;
};

static int evict(struct lab *lab, struct measured *measured)
{
	int64_t left_bytes = stub_file_evict(
		lab->file_fd, lab->bench->bytes, lab->bench->machine.geometry.page_bytes);

	if (left_bytes < 0)
		return (int)left_bytes;
	if ((uint64_t)left_bytes > measured->left_bytes)
		measured->left_bytes = (uint64_t)left_bytes;
	return 0;
}

static void note_large(struct lab *lab, const struct stub_text *text, struct measured *measured)
{
	uint64_t large_bytes = stub_text_large_bytes(text, lab->pagemap_fd, &lab->flags);

	if (large_bytes == UNKNOWN_BYTES || measured->large_bytes == UNKNOWN_BYTES)
		measured->large_bytes = UNKNOWN_BYTES;
	else if (large_bytes < measured->large_bytes)
		measured->large_bytes = large_bytes;
}

/* One way, once. Returns 0 or -errno. */
static int measure(struct lab *lab, struct measured *measured, uint64_t round)
{
	struct bench_exec *bench = lab->bench;
	struct stub_text text = {
		.way = measured->way,
		.fd = lab->file_fd,
		.bytes = bench->bytes,
		.block_bytes = bench->block_bytes,
		.geometry = bench->machine.geometry,
		.stop = lab->stop,
	};
	int err = evict(lab, measured);
	double start = now_seconds();

	if (!err)
		err = stub_text_map(&text);
	if (err)
		return err;
	err = stub_text_touch(&text);
	measured->values[METRIC_COLD][round] = (now_seconds() - start) * 1e3;
	/* Once more, to have the last of the page tables filled. */
	if (!err)
		err = stub_text_touch(&text);
	if (!err) {
		measured->values[METRIC_RANDOM][round] =
			stub_text_call(&text, bench->calls, round + 1);
		note_large(lab, &text, measured);
	}
	stub_text_unmap(&text);
	return err;
}

static void show_progress(const struct bench_exec *bench, uint64_t round)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rround %" PRIu64 " of %" PRIu64 " ", round + 1, bench->rounds);
}

static void hide_progress(void)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%48s\r", "");
}

/* Memory that cannot be had for a copy is no failure of the others. Returns 0 or -errno. */
static int measure_all(struct lab *lab)
{
	struct bench_exec *bench = lab->bench;
	uint64_t round, i;
	int err = 0;

	for (round = 0; round < bench->rounds; round++) {
		show_progress(bench, round);
		for (i = 0; i < WAY_COUNT; i++) {
			struct measured *measured = &bench->ways[(round + i) % WAY_COUNT];

			if (measured->error)
				continue;
			err = *lab->stop ? -EINTR : measure(lab, measured, round);
			if (err && (err == -EINTR || !way_is_copy(measured->way)))
				return err;
			measured->error = err;
		}
	}
	return 0;
}

static int explain(const struct bench_exec *bench, int err)
{
	char size[FORMAT_BYTES_MAX];

	if (err == -EINTR)
		message("bench exec", "interrupted; nothing is left behind, start it again");
	else if (err == -ENOSPC || err == -EDQUOT || err == -EFBIG)
		message(bench->dir,
			"no room for a file of %s; name a smaller --size or another --dir",
			format_bytes(bench->bytes, size));
	else if (err == -EPERM || err == -EACCES || err == -EROFS)
		message(bench->dir,
			"no code can be written and mapped there: %s; name another --dir",
			strerror(-err));
	else if (err == -ENOMEM)
		message("bench exec",
			"no memory for a mapping of %s; name a smaller --size, or "
			"raise the limit (ulimit -v)",
			format_bytes(bench->bytes, size));
	else if (err == -EINVAL)
		message("bench exec", "this kernel does not know MADV_HUGEPAGE; execalign doctor "
				      "tells more");
	else
		message(bench->dir, "%s; name another --dir", strerror(-err));
	return EXIT_TROUBLE;
}

static int measure_file(struct bench_exec *bench)
{
	struct lab lab = {.bench = bench, .stop = interruption_catch()};
	int err;

	lab.file_fd = stub_file_create(bench->dir, bench->bytes, lab.stop);
	if (lab.file_fd < 0)
		return lab.file_fd;
	lab.pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	page_flags_open(&lab.flags);
	err = measure_all(&lab);
	hide_progress();
	page_flags_close(&lab.flags);
	if (lab.pagemap_fd >= 0)
		close(lab.pagemap_fd);
	close(lab.file_fd);
	return err;
}

/* Those whose file lies in memory cannot show what reading costs. */
static int check_filesystem(struct bench_exec *bench)
{
	struct mounts mounts = {0};
	struct filesystem filesystem;
	char path[PATH_MAX];
	int fd;

	if (!realpath(bench->dir, path))
		return explain(bench, -errno);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return explain(bench, -errno);
	mounts_read(AT_FDCWD, "/proc/self/mountinfo", &mounts);
	filesystem_of(fd, path, &mounts, &bench->machine.release, &filesystem);
	if (filesystem.known)
		snprintf(bench->fs_type, sizeof(bench->fs_type), "%s",
			filesystem_cache_type(&filesystem));
	mounts_free(&mounts);
	close(fd);
	if (strcmp(bench->fs_type, "tmpfs") && strcmp(bench->fs_type, "ramfs"))
		return EXIT_DONE;
	message(bench->dir,
		"is %s, in memory, from which nothing can be evicted; name a directory "
		"on a disk with --dir",
		bench->fs_type);
	return EXIT_TROUBLE;
}

/* Room for the file in the cache, and for a copy. */
static int check_memory(const struct bench_exec *bench)
{
	char need[FORMAT_BYTES_MAX], available[FORMAT_BYTES_MAX];
	uint64_t available_bytes = machine_available_bytes();

	if (available_bytes >= 2 * bench->bytes)
		return EXIT_DONE;
	message("bench exec", "needs %s of memory, and %s are available; name a smaller --size",
		format_bytes(2 * bench->bytes, need), format_bytes(available_bytes, available));
	return EXIT_TROUBLE;
}

static int prepare(struct bench_exec *bench)
{
	const struct ea_geometry *geometry = &bench->machine.geometry;
	unsigned int way, metric;

	bench->block_bytes = geometry->pmd_bytes <= EA_BLOCK_CAP_BYTES ? geometry->pmd_bytes
								       : geometry->contpte_bytes;
	bench->bytes =
		(bench->bytes + EA_BLOCK_CAP_BYTES - 1) / EA_BLOCK_CAP_BYTES * EA_BLOCK_CAP_BYTES;
	for (way = 0; way < WAY_COUNT; way++) {
		struct measured *measured = &bench->ways[way];

		measured->way = (enum way)way;
		measured->large_bytes = bench->bytes;
		for (metric = 0; metric < METRIC_COUNT; metric++) {
			measured->values[metric] = calloc(bench->rounds, sizeof(double));
			if (!measured->values[metric])
				return -ENOMEM;
		}
	}
	return 0;
}

static void release(struct bench_exec *bench)
{
	unsigned int way, metric;

	for (way = 0; way < WAY_COUNT; way++)
		for (metric = 0; metric < METRIC_COUNT; metric++)
			free(bench->ways[way].values[metric]);
}

static int print_result(const struct bench_exec *bench, bool json)
{
	int err =
		json ? bench_exec_print_json(stdout, bench) : bench_exec_print_text(stdout, bench);

	return message_written(stdout, "standard output", err);
}

int bench_exec_main(int argc, char **argv)
{
	const char *tmpdir = getenv("TMPDIR");
	struct bench_exec bench = {
		.dir = tmpdir && *tmpdir ? tmpdir : "/var/tmp",
		.bytes = DEFAULT_BYTES,
		.calls = DEFAULT_CALLS,
		.rounds = DEFAULT_ROUNDS,
	};
	struct exec_options options = {.bench = &bench};
	int status, err;

	if (args_parse(&exec_argp, "execalign bench exec", argc, argv, &options) ||
		machine_read(&bench.machine) || check_filesystem(&bench) || check_memory(&bench))
		return EXIT_TROUBLE;
	/* A limit of the file size is an error of write(2) then. */
	signal(SIGXFSZ, SIG_IGN);
	err = prepare(&bench);
	if (!err)
		err = measure_file(&bench);
	status = err ? explain(&bench, err) : print_result(&bench, options.json);
	release(&bench);
	return status;
}
