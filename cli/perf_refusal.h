/* SPDX-License-Identifier: MIT */
/*
 * perf_refusal.h - why perf_event_open(2) refuses, and what to do about it
 */
#ifndef CLI_PERF_REFUSAL_H
#define CLI_PERF_REFUSAL_H

#include <stddef.h>

/* Room for any explanation. */
#define PERF_REFUSAL_MAX 256

/*
 * perf_refusal - explain EACCES, EPERM and ENOSYS
 * @err: errno of perf_event_open(2)
 * @out: at least PERF_REFUSAL_MAX bytes: the reason, and after a semicolon the remedy
 *
 * Returns 0, or -EINVAL for any other error: those depend on what was asked for. Context: /proc is
 * mounted.
 */
int perf_refusal(int err, char *out);

#endif
