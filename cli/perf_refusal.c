/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "perf_refusal.h"

/* Inherited filters are the likeliest reason for a refusal that nothing else explains. */
static bool under_seccomp_filter(void)
{
	struct buffer status;
	bool found;

	if (read_file_at(AT_FDCWD, "/proc/self/status", &status))
		return false;
	found = strstr(status.data, "\nSeccomp:\t2\n") != NULL;
	free(status.data);
	return found;
}

int perf_refusal(int err, char *out)
{
	bool filter = under_seccomp_filter();
	char paranoid[32];

	switch (err) {
	case EACCES:
	case EPERM:
		if (read_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid)))
			snprintf(paranoid, sizeof(paranoid), "unknown");
		snprintf(out, PERF_REFUSAL_MAX,
			"perf events are refused (%s, perf_event_paranoid %s%s); %s"
			"sysctl kernel.perf_event_paranoid=2, or be root (CAP_PERFMON)",
			strerror(err), paranoid, filter ? ", under a seccomp filter" : "",
			filter ? "let the filter allow perf_event_open, " : "");
		return 0;
	case ENOSYS:
		snprintf(out, PERF_REFUSAL_MAX,
			"this kernel has no perf events%s; use one with CONFIG_PERF_EVENTS",
			filter ? ", or a seccomp filter hides them" : "");
		return 0;
	default:
		return -EINVAL;
	}
}
