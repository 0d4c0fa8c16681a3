/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"
#include "plot.h"

static const struct {
	const char *suffix;
	const char *terminal;
} formats[] = {
	{".svg", "svg size 900,640 background rgb 'white'"},
	{".png", "pngcairo size 900,640"},
};

#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

static const char *terminal_of(const char *path)
{
	const char *suffix = strrchr(path, '.');
	size_t i;

	for (i = 0; suffix && i < FORMAT_COUNT; i++)
		if (!strcmp(suffix, formats[i].suffix))
			return formats[i].terminal;
	return NULL;
}

/* 0, or an errno value. @in_fd, @out_fd: -1 for none. */
static int spawn(char *const argv[], int in_fd, int out_fd, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	if (in_fd >= 0)
		err = posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
	if (!err && out_fd >= 0)
		err = posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
	else if (!err)
		err = posix_spawn_file_actions_addopen(
			&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (!err)
		err = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

/* Did it end as it should? */
static bool wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static int check_gnuplot(void)
{
	char *argv[] = {"gnuplot", "--version", NULL};
	pid_t pid;

	if (!spawn(argv, -1, -1, &pid) && wait_for(pid))
		return 0;
	message("--plot", "gnuplot, which draws it, does not run; install gnuplot-nox");
	return EXIT_TROUBLE;
}

static int say_failed(const struct plot *plot, int err)
{
	message(plot->path, "cannot be written: %s; name another file", strerror(err));
	return EXIT_TROUBLE;
}

int plot_open(struct plot *plot, const char *path)
{
	struct stat stat_buf;

	plot->path = path;
	plot->terminal = terminal_of(path);
	if (!plot->terminal) {
		message("--plot", "'%s' ends neither in .svg nor in .png; as in --plot result.svg",
			path);
		return EXIT_TROUBLE;
	}
	if (check_gnuplot())
		return EXIT_TROUBLE;
	if (!stat(path, &stat_buf) && !S_ISREG(stat_buf.st_mode))
		return say_failed(plot, S_ISDIR(stat_buf.st_mode) ? EISDIR : EINVAL);
	if (asprintf(&plot->temporary, "%s.XXXXXX", path) < 0) {
		plot->temporary = NULL;
		return say_failed(plot, ENOMEM);
	}
	plot->fd = mkostemp(plot->temporary, O_CLOEXEC);
	if (plot->fd >= 0)
		return 0;
	free(plot->temporary);
	plot->temporary = NULL;
	return say_failed(plot, errno);
}

int plot_begin(struct plot *plot)
{
	char *argv[] = {"gnuplot", NULL};
	int fds[2], err;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	/* It may end before it has read all: an error of fclose(3) then. */
	signal(SIGPIPE, SIG_IGN);
	err = -spawn(argv, fds[0], plot->fd, &plot->pid);
	close(fds[0]);
	plot->script = err ? NULL : fdopen(fds[1], "w");
	if (!plot->script) {
		close(fds[1]);
		return err ? err : -ENOMEM;
	}
	fprintf(plot->script, "set terminal %s\nset termoption noenhanced\n", plot->terminal);
	return 0;
}

void plot_quote(struct plot *plot, const char *text)
{
	fputc('\'', plot->script);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', plot->script);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, plot->script);
	}
	fputc('\'', plot->script);
}

/* As if open(2) had made it, whatever mkostemp(3) thinks of secrecy. */
static int publish(const struct plot *plot)
{
	mode_t mask = umask(0);

	umask(mask);
	if (fchmod(plot->fd, 0666 & ~mask) || rename(plot->temporary, plot->path))
		return -errno;
	return 0;
}

int plot_finish(struct plot *plot)
{
	bool written = !fclose(plot->script);
	bool drawn = wait_for(plot->pid);
	struct stat stat_buf;
	int err;

	plot->script = NULL;
	if (!written || !drawn || fstat(plot->fd, &stat_buf) || !stat_buf.st_size) {
		message(plot->path, "gnuplot failed to draw it; is there room for it?");
		return EXIT_TROUBLE;
	}
	err = publish(plot);
	if (err)
		return say_failed(plot, -err);
	free(plot->temporary);
	plot->temporary = NULL;
	close(plot->fd);
	return 0;
}

void plot_abandon(struct plot *plot)
{
	if (plot->script) {
		fclose(plot->script);
		wait_for(plot->pid);
		plot->script = NULL;
	}
	if (!plot->temporary)
		return;
	unlink(plot->temporary);
	free(plot->temporary);
	plot->temporary = NULL;
	close(plot->fd);
}
