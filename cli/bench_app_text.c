/* SPDX-License-Identifier: MIT */
/*
 * bench_app_text.c - what execalign bench app measured, for people
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench_app.h"
#include "format.h"

#define VALUE_MAX 32
#define CELL_MAX 112
#define LABEL_WIDTH_MIN 16
#define CELL_WIDTH 34

static const char *format_seconds(double seconds, char *out)
{
	if (seconds < 1)
		snprintf(out, VALUE_MAX, "%.1f ms", seconds * 1e3);
	else
		snprintf(out, VALUE_MAX, "%.3f s", seconds);
	return out;
}

static const char *format_count(double count, char *out)
{
	if (count < 1e7)
		snprintf(out, VALUE_MAX, "%.0f", count);
	else if (count < 1e9)
		snprintf(out, VALUE_MAX, "%.2f million", count / 1e6);
	else
		snprintf(out, VALUE_MAX, "%.3f billion", count / 1e9);
	return out;
}

/* @out: at least VALUE_MAX bytes, which is what format_bytes() wants too */
static const char *format_value(enum app_unit unit, double value, char *out)
{
	switch (unit) {
	case UNIT_SECONDS:
		return format_seconds(value, out);
	case UNIT_BYTES:
		return format_bytes((uint64_t)value, out);
	case UNIT_COUNT:
		break;
	}
	return format_count(value, out);
}

/* "812.3 ms (801.0 ms - 830.1 ms)" */
static int format_spread(
	const struct bench_app *bench, enum app_way way, size_t metric, char out[CELL_MAX])
{
	char median[VALUE_MAX], low[VALUE_MAX], high[VALUE_MAX];
	enum app_unit unit = bench_app_unit(metric);
	struct spread spread;

	snprintf(out, CELL_MAX, "unknown");
	if (!bench_app_is_known(bench, way, metric))
		return 0;
	if (spread_of(bench->sides[way].values[metric], bench->runs, &spread))
		return -ENOMEM;
	format_value(unit, spread.median, median);
	if (spread.p10 < spread.p90)
		snprintf(out, CELL_MAX, "%s (%s - %s)", median,
			format_value(unit, spread.p10, low), format_value(unit, spread.p90, high));
	else
		snprintf(out, CELL_MAX, "%s", median);
	return 0;
}

/* struct row - what is said of both ways; behind may be "" */
struct row {
	const char *label;
	const char *plain;
	const char *shim;
	const char *behind;
};

static int label_width(const struct bench_app *bench)
{
	size_t width = LABEL_WIDTH_MIN, metric;

	for (metric = 0; metric < bench_app_metric_count(bench); metric++) {
		size_t length = strlen(bench_app_label(bench, metric));

		if (length > width)
			width = length;
	}
	return (int)width;
}

static void print_row(FILE *stream, const struct bench_app *bench, const struct row *row)
{
	fprintf(stream, "%-*s %-*s ", label_width(bench), row->label, CELL_WIDTH, row->plain);
	if (*row->behind)
		fprintf(stream, "%-*s %s\n", CELL_WIDTH, row->shim, row->behind);
	else
		fprintf(stream, "%s\n", row->shim);
}

static int print_metric(FILE *stream, const struct bench_app *bench, size_t metric)
{
	char plain[CELL_MAX], shim[CELL_MAX], behind[CELL_MAX] = "";
	struct row row = {bench_app_label(bench, metric), plain, shim, behind};
	struct ratio ratio;
	int err = format_spread(bench, APP_PLAIN, metric, plain);

	if (!err)
		err = format_spread(bench, APP_SHIM, metric, shim);
	if (err)
		return err;
	err = bench_app_ratio(bench, metric, &ratio);
	if (err && err != -ENODATA)
		return err;
	if (!err)
		snprintf(behind, sizeof(behind), "%.3f [%.3f, %.3f]", ratio.median, ratio.low,
			ratio.high);
	print_row(stream, bench, &row);
	return 0;
}

/* "60 MiB of 62 MiB", "2 of 3", or "unknown" */
static void format_text(const struct app_side *side, char mapped[CELL_MAX], char congruent[CELL_MAX])
{
	const struct totals *totals = &side->snapshot.totals;
	char part[FORMAT_BYTES_MAX], whole[FORMAT_BYTES_MAX];

	snprintf(mapped, CELL_MAX, "unknown");
	snprintf(congruent, CELL_MAX, "unknown");
	if (!side->seen)
		return;
	snprintf(mapped, CELL_MAX, "%s of %s", format_bytes(totals->block_mapped_bytes, part),
		format_bytes(totals->whole_bytes, whole));
	snprintf(congruent, CELL_MAX, "%" PRIu64 " of %" PRIu64, totals->congruent,
		totals->eligible);
}

/* Of the command's own process, as it ended, in a run that was not timed. */
static void print_look(FILE *stream, const struct bench_app *bench)
{
	char mapped[APP_WAY_COUNT][CELL_MAX], congruent[APP_WAY_COUNT][CELL_MAX];
	char pss[APP_WAY_COUNT][FORMAT_BYTES_MAX], dirty[APP_WAY_COUNT][FORMAT_BYTES_MAX];
	const struct row rows[] = {
		{"congruent", congruent[APP_PLAIN], congruent[APP_SHIM], ""},
		{"block-mapped", mapped[APP_PLAIN], mapped[APP_SHIM], ""},
		{"PSS", pss[APP_PLAIN], pss[APP_SHIM], ""},
		{"private dirty", dirty[APP_PLAIN], dirty[APP_SHIM], ""},
	};
	unsigned int way;
	size_t i;

	for (way = 0; way < APP_WAY_COUNT; way++) {
		const struct app_side *side = &bench->sides[way];
		const struct memory *memory = &side->snapshot.memory;

		format_text(side, mapped[way], congruent[way]);
		format_bytes(side->seen ? memory->pss_bytes : UNKNOWN_BYTES, pss[way]);
		format_bytes(
			side->seen ? memory->private_dirty_bytes : UNKNOWN_BYTES, dirty[way]);
	}
	fputs("\nAs the command ended, in an extra run\n", stream);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		print_row(stream, bench, &rows[i]);
}

/* What the ratio means, for those who do not read intervals. */
static int print_verdict(FILE *stream, const struct bench_app *bench, size_t metric)
{
	const char *label = bench_app_label(bench, metric);
	struct ratio ratio;
	double percent;
	int err = bench_app_ratio(bench, metric, &ratio);

	if (err)
		return err == -ENODATA ? 0 : err;
	percent = fabs(1 - ratio.median) * 100;
	if (ratio_is_noise(&ratio))
		fprintf(stream, "%s: the difference is inside the noise of %" PRIu64 " runs\n",
			label, bench->runs);
	else
		fprintf(stream, "%s: %.1f %% %s with the shim\n", label, percent,
			ratio.median < 1 ? "less" : "more");
	return 0;
}

/* Counters that cannot be had for the same reason share a line. */
static void print_troubles(FILE *stream, const struct counters *counters)
{
	size_t i;

	for (i = 0; i < counters->count; i++) {
		const struct counter *counter = &counters->list[i];
		bool goes_on = i + 1 < counters->count &&
			       !strcmp(counter->trouble, counters->list[i + 1].trouble);

		if (!counter->trouble[0])
			continue;
		fputs(counter->label, stream);
		if (goes_on)
			fputs(", ", stream);
		else
			fprintf(stream, ": unknown: %s\n", counter->trouble);
	}
}

static void print_mapping_notes(FILE *stream, const struct bench_app *bench)
{
	const struct app_side *plain = &bench->sides[APP_PLAIN], *shim = &bench->sides[APP_SHIM];
	const struct totals *totals = &shim->snapshot.totals;

	if (!plain->seen || !shim->seen) {
		fputs("what is mapped is unknown: the process could not be looked at\n", stream);
		return;
	}
	if (plain->snapshot.shim != SHIM_ABSENT)
		fputs("plain was under the shim too, from /etc/ld.so.preload or by the command "
		      "itself: nothing is compared here\n",
			stream);
	if (shim->snapshot.shim == SHIM_ABSENT)
		fputs("the command ended without the shim: it drops LD_PRELOAD, or is a script that "
		      "does\n",
			stream);
	if (!totals->eligible)
		fputs("none of what the command's own process maps holds a whole block: there is "
		      "nothing to map large\n",
			stream);
	else if (totals->block_mapped_bytes < totals->touched_bytes)
		fputs("not all that is touched is mapped large: execalign report -- CMD tells why\n",
			stream);
}

static void print_head(FILE *stream, const struct bench_app *bench)
{
	const struct row titles = {"", "plain", "shim", "ratio"};
	char *const *word;

	for (word = bench->command; *word; word++) {
		if (word != bench->command)
			fputc(' ', stream);
		print_escaped(stream, *word);
	}
	fprintf(stream,
		"\n%" PRIu64 " runs of each way in turn, Linux %s %s\n"
		"Median (first - last decile), and the ratio of shim to plain [95 %%]\n\n",
		bench->runs, bench->machine.uname.release, bench->machine.uname.machine);
	print_row(stream, bench, &titles);
}

/* Counters that no run has are a note, not a row. */
static bool has_row(const struct bench_app *bench, size_t metric)
{
	return metric < RUN_METRIC_COUNT ||
	       !bench->counters.list[metric - RUN_METRIC_COUNT].trouble[0];
}

int bench_app_print_text(FILE *stream, const struct bench_app *bench)
{
	size_t metric;
	int err = 0;

	print_head(stream, bench);
	for (metric = 0; !err && metric < bench_app_metric_count(bench); metric++)
		if (has_row(bench, metric))
			err = print_metric(stream, bench, metric);
	if (err)
		return err;
	print_look(stream, bench);
	fputc('\n', stream);
	err = print_verdict(stream, bench, RUN_WALL);
	if (!err)
		err = print_verdict(stream, bench, RUN_CPU);
	print_mapping_notes(stream, bench);
	print_troubles(stream, &bench->counters);
	return err;
}
