/* SPDX-License-Identifier: MIT */
/*
 * status.h - /proc/PID/status: what it says about filters, parent and tracer
 */
#ifndef EA_SHIM_STATUS_H
#define EA_SHIM_STATUS_H

#include <stdint.h>

/* Of the calling thread: filters belong to threads, and a program may lock in only one. */
#define EA_STATUS_OF_THREAD "/proc/thread-self/status"

struct ea_status {
	uint64_t parent; /* pid; 0 when it cannot be seen from here */
	uint64_t tracer; /* pid; 0 for none */
	int filters;	 /* seccomp filters; kernels before 5.9 only tell that there is one: 1 */
};

/*
 * ea_status_read - 0 or -errno
 * Opens, reads and closes the file, and makes no other system call.
 */
int ea_status_read(const char *path, struct ea_status *status);

#endif
