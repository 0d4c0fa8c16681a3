/* SPDX-License-Identifier: MIT */
/*
 * bench_exec_text.c - what execalign bench exec measured, for people
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "bench_exec.h"
#include "format.h"

/* Room for what is printed of one metric, and where in it the ratio begins. */
#define CELL_MAX 128
#define RATIO_COLUMN 28

/* "  412.3 (401.0 - 430.9)   0.710 [0.690, 0.730]", the ratio being to misplaced code */
static int format_metric(char *out, size_t out_bytes, const struct bench_exec *bench,
	const struct measured *measured, enum metric metric)
{
	const struct measured *base = &bench->ways[WAY_MISPLACED];
	struct spread spread;
	struct ratio ratio;
	char range[40];
	int used;

	snprintf(out, out_bytes, "unknown");
	if (!bench_exec_is_known(bench, measured, metric))
		return 0;
	if (spread_of(measured->values[metric], bench->rounds, &spread))
		return -ENOMEM;
	snprintf(range, sizeof(range), "(%.1f - %.1f)", spread.p10, spread.p90);
	used = snprintf(out, out_bytes, "%7.1f %s", spread.median, range);
	if (measured == base || !bench_exec_is_known(bench, base, metric))
		return 0;
	if (ratio_of(measured->values[metric], base->values[metric], bench->rounds, &ratio))
		return -ENOMEM;
	snprintf(out + used, out_bytes - (size_t)used, "%*s%.3f [%.3f, %.3f]",
		used < RATIO_COLUMN ? RATIO_COLUMN - used : 1, "", ratio.median, ratio.low,
		ratio.high);
	return 0;
}

static int print_way(FILE *stream, const struct bench_exec *bench, const struct measured *measured)
{
	char large[FORMAT_BYTES_MAX];
	char cold[CELL_MAX], random[CELL_MAX];
	int err;

	if (measured->error)
		return 0;
	err = format_metric(cold, sizeof(cold), bench, measured, METRIC_COLD);
	if (!err)
		err = format_metric(random, sizeof(random), bench, measured, METRIC_RANDOM);
	if (!err)
		fprintf(stream, "%-10s %12s  %-50s  %s\n", way_name(measured->way),
			format_bytes(measured->large_bytes, large), cold, random);
	return err;
}

static void print_missing(
	FILE *stream, const struct bench_exec *bench, const struct measured *measured)
{
	char block[FORMAT_BYTES_MAX];

	if (measured->error != -ENOMEM || measured->way != WAY_HUGETLB) {
		fprintf(stream, "%s: not measured: %s\n", way_name(measured->way),
			strerror(-measured->error));
		return;
	}
	fprintf(stream,
		"hugetlb: not measured: the pool does not have %" PRIu64
		" free pages of %s (vm.nr_hugepages)\n",
		bench->bytes / bench->block_bytes, format_bytes(bench->block_bytes, block));
}

/* What the table cannot be believed without. */
static void print_doubts(
	FILE *stream, const struct bench_exec *bench, const struct measured *measured)
{
	char left[FORMAT_BYTES_MAX], large[FORMAT_BYTES_MAX], all[FORMAT_BYTES_MAX];
	const char *name = way_name(measured->way);

	if (measured->error) {
		print_missing(stream, bench, measured);
		return;
	}
	if (!bench_exec_is_cold(bench, measured))
		fprintf(stream, "%s: cold is unknown: up to %s could not be evicted\n", name,
			format_bytes(measured->left_bytes, left));
	if (!bench_exec_is_as_claimed(bench, measured))
		fprintf(stream, "%s: not what its name says: %s of %s are mapped large%s\n", name,
			format_bytes(measured->large_bytes, large), format_bytes(bench->bytes, all),
			measured->way == WAY_ADVISED ? "; execalign doctor tells why" : "");
	if (measured->large_bytes == UNKNOWN_BYTES)
		fprintf(stream, "%s: what is mapped large takes root to see\n", name);
}

/* The copy is the limit of what can be had: how far away is it? */
static int print_limit(FILE *stream, const struct bench_exec *bench)
{
	const struct measured *advised = &bench->ways[WAY_ADVISED];
	const struct measured *limit = &bench->ways[WAY_ANONYMOUS];
	struct ratio ratio;

	if (advised->error || limit->error || !bench_exec_is_as_claimed(bench, limit))
		return 0;
	if (ratio_of(advised->values[METRIC_RANDOM], limit->values[METRIC_RANDOM], bench->rounds,
		    &ratio))
		return -ENOMEM;
	fprintf(stream, "advised against anonymous, random: %.3f [%.3f, %.3f]%s\n", ratio.median,
		ratio.low, ratio.high, ratio_is_noise(&ratio) ? ", inside the noise" : "");
	return 0;
}

int bench_exec_print_text(FILE *stream, const struct bench_exec *bench)
{
	char size[FORMAT_BYTES_MAX], block[FORMAT_BYTES_MAX];
	unsigned int way;
	int err = 0;

	fprintf(stream,
		"%s of code on %s, blocks of %s, Linux %s %s, %" PRIu64 " rounds of %" PRIu64
		" calls\nMedian (first - last decile), and the ratio to misplaced [95 %%]\n\n",
		format_bytes(bench->bytes, size), *bench->fs_type ? bench->fs_type : "unknown",
		format_bytes(bench->block_bytes, block), bench->machine.uname.release,
		bench->machine.uname.machine, bench->rounds, bench->calls);
	fprintf(stream, "%-10s %12s  %-50s  %s\n", "", "mapped large", "   cold, ms",
		"   random, ns per call");
	for (way = 0; !err && way < WAY_COUNT; way++)
		err = print_way(stream, bench, &bench->ways[way]);
	fputc('\n', stream);
	if (!err)
		err = print_limit(stream, bench);
	for (way = 0; way < WAY_COUNT; way++)
		print_doubts(stream, bench, &bench->ways[way]);
	return err;
}
