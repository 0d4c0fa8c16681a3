/* SPDX-License-Identifier: MIT */
#ifndef CLI_BENCH_APP_PLOT_H
#define CLI_BENCH_APP_PLOT_H

#include "bench_app.h"
#include "plot.h"

/*
 * bench_app_plot - draw it
 * @plot: as plot_open() left it
 *
 * Returns 0, or an exit code after a message. Context: single thread.
 */
int bench_app_plot(struct plot *plot, const struct bench_app *bench);

#endif
