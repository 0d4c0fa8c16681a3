/* SPDX-License-Identifier: MIT */
/*
 * statistics.h - what repeated measurements say: quantiles, and the ratio of two ways of doing it
 *
 * On a machine that others use, times are not normally distributed: they have a floor and a long
 * tail. Nothing here assumes a distribution.
 */
#ifndef CLI_STATISTICS_H
#define CLI_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* struct spread - what the values of one way are */
struct spread {
	double median;
	double p10;
	double p90;
};

/* struct ratio - one way against another, and the interval that holds the true ratio at 95 % */
struct ratio {
	double median;
	double low;
	double high;
};

/*
 * spread_of - median, first and last decile (nearest rank)
 * @values: @count of them, at least one; left as they are
 * @out: filled on success only
 *
 * Returns 0 or -ENOMEM. Any context.
 */
int spread_of(const double *values, size_t count, struct spread *out);

/*
 * ratio_of - the median of @values[i] / @base[i], pairs being measured next to each other
 * @values: @count of them, at least one, as of @base, all above 0
 * @out: filled on success only
 *
 * The interval is a bootstrap's: the pairs are drawn anew, with replacement, 10,000 times, and the
 * medians of the draws are ranked. The draws are the same ones each time, so the same measurements
 * give the same interval. With one pair, it has no width, and says nothing.
 *
 * Returns 0 or -ENOMEM. Any context.
 */
int ratio_of(const double *values, const double *base, size_t count, struct ratio *out);

/* ratio_is_noise - could the true ratio be 1? */
bool ratio_is_noise(const struct ratio *ratio);

#endif
