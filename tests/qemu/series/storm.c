// SPDX-License-Identifier: MIT
/*
 * storm.c - threads that write to what a fork has made read-only, and see what the others write
 *
 *	storm [-k] ROUNDS PAGES THREADS
 *
 * In each round the process forks. Then THREADS threads read PAGES pages of private memory, so that
 * each CPU knows their read-only entries, and write to all of them, each its own word and in its
 * own order, and last each checks what all have written, and that it is seen soon. Without -k the
 * child has ended before they write: their faults find pages that nobody shares and make them
 * writable where they are. With -k it lives through the round, pages are copied, and at the end it
 * checks that its own have not changed.
 *
 * Prints "STORM rounds=N pages=N threads=N minor=N wrong=0 late=0". Minor: page faults of the
 * writes. Exit: 0 nothing was wrong or late, 1 something was, 2 cannot (one line on stderr).
 */
#define _GNU_SOURCE
#include "series.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define MAX_THREADS 8
/* Of another thread's write. A stale entry is for ever; a busy host can take its time. */
#define LATE_SECONDS 20

static uint64_t rounds, pages, thread_count;
static char *memory;
static pthread_barrier_t barrier;
static atomic_ulong wrong, late;

static atomic_uint *word(uint64_t page, uint64_t thread)
{
	return (atomic_uint *)(memory + page * page_bytes()) + thread * 16;
}

static void read_all(void)
{
	for (uint64_t page = 0; page < pages; page++)
		(void)*(volatile char *)word(page, 0);
}

/* Even threads go up, odd ones down: each page is written to at the same time by some, or not. */
static void write_all(uint64_t thread, unsigned int value)
{
	for (uint64_t i = 0; i < pages; i++) {
		atomic_uint *mine = word(thread % 2 ? pages - 1 - i : i, thread);

		if (atomic_load(mine) != value - 1)
			wrong++;
		atomic_store(mine, value);
	}
}

/* All have written when this is called: only who looks at an old page does not see it. */
static void check_all(unsigned int value)
{
	time_t end = time(NULL) + LATE_SECONDS;

	for (uint64_t page = 0; page < pages; page++)
		for (uint64_t thread = 0; thread < thread_count; thread++)
			while (atomic_load(word(page, thread)) != value && !late)
				if (time(NULL) > end)
					late++;
}

static pid_t fork_child(int gate[2])
{
	pid_t child;
	char byte;

	if (gate && pipe(gate))
		die("no pipe: %s", strerror(errno));
	child = fork();
	if (child < 0)
		die("cannot fork: %s", strerror(errno));
	if (child)
		return child;
	if (!gate)
		_exit(0);
	close(gate[1]);
	if (read(gate[0], &byte, 1) != 1)
		_exit(1);
	for (uint64_t page = 0; page < pages; page++)
		for (uint64_t thread = 0; thread < thread_count; thread++)
			if (atomic_load(word(page, thread)) != (unsigned char)byte)
				_exit(1);
	_exit(0);
}

static void end_child(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || status)
		wrong++;
}

static long minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/*
 * Waits for the other threads without sleeping: a CPU that goes to another address space meanwhile
 * may forget the entries that it is to have.
 */
static void meet(void)
{
	static atomic_ulong arrived;
	unsigned long mine = arrived++;
	unsigned long all = (mine / thread_count + 1) * thread_count;

	while (arrived < all)
		sched_yield();
}

static void *run(void *argument)
{
	uint64_t thread = (uint64_t)(uintptr_t)argument;

	for (unsigned int round = 1; round <= rounds; round++) {
		pthread_barrier_wait(&barrier);
		read_all();
		meet();
		write_all(thread, round);
		meet();
		check_all(round);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static long play_rounds(bool keep)
{
	long minor = 0, before;

	for (unsigned int round = 1; round <= rounds; round++) {
		int gate[2];
		unsigned char old = (unsigned char)(round - 1);
		pid_t child = fork_child(keep ? gate : NULL);

		if (!keep)
			end_child(child);
		before = minor_faults();
		pthread_barrier_wait(&barrier); /* the threads begin */
		pthread_barrier_wait(&barrier);
		minor += minor_faults() - before;
		if (!keep)
			continue;
		if (write(gate[1], &old, 1) != 1)
			die("the child is gone: %s", strerror(errno));
		end_child(child);
		close(gate[0]);
		close(gate[1]);
	}
	return minor;
}

/* In pages of the smallest size: what is asked of is entries of the last level. */
static void make_memory(void)
{
	memory = mmap(NULL, pages * page_bytes(), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, pages * page_bytes(), MADV_NOHUGEPAGE))
		die("no memory: %s", strerror(errno));
	memset(memory, 0, pages * page_bytes());
}

int main(int argc, char **argv)
{
	bool keep = argc > 1 && strcmp(argv[1], "-k") == 0;
	char **arguments = argv + 1 + keep;
	pthread_t threads[MAX_THREADS];
	long minor;

	if (argc - keep != 4)
		die("usage: storm [-k] ROUNDS PAGES THREADS");
	rounds = parse_bytes(arguments[0]);
	pages = parse_bytes(arguments[1]);
	thread_count = parse_bytes(arguments[2]);
	/* The child compares a byte. */
	if (rounds < 1 || rounds > 255 || thread_count < 1 || thread_count > MAX_THREADS)
		die("1 to 255 rounds, 1 to %d threads", MAX_THREADS);
	make_memory();
	pthread_barrier_init(&barrier, NULL, (unsigned int)thread_count + 1);
	for (uintptr_t i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)i))
			die("no thread: %s", strerror(errno));
	minor = play_rounds(keep);
	for (uint64_t i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	printf("STORM rounds=%lu pages=%lu threads=%lu minor=%ld wrong=%lu late=%lu\n",
		(unsigned long)rounds, (unsigned long)pages, (unsigned long)thread_count, minor,
		(unsigned long)wrong, (unsigned long)late);
	return wrong || late;
}
