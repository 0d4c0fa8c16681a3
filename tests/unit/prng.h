/* SPDX-License-Identifier: MIT */
/*
 * prng.h - numbers that look random and are the same in every run (the SplitMix64 sequence)
 */
#ifndef PRNG_H
#define PRNG_H

#include <stdint.h>

/* struct prng - the state is the seed */
struct prng {
	uint64_t state;
};

/* prng_next - 64 bits */
static inline uint64_t prng_next(struct prng *prng)
{
	uint64_t bits;

	prng->state += 0x9e3779b97f4a7c15;
	bits = prng->state;
	bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
	bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
	return bits ^ (bits >> 31);
}

/* prng_below - 0 to @bound - 1 */
static inline uint64_t prng_below(struct prng *prng, uint64_t bound)
{
	return prng_next(prng) % bound;
}

/* prng_one_in - true once in @count times */
static inline int prng_one_in(struct prng *prng, uint64_t count)
{
	return !prng_below(prng, count);
}

/* prng_size - @low to @high bytes in multiples of @unit, every doubling equally often */
static inline uint64_t prng_size(struct prng *prng, uint64_t low, uint64_t high, uint64_t unit)
{
	unsigned int doublings = 0;
	uint64_t size;

	while (low << (doublings + 1) <= high)
		doublings++;
	size = low << prng_below(prng, doublings + 1);
	size += prng_below(prng, size);
	if (size > high)
		size = high;
	return size / unit * unit;
}

#endif
