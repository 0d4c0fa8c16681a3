/* SPDX-License-Identifier: MIT */
/*
 * crew.h - work on a long row of items in several threads, in constant memory
 *
 *	feeder --> [ring of items: free, waiting, in work, done] --> collector
 *			workers take what waits
 *
 * One thread feeds, several work, and the caller's collects, in the order in which the items were
 * fed. An item is the crew's while it waits or is in work, and its place is used again when it has
 * been collected.
 */
#ifndef CLI_CREW_H
#define CLI_CREW_H

#include <stdbool.h>
#include <stddef.h>

struct crew;

/* struct crew_duty - who does what */
struct crew_duty {
	/* Calls crew_next() and crew_feed() for each item; returning ends the row. */
	void (*feed)(struct crew *crew, void *context);
	/* Several at a time. */
	void (*work)(void *item, void *context);
	/* In the thread that called crew_run(). */
	void (*collect)(void *item, void *context);
	/* The same, about ten times per second, whether there is something to collect or not. */
	void (*tick)(void *context);
	void *context;
	size_t item_bytes;
};

/* crew_next - wait for a free place, for the feeder to fill. It holds what was in it before. */
void *crew_next(struct crew *crew);

/* crew_feed - give the place from crew_next() to the workers */
void crew_feed(struct crew *crew);

/*
 * crew_run - do all of it, and return when everything is collected
 *
 * As many workers as processors that this process may use. Returns 0 or -errno: then nothing was
 * fed. Context: one at a time.
 */
int crew_run(const struct crew_duty *duty);

#endif
