/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "clock.h"
#include "message.h"
#include "streams.h"

/* A traced process is seen at its end; looks in between are for one that is killed outright. */
#define FIRST_LOOK_TRACED 0.5
/* Without tracing it can end at any moment. */
#define FIRST_LOOK_SAMPLED 0.005
/* An older process is looked at less often, after this part of its age, but once a second. */
#define LOOK_AGE_PART 8
#define LOOK_PERIOD_MAX 1.0
/* Looking costs: this much of the time has to pass without. */
#define LOOK_COST_FACTOR 4

/* Signals that this process takes one by one with sigtimedwait(). */
static void watched_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

static void run_child(const struct target *target, char *const argv[], bool silent,
	const sigset_t *mask, int go_fd, int error_fd)
{
	char go;
	int err;

	/* The parent closes its end when it has attached. */
	while (read(go_fd, &go, 1) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, mask, NULL);
	err = silent && !streams_silence(false) ? -errno : target_exec(target, argv);
	if (write(error_fd, &err, sizeof(err)) < 0)
		_exit(EXIT_NOT_FOUND);
	_exit(EXIT_NOT_EXECUTABLE);
}

/* Looks, and keeps the result if there is one. */
static void look(struct child *child, struct lens *lens)
{
	struct snapshot snapshot;

	if (snapshot_take(lens, child->pid, &snapshot) != LOOK_DONE)
		return;
	if (child->seen)
		snapshot_free(&child->snapshot);
	child->snapshot = snapshot;
	child->seen = true;
}

static bool is_stop_signal(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/*
 * Lets a stopped tracee go on. @lens may be NULL: do not look. Once its first thread is on its way
 * out there will be no other such stop: if the process lives on (in other threads, or by an
 * execve() of one of them), it is sampled.
 */
static void resume(struct child *child, struct lens *lens, int status)
{
	int signal = WSTOPSIG(status);

	switch (status >> 16) {
	case PTRACE_EVENT_EXIT:
		if (lens)
			look(child, lens);
		child->traced = false;
		child->next_look = now_seconds() + FIRST_LOOK_SAMPLED;
		ptrace(PTRACE_CONT, child->pid, NULL, NULL);
		return;
	case PTRACE_EVENT_STOP:
		/* Job control: it stays stopped until SIGCONT. */
		ptrace(is_stop_signal(signal) ? PTRACE_LISTEN : PTRACE_CONT, child->pid, NULL,
			NULL);
		return;
	default:
		/* A signal on its way to the program. */
		ptrace(PTRACE_CONT, child->pid, NULL, (void *)(long)signal);
	}
}

/* Takes in everything that has happened to the child. */
static void collect(struct child *child, struct lens *lens)
{
	int status;

	while (!child->ended) {
		pid_t pid = waitpid(child->pid, &status, WNOHANG | __WALL);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		if (WIFSTOPPED(status)) {
			resume(child, lens, status);
			continue;
		}
		child->status = status;
		child->ended = true;
	}
}

/* Waits for one signal. What the terminal sends went to the command as well; the rest is its too. */
static void wait_signal(struct child *child, double seconds)
{
	struct timespec timeout = {
		.tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9),
	};
	sigset_t set;
	siginfo_t info;
	int signal;

	watched_signals(&set);
	signal = sigtimedwait(&set, &info, &timeout);
	if (signal <= 0 || signal == SIGCHLD || info.si_code == SI_KERNEL)
		return;
	kill(child->pid, signal);
}

/* Reads what run_child() wrote: 0 when the program was executed. */
static int exec_error(struct child *child, int error_fd)
{
	struct pollfd poll_fd = {.fd = error_fd, .events = POLLIN};
	int err = 0;

	/* A signal may stop the tracee before it gets there. */
	while (poll(&poll_fd, 1, 10) <= 0)
		collect(child, NULL);
	while (read(error_fd, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	return err;
}

static int close_pipes(const int go[2], const int error[2])
{
	close(go[0]);
	close(go[1]);
	close(error[0]);
	close(error[1]);
	return EXIT_TROUBLE;
}

int child_start(
	struct child *child, const struct target *target, char *const argv[], bool silent)
{
	int go[2] = {-1, -1}, error[2] = {-1, -1};
	sigset_t set, mask;
	int err;

	memset(child, 0, sizeof(*child));
	if (pipe2(go, O_CLOEXEC) || pipe2(error, O_CLOEXEC)) {
		message(argv[0], "cannot be started: %s; free some descriptors", strerror(errno));
		return close_pipes(go, error);
	}
	watched_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &mask);
	child->pid = fork();
	if (child->pid < 0) {
		message(argv[0], "cannot be started: %s; end some processes", strerror(errno));
		return close_pipes(go, error);
	}
	if (!child->pid) {
		close(go[1]);
		close(error[0]);
		run_child(target, argv, silent, &mask, go[0], error[1]);
	}
	/* Inherited as ignored, it would let the child's status be lost. */
	signal(SIGCHLD, SIG_DFL);
	child->traced = !ptrace(PTRACE_SEIZE, child->pid, NULL, (void *)PTRACE_O_TRACEEXIT);
	samples_open(&child->samples, child->pid);
	close(go[1]);
	close(error[1]);
	err = exec_error(child, error[0]);
	close(go[0]);
	close(error[0]);
	child->started = now_seconds();
	child->next_look =
		child->started + (child->traced ? FIRST_LOOK_TRACED : FIRST_LOOK_SAMPLED);
	if (!err)
		return 0;
	child_wait(child);
	samples_free(&child->samples);
	target_exec_failed(target, argv[0], err);
	return EXIT_TROUBLE;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Looks if it is time to, and sets the next time. */
static void look_in_time(struct child *child, struct lens *lens)
{
	double start = now_seconds(), age = start - child->started;
	double period = age / LOOK_AGE_PART;

	if (start < child->next_look)
		return;
	look(child, lens);
	if (child->traced) {
		/* At twice its age. */
		child->next_look = start + age;
		return;
	}
	period = larger(period < LOOK_PERIOD_MAX ? period : LOOK_PERIOD_MAX, FIRST_LOOK_SAMPLED);
	child->next_look =
		now_seconds() + larger(period, (now_seconds() - start) * LOOK_COST_FACTOR);
}

static void watch(struct child *child, struct lens *lens, double deadline)
{
	for (;;) {
		double left, time;

		collect(child, lens);
		if (child->ended)
			return;
		samples_take(&child->samples);
		time = now_seconds();
		if (deadline >= 0 && time >= deadline) {
			look(child, lens);
			return;
		}
		look_in_time(child, lens);
		time = now_seconds();
		left = child->next_look - time;
		if (deadline >= 0 && deadline - time < left)
			left = deadline - time;
		if (SAMPLES_TAKE_SECONDS < left)
			left = SAMPLES_TAKE_SECONDS;
		wait_signal(child, left > 0 ? left : 0);
	}
}

void child_watch(struct child *child, struct lens *lens, double seconds)
{
	watch(child, lens, seconds < 0 ? -1 : child->started + seconds);
	samples_close(&child->samples);
}

void child_wait(struct child *child)
{
	for (;;) {
		collect(child, NULL);
		if (child->ended)
			return;
		wait_signal(child, LOOK_PERIOD_MAX);
	}
}
