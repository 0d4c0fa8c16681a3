/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "progress.h"
#include "tree.h"

#define SHOW_SECONDS 0.1

static void count_file(void *context, struct tree_dir *dir, const char *name)
{
	struct progress *progress = context;

	atomic_fetch_add_explicit(&progress->files, 1, memory_order_relaxed);
}

/* The walk that does the work says it. */
static void ignore_trouble(void *context, const char *path, int err)
{
}

static void *count(void *context)
{
	struct progress *progress = context;
	const struct tree_visitor visitor = {count_file, ignore_trouble, progress};
	char *const *path;

	for (path = progress->paths; *path; path++) {
		struct tree_dir *dir;

		if (tree_dir_open(*path, &dir)) {
			count_file(progress, NULL, NULL);
			continue;
		}
		tree_walk(dir, &visitor);
		tree_dir_put(dir);
	}
	atomic_store(&progress->counted, true);
	return NULL;
}

const char *progress_bar(uint64_t done, uint64_t total, char *out)
{
	int filled = (int)(done * PROGRESS_BAR_CHARACTERS / total);

	out[0] = '[';
	memset(out + 1, '#', (size_t)filled);
	memset(out + 1 + filled, '.', (size_t)(PROGRESS_BAR_CHARACTERS - filled));
	strcpy(out + 1 + PROGRESS_BAR_CHARACTERS, "]");
	return out;
}

bool progress_is_wanted(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
}

void progress_start(struct progress *progress, char *const *paths)
{
	memset(progress, 0, sizeof(*progress));
	progress->paths = paths;
	if (!progress_is_wanted())
		return;
	progress->shown = !pthread_create(&progress->counter, NULL, count, progress);
}

/* A terminal takes long, and what is over at once needs no bar. */
static bool is_time(struct progress *progress)
{
	double seconds = now_seconds();

	if (!progress->next_show)
		progress->next_show = seconds + SHOW_SECONDS;
	if (seconds < progress->next_show)
		return false;
	progress->next_show = seconds + SHOW_SECONDS;
	return true;
}

void progress_show(struct progress *progress, uint64_t done)
{
	uint64_t files = atomic_load(&progress->files);
	char bar[PROGRESS_BAR_CHARACTERS + 3];

	if (!progress->shown || !is_time(progress))
		return;
	progress->on_screen = true;
	if (!atomic_load(&progress->counted) || !files || done > files) {
		fprintf(stderr, "\r%" PRIu64 " files\033[K", done);
		return;
	}
	fprintf(stderr, "\r%s %3d%% of %" PRIu64 " files\033[K", progress_bar(done, files, bar),
		(int)(done * 100 / files), files);
}

void progress_hide(struct progress *progress)
{
	if (!progress->on_screen)
		return;
	progress->on_screen = false;
	fputs("\r\033[K", stderr);
}

void progress_end(struct progress *progress)
{
	progress_hide(progress);
	if (progress->shown)
		pthread_join(progress->counter, NULL);
	progress->shown = false;
}
