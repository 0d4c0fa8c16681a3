/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "crew.h"

/* Items under way. Enough that one slow file does not hold up the others. */
#define ITEMS 512
#define WORKERS_MAX 16
#define TICK_NS 100000000

/* All numbers count items since the beginning; an item's place is its number modulo ITEMS. */
struct crew {
	const struct crew_duty *duty;
	char *items;
	bool done[ITEMS];
	size_t fed;
	size_t taken;
	size_t collected;
	size_t finished; /* fed, and worked upon */
	bool ended;	 /* no more is fed */
	pthread_mutex_t lock;
	pthread_cond_t may_feed;
	pthread_cond_t may_work;
	pthread_cond_t may_collect;
};

static void *item_at(struct crew *crew, size_t number)
{
	return crew->items + (number % ITEMS) * crew->duty->item_bytes;
}

void *crew_next(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	while (crew->fed - crew->collected == ITEMS)
		pthread_cond_wait(&crew->may_feed, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
	return item_at(crew, crew->fed);
}

void crew_feed(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->done[crew->fed % ITEMS] = false;
	crew->fed++;
	pthread_cond_signal(&crew->may_work);
	pthread_mutex_unlock(&crew->lock);
}

static void *feed(void *context)
{
	struct crew *crew = context;

	crew->duty->feed(crew, crew->duty->context);
	pthread_mutex_lock(&crew->lock);
	crew->ended = true;
	pthread_cond_broadcast(&crew->may_work);
	pthread_cond_signal(&crew->may_collect);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static bool head_is_done(const struct crew *crew)
{
	return crew->collected < crew->fed && crew->done[crew->collected % ITEMS];
}

/* Not for every item: waking the collector takes longer than most files do. */
static bool is_worth_collecting(const struct crew *crew)
{
	return head_is_done(crew) && (crew->finished - crew->collected >= ITEMS / 4 ||
					     (crew->ended && crew->finished == crew->fed));
}

static void *work(void *context)
{
	struct crew *crew = context;

	pthread_mutex_lock(&crew->lock);
	for (;;) {
		size_t number;

		while (crew->taken == crew->fed && !crew->ended)
			pthread_cond_wait(&crew->may_work, &crew->lock);
		if (crew->taken == crew->fed)
			break;
		number = crew->taken++;
		pthread_mutex_unlock(&crew->lock);
		crew->duty->work(item_at(crew, number), crew->duty->context);
		pthread_mutex_lock(&crew->lock);
		crew->done[number % ITEMS] = true;
		crew->finished++;
		if (is_worth_collecting(crew))
			pthread_cond_signal(&crew->may_collect);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* What is done and next in order. The lock is held, but not while an item is collected. */
static void collect_done(struct crew *crew)
{
	while (head_is_done(crew)) {
		void *item = item_at(crew, crew->collected);

		pthread_mutex_unlock(&crew->lock);
		crew->duty->collect(item, crew->duty->context);
		pthread_mutex_lock(&crew->lock);
		crew->collected++;
	}
	pthread_cond_signal(&crew->may_feed);
}

static void collect(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	while (!crew->ended || crew->collected < crew->fed) {
		struct timespec until;

		collect_done(crew);
		pthread_mutex_unlock(&crew->lock);
		crew->duty->tick(crew->duty->context);
		pthread_mutex_lock(&crew->lock);
		if (head_is_done(crew) || (crew->ended && crew->collected == crew->fed))
			continue;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += TICK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&crew->may_collect, &crew->lock, &until);
	}
	pthread_mutex_unlock(&crew->lock);
}

static size_t count_workers(void)
{
	cpu_set_t allowed;
	int count = 1;

	if (!sched_getaffinity(0, sizeof(allowed), &allowed))
		count = CPU_COUNT(&allowed);
	return count < WORKERS_MAX ? (size_t)count : WORKERS_MAX;
}

/* Returns how many threads run. */
static size_t start(struct crew *crew, pthread_t *threads, size_t workers)
{
	size_t i;

	for (i = 0; i < workers; i++)
		if (pthread_create(&threads[i], NULL, work, crew))
			return i;
	return pthread_create(&threads[i], NULL, feed, crew) ? i : i + 1;
}

static int run(struct crew *crew)
{
	pthread_t threads[WORKERS_MAX + 1];
	size_t workers = count_workers(), started, i;
	int err = 0;

	started = start(crew, threads, workers);
	if (started == workers + 1) {
		collect(crew);
	} else {
		err = -EAGAIN;
		pthread_mutex_lock(&crew->lock);
		crew->ended = true;
		pthread_cond_broadcast(&crew->may_work);
		pthread_mutex_unlock(&crew->lock);
	}
	for (i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return err;
}

int crew_run(const struct crew_duty *duty)
{
	struct crew crew = {
		.duty = duty,
		.items = calloc(ITEMS, duty->item_bytes),
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.may_feed = PTHREAD_COND_INITIALIZER,
		.may_work = PTHREAD_COND_INITIALIZER,
	};
	pthread_condattr_t clock;
	int err;

	if (!crew.items)
		return -ENOMEM;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&crew.may_collect, &clock);
	err = run(&crew);
	pthread_cond_destroy(&crew.may_collect);
	pthread_condattr_destroy(&clock);
	free(crew.items);
	return err;
}
