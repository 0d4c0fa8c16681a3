/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/seccomp.h"
#include "shim_calls.h"
#include "shim_double.h"

#define STDERR 2

struct shim_double shim_double;
struct ea_elf_dyn shim__DYNAMIC[1];
struct r_debug shim__r_debug;

void shim_double_reset(void)
{
	while (shim_double.file_count)
		close(shim_double.files[--shim_double.file_count].fd);
	memset(&shim_double, 0, sizeof(shim_double));
	shim_double.fail_number = -1;
	memset(&shim__r_debug, 0, sizeof(shim__r_debug));
}

void shim_double_serve(const char *path, const void *head, size_t bytes, size_t file_bytes)
{
	int fd = (int)syscall(SYS_memfd_create, "shim_double", 0);

	if (fd < 0 || shim_double.file_count == SHIM_DOUBLE_FILES ||
		write(fd, head, bytes) != (ssize_t)bytes || ftruncate(fd, (off_t)file_bytes))
		abort();
	shim_double.files[shim_double.file_count++] = (struct shim_double_file){path, fd};
}

/* Where the kernel finds what the shim calls @path: @buf, or @path itself. */
static const char *served_path(const char *path, char *buf, size_t size)
{
	unsigned int i;

	for (i = 0; i < shim_double.file_count; i++) {
		if (strcmp(path, shim_double.files[i].path))
			continue;
		snprintf(buf, size, "/proc/self/fd/%d", shim_double.files[i].fd);
		return buf;
	}
	return path;
}

static long keep_output(const char *text, size_t bytes)
{
	size_t room = sizeof(shim_double.output) - 1 - shim_double.output_bytes;
	size_t kept = bytes < room ? bytes : room;

	memcpy(shim_double.output + shim_double.output_bytes, text, kept);
	shim_double.output_bytes += kept;
	shim_double.output[shim_double.output_bytes] = '\0';
	shim_double.writes++;
	if (shim_double.write_signal) {
		raise(shim_double.write_signal);
		return -EPIPE;
	}
	return (long)bytes;
}

static long refuse_exec(const char *path, char *const *argv, char *const *envp)
{
	shim_double.execs++;
	if (shim_double.on_exec)
		shim_double.on_exec(path, argv, envp);
	return -EPERM;
}

long sys_call6(long number, long a, long b, long c, long d, long e, long f)
{
	char path[32];

	if (number == shim_double.fail_number)
		return shim_double.fail_result;
	switch (number) {
	case SYS_execve:
		return refuse_exec((const char *)a, (char *const *)b, (char *const *)c);
	case SYS_write:
		if (a == STDERR)
			return keep_output((const char *)b, (size_t)c);
		break;
	case SYS_openat:
	case SYS_newfstatat:
		b = (long)served_path((const char *)b, path, sizeof(path));
		break;
	case SYS_personality:
		return shim_double.personality;
	case SYS_mmap:
		shim_double.mmaps++;
		break;
	case SYS_munmap:
		shim_double.munmaps++;
		break;
	}
	return sys_call6_real(number, a, b, c, d, e, f);
}

const char *ea_seccomp_refuses(int *filters, int must_try)
{
	shim_double.seccomp_must_try = must_try;
	*filters = shim_double.seccomp_filters;
	return shim_double.seccomp_reason;
}
