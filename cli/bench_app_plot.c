/* SPDX-License-Identifier: MIT */
/*
 * bench_app_plot.c - what execalign bench app measured, as a figure: each run's time, and the ratios
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench_app.h"
#include "bench_app_plot.h"
#include "message.h"

#define TITLE_MAX 100

static void draw_title(struct plot *plot, const struct bench_app *bench)
{
	char title[TITLE_MAX + 4] = "";
	size_t used = 0;
	char *const *word;

	for (word = bench->command; *word && used < TITLE_MAX; word++)
		used += (size_t)snprintf(title + used, TITLE_MAX - used, "%s%s",
			word == bench->command ? "" : " ", *word);
	if (used >= TITLE_MAX)
		strcpy(title + TITLE_MAX - 1, "...");
	fputs("set multiplot layout 2,1 title ", plot->script);
	plot_quote(plot, title);
	fputs("\n", plot->script);
}

static void draw_runs(struct plot *plot, const struct bench_app *bench)
{
	uint64_t run;

	fputs("$runs << EOD\n", plot->script);
	for (run = 0; run < bench->runs; run++)
		fprintf(plot->script, "%" PRIu64 " %.9g %.9g\n", run + 1,
			bench->sides[APP_PLAIN].values[RUN_WALL][run],
			bench->sides[APP_SHIM].values[RUN_WALL][run]);
	fprintf(plot->script,
		"EOD\n"
		"set xlabel 'run'\n"
		"set ylabel 'wall time, s'\n"
		"set xrange [0.5:%" PRIu64 ".5]\n"
		"set yrange [0:*]\n"
		"set key bottom right\n"
		"set grid\n"
		"plot $runs using 1:2 with linespoints pt 7 ps 0.6 title 'plain',"
		" $runs using 1:3 with linespoints pt 5 ps 0.6 title 'shim'\n",
		bench->runs);
}

static void draw_ratios(struct plot *plot, const struct bench_app *bench)
{
	unsigned int count = 0;
	struct ratio ratio;
	size_t metric;

	fputs("$ratios << EOD\n", plot->script);
	for (metric = 0; metric < bench_app_metric_count(bench); metric++) {
		if (bench_app_ratio(bench, metric, &ratio))
			continue;
		fprintf(plot->script, "\"%s\" %.6g %.6g %.6g\n", bench_app_label(bench, metric),
			ratio.median, ratio.low, ratio.high);
		count++;
	}
	fprintf(plot->script,
		"EOD\n"
		"set xlabel 'shim / plain: median of the pairs, and the interval at 95 %%'\n"
		"unset ylabel\n"
		"set xrange [*:*]\n"
		"set yrange [%u.5:-0.5]\n"
		"set arrow from 1, graph 0 to 1, graph 1 nohead dashtype 2\n"
		"plot $ratios using 2:0:3:4:ytic(1) with xerrorbars pt 7 notitle\n"
		"unset multiplot\n",
		count ? count - 1 : 0);
}

int bench_app_plot(struct plot *plot, const struct bench_app *bench)
{
	int err = plot_begin(plot);

	if (err) {
		message(plot->path, "gnuplot cannot be started: %s; free some memory",
			strerror(-err));
		return EXIT_TROUBLE;
	}
	draw_title(plot, bench);
	draw_runs(plot, bench);
	draw_ratios(plot, bench);
	return plot_finish(plot);
}
