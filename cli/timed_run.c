/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "core/block.h"
#include "io.h"
#include "message.h"
#include "streams.h"
#include "timed_run.h"

/* struct start - a child that waits to be let go */
struct start {
	pid_t pid;
	int go_fd;
	sigset_t mask; /* before the signals below were blocked */
};

/* Signals that are taken one by one, so that none can come between a look and a wait. */
static void awaited_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

static void run_child(const struct timed_run *run, const struct start *start, int go_fd)
{
	char go;

	/* It ends with what measures it. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (!streams_silence(true))
		_exit(EXIT_NOT_EXECUTABLE);
	while (read(go_fd, &go, 1) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &start->mask, NULL);
	environ = run->env;
	target_exec(run->target, run->argv);
	_exit(EXIT_NOT_EXECUTABLE);
}

static int start_child(const struct timed_run *run, struct start *start)
{
	int go[2], err;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	start->pid = fork();
	err = -errno;
	if (!start->pid) {
		close(go[1]);
		run_child(run, start, go[0]);
	}
	close(go[0]);
	start->go_fd = go[1];
	if (start->pid > 0)
		return 0;
	close(go[1]);
	return err;
}

/*
 * Linux counts what a process had resident before its execve(), when it was a copy of this one
 * (exec_mmap() in 6.18): anything up to that may be ours and not the command's.
 */
static double resident_before(pid_t pid)
{
	char path[48];
	uint64_t kib;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return read_value(path, "\nVmHWM:", &kib) ? INFINITY : (double)(kib * EA_KIB);
}

static void wait_for_end(pid_t pid, volatile sig_atomic_t *stop)
{
	siginfo_t info;
	sigset_t set;
	int signal;

	awaited_signals(&set);
	for (;;) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			return;
		signal = sigwaitinfo(&set, NULL);
		if (signal <= 0 || signal == SIGCHLD)
			continue;
		*stop = signal;
		/* From a terminal it has it already, and twice is no more than once. */
		kill(pid, signal);
	}
}

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void note_usage(double *values, const struct rusage *usage, double resident_bytes)
{
	double max_rss_bytes = (double)usage->ru_maxrss * (double)EA_KIB;

	values[RUN_USER] = seconds_of(&usage->ru_utime);
	values[RUN_SYSTEM] = seconds_of(&usage->ru_stime);
	values[RUN_CPU] = values[RUN_USER] + values[RUN_SYSTEM];
	values[RUN_MINOR_FAULTS] = (double)usage->ru_minflt;
	values[RUN_MAJOR_FAULTS] = (double)usage->ru_majflt;
	/* In units of 512 bytes, whatever the device's are. */
	values[RUN_READ] = (double)usage->ru_inblock * 512;
	values[RUN_MAX_RSS] = max_rss_bytes > resident_bytes ? max_rss_bytes : NAN;
}

static int run_blocked(struct timed_run *run, struct start *start)
{
	double resident_bytes, began;
	struct rusage usage;
	int err = start_child(run, start);

	if (err)
		return err;
	resident_bytes = resident_before(start->pid);
	err = counters_open(run->counters, start->pid);
	if (err)
		kill(start->pid, SIGKILL);
	began = now_seconds();
	close(start->go_fd);
	wait_for_end(start->pid, run->stop);
	run->values[RUN_WALL] = now_seconds() - began;
	while (wait4(start->pid, &run->status, 0, &usage) < 0 && errno == EINTR)
		;
	counters_close(run->counters, err ? NULL : run->values + RUN_METRIC_COUNT);
	note_usage(run->values, &usage, resident_bytes);
	return *run->stop ? -EINTR : err;
}

int timed_run(struct timed_run *run)
{
	struct start start;
	sigset_t set;
	int err;

	awaited_signals(&set);
	/* Inherited as ignored, it would let the child's status be lost. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &start.mask);
	err = run_blocked(run, &start);
	sigprocmask(SIG_SETMASK, &start.mask, NULL);
	return err;
}
