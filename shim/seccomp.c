/* SPDX-License-Identifier: MIT */
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "core/block.h"
#include "seccomp.h"
#include "status.h"
#include "sys.h"
#include "text.h"

int ea_seccomp_filters(void)
{
	struct ea_status status;
	int ret = ea_status_read(EA_STATUS_OF_THREAD, &status);

	return ret ? ret : status.filters;
}

/* Does the parent live under the same number of filters? */
static int are_inherited(const struct ea_status *status)
{
	char path[40];
	struct ea_text text = {path, sizeof(path) - 1, 0};
	struct ea_status parent;

	ea_text_add(&text, "/proc/");
	ea_text_add_number(&text, status->parent);
	ea_text_add(&text, "/status");
	path[text.length] = '\0';
	return !ea_status_read(path, &parent) && parent.filters == status->filters;
}

/* Every kind of call that the shim makes and ld.so does not, with the same flags. */
static void try_calls(void)
{
	char *const nothing[] = {NULL};
	const uint64_t no_time[2] = {0, 0};
	const uint64_t none = 0; /* signals */
	unsigned char byte;
	uint64_t limit[2];
	char stat_buf[512];
	long addr;

	addr = sys_mmap(
		0, 4 * EA_MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!sys_is_error(addr)) {
		sys_munmap((uint64_t)addr, 4 * EA_MIB);
		addr = sys_mmap((uint64_t)addr, 4 * EA_MIB, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		sys_munmap((uint64_t)addr, 4 * EA_MIB);
		addr = sys_mmap(
			(uint64_t)addr, 4 * EA_MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		sys_madvise((uint64_t)addr, 4 * EA_MIB, MADV_RANDOM);
		sys_madvise((uint64_t)addr, 4 * EA_MIB, MADV_HUGEPAGE);
		sys_madvise((uint64_t)addr, 4 * EA_KIB, MADV_POPULATE_READ);
	}
	sys_call6(__NR_newfstatat, AT_FDCWD, (long)"", (long)stat_buf, 0, 0, 0);
	sys_call6(__NR_fstat, -1, (long)stat_buf, 0, 0, 0, 0);
	sys_call6(__NR_fstatfs, -1, (long)stat_buf, 0, 0, 0, 0);
	sys_call6(__NR_uname, (long)stat_buf, 0, 0, 0, 0, 0);
	sys_call6(__NR_prlimit64, 0, RLIMIT_AS, 0, (long)limit, 0, 0);
	sys_pread(-1, &byte, 1, 0);
	sys_readlink("", stat_buf, sizeof(stat_buf));
	sys_getrandom(&byte, 1, 0);
	sys_getpid();
	sys_call6(__NR_rt_sigprocmask, 0 /* SIG_BLOCK */, (long)&none, 0, sizeof(none), 0, 0);
	sys_call6(__NR_rt_sigpending, (long)stat_buf, sizeof(none), 0, 0, 0, 0);
	sys_call6(__NR_rt_sigtimedwait, (long)&none, 0, (long)no_time, sizeof(none), 0, 0);
	sys_call6(__NR_personality, 0xffffffff, 0, 0, 0, 0, 0);
	sys_prctl(PR_GET_NAME, (uint64_t)(uintptr_t)stat_buf);
	sys_prctl(PR_SET_NAME, (uint64_t)(uintptr_t)stat_buf);
	sys_execve("", nothing, nothing);
}

static int child_survives(void)
{
	int status = -1;
	long pid;

	/* Not for a debugger to stop at: CLONE_UNTRACED. No signal when it ends: no exit signal. */
	pid = sys_fork_silently(CLONE_UNTRACED);
	if (sys_is_error(pid))
		return 0;
	if (pid == 0) {
		try_calls();
		sys_exit(0);
	}
	while (sys_wait((int)pid, &status, __WALL) == -EINTR)
		;
	return status == 0;
}

const char *ea_seccomp_refuses(int *filters, int must_try)
{
	struct ea_status status;

	*filters = ea_status_read(EA_STATUS_OF_THREAD, &status);
	if (*filters < 0)
		return "cannot tell whether a seccomp filter is active: no /proc";
	*filters = status.filters;
	if (!status.filters)
		return NULL;
	/* Parent 0 is outside of the container, whose first process this is. */
	if (!must_try && status.parent && !are_inherited(&status))
		return "a seccomp filter was put on this program alone";
	return child_survives() ? NULL : "a seccomp filter kills on the shim's system calls";
}
