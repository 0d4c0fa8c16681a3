/* SPDX-License-Identifier: MIT */
/*
 * plot.h - a figure that gnuplot draws
 *
 * The file is there when it is complete: until then it has another name beside its own.
 */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdio.h>
#include <sys/types.h>

/* struct plot - begin with {0}, which plot_abandon() takes as well */
struct plot {
	const char *path;
	char *temporary;
	const char *terminal; /* gnuplot's */
	int fd;
	pid_t pid;
	FILE *script;
};

/*
 * plot_open - find out before anything is measured whether it can be drawn
 * @path: its name ends in .svg or .png; it has to outlive @plot
 *
 * Returns 0, or an exit code after a message. Context: single thread.
 */
int plot_open(struct plot *plot, const char *path);

/*
 * plot_begin - start gnuplot; plot->script is where commands are written to
 *
 * The terminal is set. Returns 0 or -errno.
 */
int plot_begin(struct plot *plot);

/* plot_quote - write a string as gnuplot reads it */
void plot_quote(struct plot *plot, const char *text);

/* plot_finish - have it drawn, and give the file its name; 0, or an exit code after a message */
int plot_finish(struct plot *plot);

/* plot_abandon - leave nothing behind, if it is not finished */
void plot_abandon(struct plot *plot);

#endif
