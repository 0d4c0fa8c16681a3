/* SPDX-License-Identifier: MIT */
/*
 * memory.h - what a process takes of the machine's memory
 */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stdint.h>

/* struct memory - either is UNKNOWN_BYTES if it could not be read */
struct memory {
	uint64_t pss_bytes;	      /* its share of what it maps, others' shares left out */
	uint64_t private_dirty_bytes; /* its own, that no file has */
};

/*
 * memory_read - read smaps_rollup, which a kernel has since 4.14
 * @proc_fd: /proc/PID
 *
 * Context: the process is ours to read, and has not ended.
 */
void memory_read(int proc_fd, struct memory *out);

#endif
