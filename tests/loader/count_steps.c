/* SPDX-License-Identifier: MIT */
/*
 * count_steps.c - how many instructions a program executes in user space, by single-stepping it
 *
 *	count_steps PROGRAM ARGUMENT...
 *
 * Prints the number; the program's own output is left as it is. No performance counter is needed. Its
 * addresses are not random, so that the number is the same in every run. Exit 1 when that cannot be
 * done or the program fails.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned long steps = 0;
	int status;
	pid_t pid;

	if (argc < 2)
		return 1;
	pid = fork();
	if (pid < 0)
		return 1;
	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(126);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int signal = WSTOPSIG(status);

		if (signal == SIGTRAP)
			signal = 0;
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, signal))
			return 1;
		steps++;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return 1;
	fprintf(stderr, "%lu\n", steps);
	return 0;
}
