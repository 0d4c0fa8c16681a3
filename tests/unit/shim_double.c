/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "shim/seccomp.h"
#include "shim_calls.h"
#include "shim_double.h"

#define STDERR 2

struct shim_double shim_double;
struct ea_elf_dyn shim__DYNAMIC[1];
struct r_debug shim__r_debug;
char **shim_environ;

void shim_double_reset(void)
{
	memset(&shim_double, 0, sizeof(shim_double));
	shim_double.fail_number = -1;
	memset(&shim__r_debug, 0, sizeof(shim__r_debug));
	shim_environ = NULL;
}

static long keep_output(const char *text, size_t bytes)
{
	size_t room = sizeof(shim_double.output) - 1 - shim_double.output_bytes;
	size_t kept = bytes < room ? bytes : room;

	memcpy(shim_double.output + shim_double.output_bytes, text, kept);
	shim_double.output_bytes += kept;
	shim_double.output[shim_double.output_bytes] = '\0';
	shim_double.writes++;
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
	if (number == shim_double.fail_number)
		return shim_double.fail_result;
	switch (number) {
	case SYS_execve:
		return refuse_exec((const char *)a, (char *const *)b, (char *const *)c);
	case SYS_write:
		if (a == STDERR)
			return keep_output((const char *)b, (size_t)c);
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

const char *ea_seccomp_refuses(int *filters)
{
	*filters = shim_double.seccomp_filters;
	return shim_double.seccomp_reason;
}
