/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters.h"

/* struct usual - what is counted unasked, by the first name that the processor has */
struct usual {
	const char *label;
	const char *events[6];
};

static const struct usual usual_counters[] = {
	{"instructions", {"perf::INSTRUCTIONS"}},
	{"cycles", {"perf::CYCLES"}},
	/* Walks of page tables; where those are not told apart, misses of the first level. */
	{"iTLB walks",
		{"ITLB_WALK", "ITLB_MISSES:WALK_COMPLETED", "L1_ITLB_MISS_L2_ITLB_MISS",
			"perf::ITLB-LOAD-MISSES"}},
};

#define USUAL_COUNT (sizeof(usual_counters) / sizeof(usual_counters[0]))

static int perf_open(const struct counter *counter, pid_t pid)
{
	struct perf_event_attr attr = counter->attr;

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Has libpfm4 translate the name. */
static bool encode(const char *event, struct perf_event_attr *attr)
{
	pfm_perf_encode_arg_t arg = {.attr = attr, .size = sizeof(arg)};

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	/* Once is enough, and more does no harm. */
	if (pfm_initialize() != PFM_SUCCESS)
		return false;
	if (pfm_get_os_event_encoding(event, PFM_PLM3, PFM_OS_PERF_EVENT, &arg) != PFM_SUCCESS)
		return false;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->disabled = 1;
	attr->enable_on_exec = 1;
	attr->inherit = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	return true;
}

/* What the processor has, the machine may hide: only opening it tells. */
static void try(struct counter *counter)
{
	int fd = perf_open(counter, 0);

	counter->trouble[0] = '\0';
	if (fd >= 0)
		close(fd);
	else if (perf_refusal(errno, counter->trouble))
		snprintf(counter->trouble, sizeof(counter->trouble),
			errno == ENOENT || errno == EOPNOTSUPP || errno == EINVAL
				? "this machine does not count that, as most virtual ones do not"
				: "it cannot be counted: %s",
			strerror(errno));
}

static struct counter *add(struct counters *counters, const char *label)
{
	struct counter *counter = &counters->list[counters->count++];

	counter->label = label;
	counter->fd = -1;
	return counter;
}

void counters_add_usual(struct counters *counters)
{
	size_t i;

	for (i = 0; i < USUAL_COUNT; i++) {
		struct counter *counter = add(counters, usual_counters[i].label);
		const char *const *event = usual_counters[i].events;

		snprintf(counter->trouble, sizeof(counter->trouble),
			"libpfm4 has no name for it on this processor; name one with --event");
		for (; *event; event++) {
			if (!encode(*event, &counter->attr))
				continue;
			counter->event = *event;
			try(counter);
			if (!counter->trouble[0])
				break;
		}
	}
}

int counters_add(struct counters *counters, const char *event)
{
	struct perf_event_attr attr;
	struct counter *counter;

	if (counters->count == COUNTERS_MAX)
		return -ENOSPC;
	if (!encode(event, &attr))
		return -EINVAL;
	counter = add(counters, event);
	counter->event = event;
	counter->attr = attr;
	try(counter);
	return 0;
}

int counters_open(struct counters *counters, pid_t pid)
{
	size_t i;

	for (i = 0; i < counters->count; i++) {
		struct counter *counter = &counters->list[i];

		if (counter->trouble[0])
			continue;
		counter->fd = perf_open(counter, pid);
		if (counter->fd < 0)
			return -errno;
	}
	return 0;
}

/* With more events than counters the kernel takes turns: what it saw stands for all of the time. */
static double read_scaled(int fd)
{
	struct {
		uint64_t value;
		uint64_t enabled_ns;
		uint64_t running_ns;
	} got;

	if (read(fd, &got, sizeof(got)) != sizeof(got) || !got.running_ns)
		return NAN;
	return (double)got.value * ((double)got.enabled_ns / (double)got.running_ns);
}

void counters_close(struct counters *counters, double *values)
{
	size_t i;

	for (i = 0; i < counters->count; i++) {
		struct counter *counter = &counters->list[i];

		if (values)
			values[i] = counter->fd < 0 ? NAN : read_scaled(counter->fd);
		if (counter->fd >= 0)
			close(counter->fd);
		counter->fd = -1;
	}
}
