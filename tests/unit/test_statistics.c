/* SPDX-License-Identifier: MIT */
/*
 * test_statistics.c - cli/statistics.h: quantiles and ratios of repeated measurements
 */
#include <string.h>

#include "cli/statistics.h"
#include "unit.h"

#define COUNT 25

static struct ratio ratio_between(const double *values, const double *base, size_t count)
{
	struct ratio ratio = {0};

	CHECK(!ratio_of(values, base, count, &ratio), "no memory");
	return ratio;
}

TEST(statistics, spread)
{
	/* Not in order, and left so. */
	const double values[] = {7, 1, 10, 3, 5, 9, 2, 8, 6, 4};
	double copy[COUNT_OF(values)];
	struct spread spread;

	memcpy(copy, values, sizeof(values));
	CHECK(!spread_of(copy, COUNT_OF(values), &spread), "no memory");
	CHECK(spread.median == 5.5, "median of 1..10: %g", spread.median);
	CHECK(spread.p10 == 1, "first decile: %g", spread.p10);
	CHECK(spread.p90 == 9, "last decile: %g", spread.p90);
	CHECK(!memcmp(copy, values, sizeof(values)), "the values were moved");

	CHECK(!spread_of(values, 1, &spread), "no memory");
	CHECK(spread.median == 7 && spread.p10 == 7 && spread.p90 == 7, "of one value");
	CHECK(!spread_of(values, 3, &spread), "no memory");
	CHECK(spread.median == 7 && spread.p10 == 1 && spread.p90 == 10, "of three values");
}

/* What slows both down by the same factor does not show. */
TEST(statistics, pairs)
{
	double base[COUNT], values[COUNT];
	struct ratio ratio;
	size_t i;

	for (i = 0; i < COUNT; i++) {
		base[i] = (double)(1 + i * i);
		values[i] = base[i] * 0.75;
	}
	ratio = ratio_between(values, base, COUNT);
	CHECK(ratio.median == 0.75 && ratio.low == 0.75 && ratio.high == 0.75,
		"a constant ratio: %g [%g, %g]", ratio.median, ratio.low, ratio.high);
	CHECK(!ratio_is_noise(&ratio), "0.75 is called noise");
}

/* Ratios spread evenly around @middle. */
static struct ratio spread_around(double middle)
{
	double base[COUNT], values[COUNT];
	size_t i;

	for (i = 0; i < COUNT; i++) {
		base[i] = 100;
		values[i] = 100 * middle + (double)i - (COUNT - 1) / 2;
	}
	return ratio_between(values, base, COUNT);
}

TEST(statistics, interval)
{
	struct ratio ratio = spread_around(1);

	CHECK(ratio.median == 1, "median: %g", ratio.median);
	CHECK(ratio_is_noise(&ratio), "[%g, %g] is called a difference", ratio.low, ratio.high);
	/*
	 * The exact interval of the median of 25 values lies between the 8th and the 18th, 5 places from
	 * the middle; a bootstrap's is a little narrower.
	 */
	CHECK(ratio.low >= 0.94 && ratio.low <= 0.97, "lower end: %g", ratio.low);
	CHECK(ratio.high >= 1.03 && ratio.high <= 1.06, "upper end: %g", ratio.high);

	ratio = spread_around(0.9);
	CHECK(!ratio_is_noise(&ratio), "[%g, %g] is called noise", ratio.low, ratio.high);
	ratio = spread_around(1.1);
	CHECK(!ratio_is_noise(&ratio), "[%g, %g] is called noise", ratio.low, ratio.high);
}

TEST(statistics, repeatable)
{
	struct ratio first = spread_around(0.97), second = spread_around(0.97);

	CHECK(first.low == second.low && first.high == second.high, "[%g, %g], then [%g, %g]",
		first.low, first.high, second.low, second.high);
}
