/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "clock.h"

double now_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
