/* SPDX-License-Identifier: MIT */
/*
 * bench_app.c - execalign bench app: a command, plain and under the shim, in turn
 *
 * Each way is run once and looked at, which says what is mapped large, and fills the caches. Then
 * come the runs that are timed, in pairs, each pair beginning with the other way: what slows the
 * machine down for a while slows both down.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "bench.h"
#include "bench_app.h"
#include "bench_app_plot.h"
#include "child.h"
#include "clock.h"
#include "interruption.h"
#include "launch.h"
#include "list.h"
#include "message.h"
#include "progress.h"

#define DEFAULT_RUNS 20
#define MAX_RUNS 1000000

enum app_key {
	KEY_BEFORE = 0x500,
	KEY_EVENT,
	KEY_IGNORE_FAILURE,
	KEY_JSON,
	KEY_PLOT,
};

/* struct app_lab - what it takes to measure */
struct app_lab {
	struct bench_app bench;
	struct launch launch;
	struct target target;
	struct lens lens;
	struct plot plot;
	const char *events[COUNTERS_MAX];
	size_t event_count;
	volatile sig_atomic_t *stop;
	bool ignore_failure;
	bool json;
	const char *plot_path;
	int status; /* of the first run; all others have to end alike */
	double began;
};

static const struct argp_option app_argp_options[] = {
	ARGS_HELP_OPTION,
	{"runs", 'n', "N", 0, "time CMD N times each way (20)", 0},
	{"before", KEY_BEFORE, "COMMAND", 0, "shell command ahead of each run, not timed", 0},
	{"event", KEY_EVENT, "NAME", 0, "count this event too, by libpfm4's name of it", 0},
	{"ignore-failure", KEY_IGNORE_FAILURE, NULL, 0,
		"CMD may end with any status, if it is the same each time", 0},
	{"json", KEY_JSON, NULL, 0, "print JSON, with the values of all runs", 0},
	{"plot", KEY_PLOT, "FILE", 0, "draw FILE, an .svg or .png, with gnuplot", 0},
	{0},
};

static error_t parse_runs(const char *text, uint64_t *runs)
{
	char *end;

	*runs = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || *runs > MAX_RUNS)
		return args_error("-n", "'%s' is not a number of runs; as in -n 20", text);
	if (*runs < BENCH_APP_RUNS_MIN)
		return args_error("-n", "%s runs cannot be told from noise; name %d or more", text,
			BENCH_APP_RUNS_MIN);
	return 0;
}

static error_t add_event(struct app_lab *lab, const char *event)
{
	if (lab->event_count == COUNTERS_MAX)
		return args_error("--event", "no more than %d at a time", COUNTERS_MAX);
	lab->events[lab->event_count++] = event;
	return 0;
}

static error_t parse_app(int key, char *arg, struct argp_state *state)
{
	struct app_lab *lab = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &lab->launch;
		return 0;
	case 'n':
		return parse_runs(arg, &lab->bench.runs);
	case KEY_BEFORE:
		lab->bench.before = arg;
		return 0;
	case KEY_EVENT:
		return add_event(lab, arg);
	case KEY_IGNORE_FAILURE:
		lab->ignore_failure = true;
		return 0;
	case KEY_JSON:
		lab->json = true;
		return 0;
	case KEY_PLOT:
		lab->plot_path = arg;
		return 0;
	case ARGP_KEY_ARG:
		lab->bench.command = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		return args_error("bench app",
			"no command is given; as in 'execalign bench app -- clang -c x.c'");
	default:
		return args_common(key, state);
	}
}

static const struct argp_child app_children[] = {
	{.argp = &launch_argp, .header = "For the shim, as with run:"}, {0}};

static const struct argp app_argp = {
	.options = app_argp_options,
	.parser = parse_app,
	.args_doc = "[--] CMD [ARGS...]",
	.doc = "Run CMD plain and with the shim in LD_PRELOAD, in turn, and compare time, page "
	       "faults, memory, and what the processor counts.\v"
	       "CMD gets no input, and its output is thrown away.\n\n"
	       "Exit status: 0 done; 2 wrong usage, CMD failed, or interrupted.",
	.children = app_children,
};

/* Plain has to be plain, and the shim has to be on. */
static int check_environment(void)
{
	const char *off = getenv("EXECALIGN"), *preload = getenv("LD_PRELOAD");
	char *shim = launch_find_shim();
	bool has_shim = shim && preload && list_has(preload, ": ", shim);

	free(shim);
	if (off && !strcmp(off, "off")) {
		message("EXECALIGN", "is set to 'off': the shim will do nothing; unset it");
		return EXIT_TROUBLE;
	}
	if (has_shim) {
		message("LD_PRELOAD", "holds the shim already, so that nothing is plain; unset it");
		return EXIT_TROUBLE;
	}
	return EXIT_DONE;
}

static int check_target(const struct target *target, const char *command)
{
	const char *why;

	switch (target->kind) {
	case TARGET_STATIC:
		why = "statically linked";
		break;
	case TARGET_PRIVILEGED:
		why = "gains privileges, so that its loader ignores the shim";
		break;
	case TARGET_32BIT:
		why = "a 32-bit program";
		break;
	case TARGET_FOREIGN:
		why = "built for another machine";
		break;
	default:
		return EXIT_DONE;
	}
	message(command, "%s: there is nothing to compare; name another program", why);
	return EXIT_TROUBLE;
}

static int add_counters(struct app_lab *lab)
{
	size_t i;

	counters_add_usual(&lab->bench.counters);
	for (i = 0; i < lab->event_count; i++) {
		const char *event = lab->events[i];

		switch (counters_add(&lab->bench.counters, event)) {
		case 0:
			continue;
		case -ENOSPC:
			message("--event", "%s is one too many; name fewer", event);
			return EXIT_TROUBLE;
		default:
			message("--event",
				"'%s' is no event of this processor to libpfm4; see 'perf list', "
				"and libpfm(3) for how names are written",
				event);
			return EXIT_TROUBLE;
		}
	}
	return EXIT_DONE;
}

static char **copy_environment(void)
{
	char **copy;
	size_t count = 0;

	while (environ[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	if (copy)
		memcpy(copy, environ, count * sizeof(*copy));
	return copy;
}

static int no_memory(void)
{
	message("bench app", "out of memory; name fewer runs");
	return EXIT_TROUBLE;
}

/* From here on this process's own environment is the plain one again. */
static int make_environments(struct app_lab *lab)
{
	struct bench_app *bench = &lab->bench;
	char *shim;

	bench->sides[APP_PLAIN].env = copy_environment();
	if (!bench->sides[APP_PLAIN].env)
		return no_memory();
	shim = launch_preload(&lab->launch, &lab->target, bench->command[0]);
	if (!shim)
		return EXIT_TROUBLE;
	free(shim);
	bench->sides[APP_SHIM].env = copy_environment();
	if (!bench->sides[APP_SHIM].env)
		return no_memory();
	environ = bench->sides[APP_PLAIN].env;
	return EXIT_DONE;
}

static int make_room(struct bench_app *bench)
{
	unsigned int way;
	size_t metric;

	for (way = 0; way < APP_WAY_COUNT; way++) {
		for (metric = 0; metric < bench_app_metric_count(bench); metric++) {
			bench->sides[way].values[metric] = calloc(bench->runs, sizeof(double));
			if (!bench->sides[way].values[metric])
				return no_memory();
		}
	}
	return EXIT_DONE;
}

static int interrupted(void)
{
	message("bench app", "interrupted; nothing is left behind, start it again");
	return EXIT_TROUBLE;
}

static void describe_status(int status, char *out, size_t out_bytes)
{
	if (WIFSIGNALED(status))
		snprintf(out, out_bytes, "signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		snprintf(out, out_bytes, "exit status %d", WEXITSTATUS(status));
}

/* Does the run that ended with @status count? */
static int check_status(const struct app_lab *lab, enum app_way way, int status, bool is_first)
{
	const char *command = lab->bench.command[0];
	char words[64], first[64];

	describe_status(status, words, sizeof(words));
	if (is_first && status && !lab->ignore_failure) {
		message(command,
			"ended with %s, without the shim; name a command that succeeds, or say "
			"--ignore-failure",
			words);
		return EXIT_TROUBLE;
	}
	if (is_first || status == lab->status)
		return EXIT_DONE;
	describe_status(lab->status, first, sizeof(first));
	message(command, "ended with %s %s, and with %s before; only what ends alike is compared",
		words, way == APP_SHIM ? "under the shim" : "without the shim", first);
	return EXIT_TROUBLE;
}

static int run_before(const struct bench_app *bench)
{
	char words[64];
	int status;

	if (!bench->before)
		return EXIT_DONE;
	/* system(3) sends its output where ours goes, and that is for the result. */
	fflush(stdout);
	status = system(bench->before);
	if (!status)
		return EXIT_DONE;
	describe_status(status, words, sizeof(words));
	message("--before", "'%s' ended with %s; nothing is timed after that", bench->before,
		words);
	return EXIT_TROUBLE;
}

static bool was_stopped(int status)
{
	return WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM ||
					      WTERMSIG(status) == SIGHUP);
}

/* One run that is looked at as it ends. */
static int look(struct app_lab *lab, enum app_way way)
{
	struct app_side *side = &lab->bench.sides[way];
	struct child child;
	sigset_t mask;
	int code = run_before(&lab->bench);

	if (code)
		return code;
	/* child_start() blocks signals, and gives CMD those that were blocked before. */
	sigprocmask(SIG_SETMASK, NULL, &mask);
	environ = side->env;
	code = child_start(&child, &lab->target, lab->bench.command, true);
	environ = lab->bench.sides[APP_PLAIN].env;
	if (!code) {
		child_watch(&child, &lab->lens, -1);
		samples_free(&child.samples);
		side->seen = child.seen;
		side->snapshot = child.snapshot;
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (code)
		return code;
	if (*lab->stop || was_stopped(child.status))
		return interrupted();
	if (way == APP_PLAIN)
		lab->status = child.status;
	return check_status(lab, way, child.status, way == APP_PLAIN);
}

static void show_progress(const struct app_lab *lab, uint64_t done)
{
	uint64_t total = lab->bench.runs * APP_WAY_COUNT;
	char bar[PROGRESS_BAR_CHARACTERS + 3];
	double left;

	if (!progress_is_wanted())
		return;
	fprintf(stderr, "\r%s %" PRIu64 " of %" PRIu64 " runs", progress_bar(done, total, bar),
		done, total);
	if (done) {
		left = (now_seconds() - lab->began) / (double)done * (double)(total - done);
		fprintf(stderr, ", %.0f s left", left);
	}
	fputs("\033[K", stderr);
}

static void hide_progress(void)
{
	if (progress_is_wanted())
		fputs("\r\033[K", stderr);
}

/* One run that is timed. */
static int measure(struct app_lab *lab, enum app_way way, uint64_t number)
{
	struct bench_app *bench = &lab->bench;
	struct timed_run run = {
		.target = &lab->target,
		.argv = bench->command,
		.env = bench->sides[way].env,
		.counters = &bench->counters,
		.stop = lab->stop,
	};
	size_t metric;
	int err, code = run_before(bench);

	if (code)
		return code;
	err = *lab->stop ? -EINTR : timed_run(&run);
	if (err == -EINTR)
		return interrupted();
	if (err) {
		message(bench->command[0], "cannot be started: %s; end some processes",
			strerror(-err));
		return EXIT_TROUBLE;
	}
	for (metric = 0; metric < bench_app_metric_count(bench); metric++)
		bench->sides[way].values[metric][number] = run.values[metric];
	return check_status(lab, way, run.status, false);
}

static int measure_all(struct app_lab *lab)
{
	uint64_t number, i;
	int code = look(lab, APP_PLAIN);

	if (!code)
		code = look(lab, APP_SHIM);
	lab->began = now_seconds();
	for (number = 0; !code && number < lab->bench.runs; number++) {
		for (i = 0; !code && i < APP_WAY_COUNT; i++) {
			show_progress(lab, number * APP_WAY_COUNT + i);
			code = measure(lab, (number + i) % APP_WAY_COUNT, number);
			/* A message may follow. */
			hide_progress();
		}
	}
	return code;
}

static int print_result(struct app_lab *lab)
{
	const struct bench_app *bench = &lab->bench;
	int err = lab->json ? bench_app_print_json(stdout, bench)
			    : bench_app_print_text(stdout, bench);
	int code = message_written(stdout, "standard output", err);

	if (lab->plot_path && bench_app_plot(&lab->plot, bench))
		return EXIT_TROUBLE;
	return code;
}

static void release(struct app_lab *lab)
{
	struct bench_app *bench = &lab->bench;
	unsigned int way;
	size_t metric;

	for (way = 0; way < APP_WAY_COUNT; way++) {
		struct app_side *side = &bench->sides[way];

		for (metric = 0; metric < BENCH_APP_METRICS_MAX; metric++)
			free(side->values[metric]);
		if (side->seen)
			snapshot_free(&side->snapshot);
	}
}

static int prepare(struct app_lab *lab)
{
	struct bench_app *bench = &lab->bench;
	int code = check_environment();

	if (!code && machine_read(&bench->machine))
		code = EXIT_TROUBLE;
	lab->lens.machine = bench->machine;
	if (!code && target_find(&bench->machine, bench->command[0], &lab->target))
		code = EXIT_TROUBLE;
	if (!code)
		code = check_target(&lab->target, bench->command[0]);
	if (!code)
		code = add_counters(lab);
	if (!code)
		code = make_environments(lab);
	if (!code)
		code = make_room(bench);
	if (!code && lab->plot_path)
		code = plot_open(&lab->plot, lab->plot_path);
	return code;
}

int bench_app_main(int argc, char **argv)
{
	struct app_lab lab = {.bench.runs = DEFAULT_RUNS, .lens.with_memory = true};
	int code;

	if (args_parse(&app_argp, "execalign bench app", argc, argv, &lab))
		return EXIT_TROUBLE;
	lab.stop = interruption_catch();
	code = prepare(&lab);
	if (!code) {
		page_flags_open(&lab.lens.flags);
		code = measure_all(&lab);
		page_flags_close(&lab.lens.flags);
	}
	if (!code)
		code = print_result(&lab);
	plot_abandon(&lab.plot);
	release(&lab);
	return code;
}
