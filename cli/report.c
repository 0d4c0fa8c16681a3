/* SPDX-License-Identifier: MIT */
/*
 * report.c - execalign report: how the text of processes is mapped
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "child.h"
#include "command.h"
#include "format.h"
#include "launch.h"
#include "message.h"
#include "report.h"
#include "target.h"

enum report_key {
	KEY_ALL = 0x200,
	KEY_JSON,
	KEY_CHECK,
	KEY_VERBOSE,
	KEY_AFTER,
	KEY_PLAIN,
	KEY_OUTPUT,
};

struct report_options {
	struct launch launch;
	bool all;
	bool json;
	bool check;
	bool verbose;
	bool plain;
	double after; /* below 0: when CMD ends */
	const char *output;
	const char *pid;
	char **command;
};

static const struct argp_option report_argp_options[] = {
	ARGS_HELP_OPTION,
	{"all", KEY_ALL, NULL, 0, "report on every process that may be read", 0},
	{"json", KEY_JSON, NULL, 0, "print JSON, with sizes in bytes", 0},
	{"check", KEY_CHECK, NULL, 0, "exit with 1 unless all that could be mapped large is", 0},
	{"verbose", KEY_VERBOSE, NULL, 0, "show small objects and folio sizes too", 0},
	{"output", KEY_OUTPUT, "FILE", 0, "write the report to FILE", 0},
	{"after", KEY_AFTER, "SECONDS", 0, "report when CMD has run so long, not when it ends", 0},
	{"plain", KEY_PLAIN, NULL, 0, "start CMD without the shim, to compare", 0},
	{0},
};

static error_t parse_seconds(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (end == text || *end || !isfinite(*out) || *out < 0)
		return args_error(
			"--after", "'%s' is not a number of seconds; as in --after 2.5", text);
	return 0;
}

static error_t take_argument(struct report_options *options, char *arg, struct argp_state *state)
{
	if (state->quoted && state->next > state->quoted) {
		options->command = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	}
	if (options->pid)
		return args_error(arg, "one PID at a time; use --all for every process");
	options->pid = arg;
	return 0;
}

static error_t check_options(const struct report_options *options)
{
	int subjects = options->all + !!options->pid + !!options->command;

	if (!subjects)
		return args_error("report", "nothing to report on; name a PID, --all or -- CMD");
	if (subjects > 1)
		return args_error("report", "a PID, --all and -- CMD exclude each other; name one");
	if (options->command)
		return 0;
	if (options->launch.for_command || options->plain || options->after >= 0)
		return args_error("report", "some of these options are for a command that is "
					    "started; add -- CMD");
	return 0;
}

static error_t parse_report(int key, char *arg, struct argp_state *state)
{
	struct report_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->launch;
		return 0;
	case KEY_ALL:
		options->all = true;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_CHECK:
		options->check = true;
		return 0;
	case KEY_VERBOSE:
		options->verbose = true;
		return 0;
	case KEY_PLAIN:
		options->plain = true;
		return 0;
	case KEY_OUTPUT:
		options->output = arg;
		return 0;
	case KEY_AFTER:
		return parse_seconds(arg, &options->after);
	case ARGP_KEY_ARG:
		return take_argument(options, arg, state);
	case ARGP_KEY_END:
		return check_options(options);
	default:
		return args_common(key, state);
	}
}

static const struct argp_child report_children[] = {
	{.argp = &launch_argp, .header = "For CMD, as with run:"}, {0}};

static const struct argp report_argp = {
	.options = report_argp_options,
	.parser = parse_report,
	.args_doc = "PID\n--all\n-- CMD [ARGS...]",
	.doc = "Show how the text of a process is mapped, and why.\v"
	       "-- CMD starts CMD under the shim and reports on it as it ends; its output goes "
	       "where it would go without.\n\n"
	       "Exit status: 0 done; 1 with --check, something is not mapped large that could be; "
	       "2 wrong usage, failure, or with --check: it cannot be told.",
	.children = report_children,
};

static int say_look(const char *thing, enum look look)
{
	switch (look) {
	case LOOK_DONE:
		return EXIT_DONE;
	case LOOK_GONE:
		message(thing, "no such process; see ps(1)");
		break;
	case LOOK_DENIED:
		message(thing, geteuid() ? "this process is not yours to read; be root, or its user"
					 : "this process is protected even from root here; see its "
					   "user namespace and security policy");
		break;
	case LOOK_KERNEL_THREAD:
		message(thing, "a kernel thread, which maps no files; name a program's PID");
		break;
	case LOOK_ENDED:
		message(thing, "this process has ended (zombie); name one that runs");
		break;
	case LOOK_FAILED:
		message(thing, "its mappings cannot be read; is /proc a Linux proc filesystem?");
		break;
	}
	return EXIT_TROUBLE;
}

static int add_snapshot(struct report *report, const struct snapshot *snapshot)
{
	struct snapshot *grown = reallocarray(report->snapshots, report->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	report->snapshots = grown;
	grown[report->count++] = *snapshot;
	if (report->count == 1)
		report->totals.folios_known = true;
	totals_add(&report->totals, &snapshot->totals);
	return 0;
}

static int collect_pid(struct lens *lens, const char *text, struct report *report)
{
	struct snapshot snapshot;
	int pid = parse_pid(text);
	enum look look;

	if (!pid) {
		message(text, "not a PID; to start a program: execalign report -- %s", text);
		return EXIT_TROUBLE;
	}
	look = snapshot_take(lens, pid, &snapshot);
	if (look != LOOK_DONE)
		return say_look(text, look);
	return add_snapshot(report, &snapshot) ? EXIT_TROUBLE : EXIT_DONE;
}

static void count_skipped(struct skipped *skipped, enum look look)
{
	switch (look) {
	case LOOK_DONE:
		break;
	case LOOK_KERNEL_THREAD:
		skipped->kernel_threads++;
		break;
	case LOOK_DENIED:
		skipped->denied++;
		break;
	case LOOK_GONE:
	case LOOK_ENDED:
		skipped->ended++;
		break;
	case LOOK_FAILED:
		skipped->failed++;
		break;
	}
}

static bool same_object(const struct object *a, const struct object *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && !strcmp(a->path, b->path);
}

static struct aggregate *find_aggregate(struct report *report, const struct object *object)
{
	struct aggregate *grown;
	size_t i;

	for (i = 0; i < report->aggregate_count; i++)
		if (same_object(report->aggregates[i].example, object))
			return &report->aggregates[i];
	grown = reallocarray(report->aggregates, report->aggregate_count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	report->aggregates = grown;
	memset(&grown[report->aggregate_count], 0, sizeof(*grown));
	grown[report->aggregate_count].example = object;
	return &grown[report->aggregate_count++];
}

static void aggregate_add(struct aggregate *aggregate, const struct object *object)
{
	if (object_verdict(object) > object_verdict(aggregate->example))
		aggregate->example = object;
	aggregate->processes++;
	aggregate->congruent += object_congruent(object);
	aggregate->whole_bytes += object->whole_bytes;
	add_known(&aggregate->touched_bytes, object->touched_bytes);
	add_known(&aggregate->block_mapped_bytes, object->block_mapped_bytes);
}

static int by_whole_bytes(const void *a, const void *b)
{
	const struct aggregate *first = a, *second = b;

	if (first->whole_bytes != second->whole_bytes)
		return first->whole_bytes < second->whole_bytes ? 1 : -1;
	return strcmp(first->example->path, second->example->path);
}

static int aggregate_all(struct report *report)
{
	size_t i, j;

	for (i = 0; i < report->count; i++) {
		for (j = 0; j < report->snapshots[i].object_count; j++) {
			const struct object *object = &report->snapshots[i].objects[j];
			struct aggregate *aggregate = find_aggregate(report, object);

			if (!aggregate)
				return -ENOMEM;
			aggregate_add(aggregate, object);
		}
	}
	if (report->aggregate_count)
		qsort(report->aggregates, report->aggregate_count, sizeof(*report->aggregates),
			by_whole_bytes);
	return 0;
}

static int collect_all(struct lens *lens, struct report *report)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!proc) {
		message("/proc", "cannot be listed: %s; mount it", strerror(errno));
		return EXIT_TROUBLE;
	}
	while (!err && (entry = readdir(proc))) {
		struct snapshot snapshot;
		int pid = parse_pid(entry->d_name);
		enum look look;

		if (!pid)
			continue;
		look = snapshot_take(lens, pid, &snapshot);
		count_skipped(&report->skipped, look);
		if (look == LOOK_DONE)
			err = add_snapshot(report, &snapshot);
	}
	closedir(proc);
	if (!err)
		err = aggregate_all(report);
	if (err)
		message("report", "out of memory; report on one PID");
	return err ? EXIT_TROUBLE : EXIT_DONE;
}

static int print_report(
	FILE *stream, const struct report_options *options, const struct report *report)
{
	int err = options->json ? report_print_json(stream, report)
				: report_print_text(stream, report);

	return message_written(stream, options->output ? options->output : "standard output", err);
}

/* Gives each object of the command its samples. */
static void count_samples(struct report *report, const struct samples *samples)
{
	struct snapshot *snapshot = &report->snapshots[0];
	size_t i, j;

	report->samples = samples;
	samples_count(samples, 0, UINT64_MAX, &report->sampled);
	report->sampled_elsewhere = report->sampled.total;
	for (i = 0; i < snapshot->object_count; i++) {
		struct object *object = &snapshot->objects[i];

		for (j = 0; j < object->text_count; j++) {
			const struct text *text = &object->texts[j];

			samples_count(
				samples, text->start, text->start + text->bytes, &object->samples);
		}
		report->sampled_elsewhere -= object->samples.total;
	}
}

static int print_command_report(FILE *stream, const struct report_options *options,
	const struct child *child, struct report *report)
{
	if (!child->seen) {
		message(options->command[0], "ended before it could be looked at; start it again");
		return EXIT_TROUBLE;
	}
	if (add_snapshot(report, &child->snapshot))
		return EXIT_TROUBLE;
	count_samples(report, &child->samples);
	return print_report(stream, options, report);
}

/* With --after the report is printed while the command goes on. */
static int report_command(struct lens *lens, const struct report_options *options, FILE *stream,
	struct report *report)
{
	struct target target;
	struct child child;
	int code = target_find(&lens->machine, options->command[0], &target);

	if (code)
		return EXIT_TROUBLE;
	if (!options->plain)
		launch_prepare(&lens->machine, &options->launch, &target, options->command[0]);
	code = child_start(&child, &target, options->command, false);
	if (code)
		return code;
	child_watch(&child, lens, options->after);

	report->command = options->command;
	report->command_ended = child.ended;
	report->command_status = child.status;
	code = print_command_report(stream, options, &child, report);
	child_wait(&child);
	samples_free(&child.samples);
	report->samples = NULL;
	return code;
}

/* What is not known must not pass for a yes. */
static int check_exit_code(const struct report *report)
{
	if (report->totals.verdict == VERDICT_NO)
		return EXIT_ANSWER_NO;
	if (report->totals.verdict == VERDICT_UNKNOWN) {
		message("--check", "cannot tell whether all is mapped large; run as root "
				   "(CAP_SYS_ADMIN)");
		return EXIT_TROUBLE;
	}
	if (report->skipped.denied || report->skipped.failed) {
		message("--check",
			"cannot tell: %llu processes could not be read; run as root "
			"(CAP_SYS_PTRACE)",
			(unsigned long long)(report->skipped.denied + report->skipped.failed));
		return EXIT_TROUBLE;
	}
	return EXIT_DONE;
}

static int make_report(const struct report_options *options, struct lens *lens, FILE *stream,
	struct report *report)
{
	int code;

	if (options->command) {
		code = report_command(lens, options, stream, report);
	} else {
		code = options->all ? collect_all(lens, report)
				    : collect_pid(lens, options->pid, report);
		if (!code)
			code = print_report(stream, options, report);
	}
	return !code && options->check ? check_exit_code(report) : code;
}

static int open_lens(const struct report_options *options, struct lens *lens)
{
	char contpte[FORMAT_BYTES_MAX], pmd[FORMAT_BYTES_MAX];

	if (access("/proc/self/stat", R_OK)) {
		message("/proc",
			"not mounted, so no process can be read; mount -t proc proc /proc");
		return EXIT_TROUBLE;
	}
	if (machine_read(&lens->machine))
		return EXIT_TROUBLE;
	lens->forced_block_bytes = 0;
	if (options->launch.block && strcmp(options->launch.block, "auto"))
		parse_size(options->launch.block, &lens->forced_block_bytes);
	if (lens->forced_block_bytes && !machine_block(&lens->machine, lens->forced_block_bytes)) {
		const struct ea_geometry *geometry = &lens->machine.geometry;

		message("--block", "this machine has no blocks of %s; its blocks are %s%s%s",
			options->launch.block,
			geometry->contpte_bytes ? format_bytes(geometry->contpte_bytes, contpte)
						: "",
			geometry->contpte_bytes ? " and " : "",
			format_bytes(geometry->pmd_bytes, pmd));
		return EXIT_TROUBLE;
	}
	page_flags_open(&lens->flags);
	return EXIT_DONE;
}

static FILE *open_output(const char *file)
{
	FILE *stream;

	if (!file)
		return stdout;
	stream = fopen(file, "we");
	if (!stream)
		message(file, "cannot be written: %s; name another file", strerror(errno));
	return stream;
}

static void free_report(struct report *report)
{
	size_t i;

	for (i = 0; i < report->count; i++)
		snapshot_free(&report->snapshots[i]);
	free(report->snapshots);
	free(report->aggregates);
}

int report_main(int argc, char **argv)
{
	/* page_flags holds a cache. */
	static struct lens lens;
	struct report_options options = {.after = -1};
	struct report report = {.machine = &lens.machine};
	FILE *stream;
	int code;

	if (args_parse(&report_argp, "execalign report", argc, argv, &options))
		return EXIT_TROUBLE;
	code = open_lens(&options, &lens);
	if (code)
		return code;
	stream = open_output(options.output);
	if (!stream)
		return EXIT_TROUBLE;
	report.all = options.all;
	report.verbose = options.verbose;
	code = make_report(&options, &lens, stream, &report);
	free_report(&report);
	free(options.launch.allow);
	free(options.launch.deny);
	page_flags_close(&lens.flags);
	if (stream != stdout && fclose(stream) && !code) {
		message(options.output, "cannot be written: %s; is there room?", strerror(errno));
		return EXIT_TROUBLE;
	}
	return code;
}
