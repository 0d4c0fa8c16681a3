// SPDX-License-Identifier: MIT
/*
 * tlbi_storm.c - write faults that reuse pages, between two marks
 *
 *	tlbi_storm PAGES
 *
 * A process with one thread on each of two CPUs has PAGES pages of private memory. It forks, and the
 * child exits, which leaves the pages read-only, though nobody shares them any more. Both threads read
 * all pages, so that both CPUs know the read-only entries. Then, between the marks, each thread writes
 * to a half of the pages: every write is a fault that makes the entry writable. Last, each thread
 * adds to the other's half, where its CPU may still have the read-only entries: these are other_faults.
 * Nobody sleeps meanwhile, so that no CPU leaves the address space.
 *
 * Under QEMU, other_faults is 0 whatever the kernel does: before it raises a permission fault, it looks
 * at the table again. That a kernel gets on with stale entries shows on real processors only.
 *
 * Prints "STORM pages=N faults=N other_faults=N". Exit: 0 done, 1 some page holds a wrong value, 2
 * cannot (one line on stderr).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "marks.h"

#define THREADS 2
#define PAGES_MAX 100000
/*
 * Pages that are new to a CPU wait in a batch of at most 31 for their way to the LRU. Another CPU takes
 * them for shared and copies them, so these come behind.
 */
#define MORE_PAGES 64
#define OLD_VALUE 1
#define OWN_VALUE 10
#define ADDED 100

#define STRING(text) STRING_OF(text)
#define STRING_OF(text) #text
#define MARK(number) __asm__ volatile("hint #" STRING(number)::: "memory")

static char *memory;
static size_t pages, page_bytes;
static atomic_uint arrived;

static volatile uint64_t *word(size_t page)
{
	return (volatile uint64_t *)(memory + page * page_bytes);
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void stay_on(size_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("tlbi_storm: no two CPUs");
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* Waits for the other thread, which is on another CPU and never far. */
static void meet(void)
{
	unsigned int all = (arrived++ / THREADS + 1) * THREADS;

	while (arrived < all)
		;
}

/* Pages of a thread alternate with those of the other. The first one places the marks. */
static void write_pages(size_t self)
{
	size_t other = 1 - self;
	long before = 0, between = 0;

	stay_on(self);
	meet();
	for (size_t page = 0; page < pages; page++)
		(void)*word(page);
	meet();
	if (self == 0) {
		before = faults();
		MARK(MARK_BEGIN);
	}
	meet();
	for (size_t page = self; page < pages; page += THREADS)
		*word(page) = OWN_VALUE + self;
	meet();
	if (self == 0) {
		MARK(MARK_END);
		between = faults();
	}
	meet();
	for (size_t page = other; page < pages; page += THREADS)
		*word(page) += ADDED;
	meet();
	if (self == 0)
		printf("STORM pages=%zu faults=%ld other_faults=%ld\n", pages, between - before,
			faults() - between);
}

static void *run_other(void *argument)
{
	write_pages(1);
	return NULL;
}

static void fork_and_wait(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(0);
	if (child < 0 || waitpid(child, &status, 0) != child)
		die("tlbi_storm: fork");
}

static size_t wrong_pages(void)
{
	size_t wrong = 0;

	for (size_t page = 0; page < pages; page++)
		wrong += *word(page) != OWN_VALUE + page % THREADS + ADDED;
	return wrong;
}

/* In the smallest pages: large ones would be few faults. */
static void make_memory(void)
{
	size_t bytes = (pages + MORE_PAGES) * page_bytes;

	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE))
		die("tlbi_storm: no memory");
	for (size_t page = 0; page < pages + MORE_PAGES; page++)
		*word(page) = OLD_VALUE;
}

int main(int argc, char **argv)
{
	pthread_t other;

	pages = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	if (pages < THREADS || pages > PAGES_MAX) {
		fprintf(stderr, "tlbi_storm: usage: tlbi_storm PAGES, up to %d\n", PAGES_MAX);
		return 2;
	}
	make_memory();
	fork_and_wait();
	if (pthread_create(&other, NULL, run_other, NULL))
		die("tlbi_storm: no thread");
	write_pages(0);
	pthread_join(other, NULL);
	if (wrong_pages()) {
		fprintf(stderr, "tlbi_storm: %zu pages hold a wrong value\n", wrong_pages());
		return 1;
	}
	return 0;
}
