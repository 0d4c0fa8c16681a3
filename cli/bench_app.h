/* SPDX-License-Identifier: MIT */
/*
 * bench_app.h - what execalign bench app measured, and how it is printed
 */
#ifndef CLI_BENCH_APP_H
#define CLI_BENCH_APP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "counters.h"
#include "machine.h"
#include "snapshot.h"
#include "statistics.h"
#include "timed_run.h"

/*
 * Fewer runs give no interval at 95 %: that all of five pairs differ the same way happens once in
 * sixteen times without any reason (2 / 2^5), that all of six do once in 32.
 */
#define BENCH_APP_RUNS_MIN 6

#define BENCH_APP_METRICS_MAX (RUN_METRIC_COUNT + COUNTERS_MAX)

/* enum app_way - the environments that the command runs in */
enum app_way {
	APP_PLAIN,
	APP_SHIM,
	APP_WAY_COUNT,
};

/* enum app_unit - of a metric's values */
enum app_unit {
	UNIT_SECONDS,
	UNIT_COUNT,
	UNIT_BYTES,
};

/* struct app_side - one environment: an extra run that was looked at, and all timed runs */
struct app_side {
	char **env;
	bool seen;			       /* the look succeeded */
	struct snapshot snapshot;	       /* as the command ended */
	double *values[BENCH_APP_METRICS_MAX]; /* by metric and run; NAN: unknown */
};

/* struct bench_app - all of it */
struct bench_app {
	struct machine machine;
	char *const *command;
	const char *before; /* shell command ahead of each run, or NULL */
	uint64_t runs;	    /* of each way */
	struct counters counters;
	struct app_side sides[APP_WAY_COUNT];
};

const char *app_way_name(enum app_way way);

/* bench_app_metric_count - those of every run, and the counters behind them */
size_t bench_app_metric_count(const struct bench_app *bench);

/* bench_app_label - of a metric, for people; bench_app_key - for programs, with its unit */
const char *bench_app_label(const struct bench_app *bench, size_t metric);
const char *bench_app_key(const struct bench_app *bench, size_t metric);
enum app_unit bench_app_unit(size_t metric);

/* bench_app_is_known - was it measured in every run of this way? */
bool bench_app_is_known(const struct bench_app *bench, enum app_way way, size_t metric);

/*
 * bench_app_ratio - the shim against plain
 * @out: filled on success only
 *
 * Returns 0, -ENODATA if it is not known of both or is 0 in some run, or -ENOMEM.
 */
int bench_app_ratio(const struct bench_app *bench, size_t metric, struct ratio *out);

/* Text for people, and JSON as bench-app-json.md describes it. Both return 0 or -errno. */
int bench_app_print_text(FILE *stream, const struct bench_app *bench);
int bench_app_print_json(FILE *stream, const struct bench_app *bench);

#endif
