/* SPDX-License-Identifier: MIT */
/*
 * bench_app_metric.c - the metrics of execalign bench app: those of every run, then the counters
 */
#include <errno.h>
#include <math.h>

#include "bench_app.h"

struct metric_name {
	const char *label;
	const char *key;
	enum app_unit unit;
};

static const struct metric_name run_metrics[RUN_METRIC_COUNT] = {
	[RUN_WALL] = {"wall time", "wall_seconds", UNIT_SECONDS},
	[RUN_CPU] = {"processor time", "cpu_seconds", UNIT_SECONDS},
	[RUN_USER] = {"  user", "user_seconds", UNIT_SECONDS},
	[RUN_SYSTEM] = {"  system", "system_seconds", UNIT_SECONDS},
	[RUN_MINOR_FAULTS] = {"minor faults", "minor_faults", UNIT_COUNT},
	[RUN_MAJOR_FAULTS] = {"major faults", "major_faults", UNIT_COUNT},
	[RUN_READ] = {"bytes read", "read_bytes", UNIT_BYTES},
	[RUN_MAX_RSS] = {"largest RSS", "max_rss_bytes", UNIT_BYTES},
};

const char *app_way_name(enum app_way way)
{
	return way == APP_SHIM ? "shim" : "plain";
}

size_t bench_app_metric_count(const struct bench_app *bench)
{
	return RUN_METRIC_COUNT + bench->counters.count;
}

const char *bench_app_label(const struct bench_app *bench, size_t metric)
{
	return metric < RUN_METRIC_COUNT ? run_metrics[metric].label
					 : bench->counters.list[metric - RUN_METRIC_COUNT].label;
}

const char *bench_app_key(const struct bench_app *bench, size_t metric)
{
	return metric < RUN_METRIC_COUNT ? run_metrics[metric].key
					 : bench_app_label(bench, metric);
}

enum app_unit bench_app_unit(size_t metric)
{
	return metric < RUN_METRIC_COUNT ? run_metrics[metric].unit : UNIT_COUNT;
}

bool bench_app_is_known(const struct bench_app *bench, enum app_way way, size_t metric)
{
	uint64_t run;

	for (run = 0; run < bench->runs; run++)
		if (isnan(bench->sides[way].values[metric][run]))
			return false;
	return true;
}

static bool all_above_0(const double *values, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		if (!(values[i] > 0))
			return false;
	return true;
}

int bench_app_ratio(const struct bench_app *bench, size_t metric, struct ratio *out)
{
	const double *plain = bench->sides[APP_PLAIN].values[metric];
	const double *shim = bench->sides[APP_SHIM].values[metric];

	/* Not so of NAN. */
	if (!all_above_0(plain, bench->runs) || !all_above_0(shim, bench->runs))
		return -ENODATA;
	return ratio_of(shim, plain, bench->runs, out);
}
