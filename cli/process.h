/* SPDX-License-Identifier: MIT */
/*
 * process.h - another process as /proc shows it
 *
 * The process may end, or execute another program, at any moment; its files may be deleted,
 * replaced, or in another mount namespace. Everything is read relative to one descriptor of
 * /proc/PID, so that a PID that is used again is not taken for the same process.
 */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "io.h"
#include "maps.h"
#include "mounts.h"

/* struct process - an open process */
struct process {
	int pid;
	int dir_fd;		 /* /proc/PID */
	char comm[64];		 /* "?" if it could not be read */
	char state;		 /* of /proc/PID/stat: 'Z' is a zombie */
	bool kernel_thread;
	bool thp_disabled;	 /* prctl(PR_SET_THP_DISABLE) */
	uint64_t entry;		 /* AT_ENTRY: in the program that the kernel started */
	uint64_t loader_base;	 /* AT_BASE: of the loader that the kernel mapped; 0: none */
	struct buffer environ;	 /* as it stands in the process's memory; may be empty */
	struct mounts mounts;
};

/*
 * process_open - open /proc/PID and read what is cheap
 *
 * Fields that the caller may not read stay 0. Returns 0, or -ESRCH when there is no such process.
 * Free with process_close(). Any context.
 */
int process_open(int pid, struct process *out);

void process_close(struct process *process);

/* process_state - the state letter of /proc/PID/stat now, 0 when the process has gone */
char process_state(const struct process *process);

/* process_variable - value of an environment variable, or NULL */
const char *process_variable(const struct process *process, const char *name);

/*
 * process_maps - read smaps, or maps on a kernel without smaps
 *
 * Returns 0; -ESRCH when the process has gone; -EACCES when it is not ours; or -errno. A process
 * without memory, a zombie or a kernel thread, has no mappings.
 */
int process_maps(const struct process *process, struct maps *out);

/* struct mapped_file - the file behind a mapping */
struct mapped_file {
	int fd;			 /* -1: not accessible, see error */
	int error;		 /* -errno; -EPERM: CAP_SYS_ADMIN would help */
	bool from_memory;	 /* fd is /proc/PID/mem: headers only */
	uint64_t base;		 /* as for elf_file_read() */
	uint64_t file_bytes;
	char path[PATH_MAX];	 /* for people: unescaped, without " (deleted)" */
	bool deleted;
};

/*
 * process_open_file - open the very file that is mapped
 * @vma: one of its mappings
 * @head: its mapping of file offset 0, or NULL
 * @out: path and deleted are always filled; close fd
 *
 * The name is looked up in the process's own mount namespace and believed only if inode and device
 * are those of the mapping; else map_files leads to the file (CAP_SYS_ADMIN); else its headers are
 * read out of the process's memory. Any context.
 */
void process_open_file(const struct process *process, const struct vma *vma,
	const struct vma *head, struct mapped_file *out);

#endif
