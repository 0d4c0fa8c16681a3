/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "statistics.h"
#include "xorshift.h"

#define DRAWS 10000

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
}

static double sorted_median(const double *sorted, size_t count)
{
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* By nearest rank: one of the values, never one between two. */
static double sorted_quantile(const double *sorted, size_t count, double quantile)
{
	double exact = quantile * (double)count;
	size_t rank = (size_t)exact;

	if ((double)rank < exact)
		rank++;
	return sorted[rank ? rank - 1 : 0];
}

int spread_of(const double *values, size_t count, struct spread *out)
{
	double *sorted = malloc(count * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, values, count * sizeof(*sorted));
	sort(sorted, count);
	out->median = sorted_median(sorted, count);
	out->p10 = sorted_quantile(sorted, count, 0.1);
	out->p90 = sorted_quantile(sorted, count, 0.9);
	free(sorted);
	return 0;
}

static void bootstrap(
	const double *ratios, size_t count, double *drawn, double *medians, struct ratio *out)
{
	uint64_t state = 0x9e3779b97f4a7c15;
	size_t i, j;

	for (i = 0; i < DRAWS; i++) {
		for (j = 0; j < count; j++)
			drawn[j] = ratios[xorshift_below(&state, count)];
		sort(drawn, count);
		medians[i] = sorted_median(drawn, count);
	}
	sort(medians, DRAWS);
	out->low = sorted_quantile(medians, DRAWS, 0.025);
	out->high = sorted_quantile(medians, DRAWS, 0.975);
}

int ratio_of(const double *values, const double *base, size_t count, struct ratio *out)
{
	double *ratios = malloc(count * sizeof(*ratios));
	double *drawn = malloc(count * sizeof(*drawn));
	double *medians = malloc(DRAWS * sizeof(*medians));
	int err = -ENOMEM;
	size_t i;

	if (!ratios || !drawn || !medians)
		goto out;
	for (i = 0; i < count; i++)
		ratios[i] = values[i] / base[i];
	sort(ratios, count);
	out->median = sorted_median(ratios, count);
	bootstrap(ratios, count, drawn, medians, out);
	err = 0;
out:
	free(medians);
	free(drawn);
	free(ratios);
	return err;
}

bool ratio_is_noise(const struct ratio *ratio)
{
	return ratio->low <= 1 && ratio->high >= 1;
}
