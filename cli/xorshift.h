/* SPDX-License-Identifier: MIT */
/*
 * xorshift.h - numbers to draw by, the same in every run: Marsaglia's xorshift64
 *
 * In a header, since one of its users draws millions of them between two looks at the clock.
 */
#ifndef CLI_XORSHIFT_H
#define CLI_XORSHIFT_H

#include <stdint.h>

/*
 * xorshift_below - the next number
 * @state: the seed at first; not 0
 * @bound: less than 2^32
 *
 * Returns 0 to @bound - 1. Any context.
 */
static inline uint64_t xorshift_below(uint64_t *state, uint64_t bound)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	/* The upper half is the better one. */
	return (*state >> 32) * bound >> 32;
}

#endif
