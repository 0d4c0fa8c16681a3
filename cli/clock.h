/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the time that has passed, whatever happens to the time of day
 */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

/* now_seconds - CLOCK_MONOTONIC in seconds, exact to a nanosecond or so. Any context. */
double now_seconds(void);

#endif
