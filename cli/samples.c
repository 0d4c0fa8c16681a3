/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/sample_ring.h"
#include "perf_refusal.h"
#include "samples.h"

/* Samples of four seconds. perf_event_mlock_kb allows any user 516 KiB per processor. */
#define RING_BYTES ((size_t)128 << 10)

#define SPOTS_MIN 4096

/* struct sample_event - the process on one processor */
struct sample_event {
	int fd;
	struct perf_event_mmap_page *control; /* one page, and behind it the ring */
	struct ea_sample_ring ring;
};

/* struct spot - samples in one page, through entries of one size */
struct spot {
	uint64_t page;
	uint64_t count;
	unsigned int order;
};

static void set_trouble(struct samples *samples, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void set_trouble(struct samples *samples, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(samples->trouble, sizeof(samples->trouble), format, args);
	va_end(args);
}

static void explain_open(struct samples *samples, int err)
{
	if (!perf_refusal(err, samples->trouble))
		return;
	switch (err) {
	case EINVAL:
		set_trouble(samples, "this kernel does not sample the size of entries; use Linux "
				     "5.13 or newer");
		return;
	case EMFILE:
	case ENFILE:
		set_trouble(samples,
			"sampling takes %d descriptors, one per processor; raise "
			"ulimit -n",
			get_nprocs_conf());
		return;
	default:
		set_trouble(samples, "perf events fail: %s; see execalign doctor", strerror(err));
	}
}

static int open_event(pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = SAMPLE_INTERVAL_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_CODE_PAGE_SIZE,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.inherit_thread = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.comm = 1,
		.comm_exec = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static size_t mapped_bytes(const struct samples *samples)
{
	return samples->page_bytes + RING_BYTES;
}

/* 0, or an errno value. An event that is inherited has a buffer only if it is of one processor. */
static int add_event(struct samples *samples, pid_t pid, int cpu)
{
	struct sample_event *event = &samples->events[samples->event_count];

	event->fd = open_event(pid, cpu);
	if (event->fd < 0)
		return errno;
	event->control =
		mmap(NULL, mapped_bytes(samples), PROT_READ | PROT_WRITE, MAP_SHARED, event->fd, 0);
	if (event->control == MAP_FAILED) {
		close(event->fd);
		return ENOBUFS;
	}
	event->ring.data = (const unsigned char *)event->control + samples->page_bytes;
	event->ring.bytes = RING_BYTES;
	samples->event_count++;
	return 0;
}

static void close_events(struct samples *samples)
{
	size_t i;

	for (i = 0; i < samples->event_count; i++) {
		munmap(samples->events[i].control, mapped_bytes(samples));
		close(samples->events[i].fd);
	}
	free(samples->events);
	samples->events = NULL;
	samples->event_count = 0;
}

void samples_open(struct samples *out, pid_t pid)
{
	int cpu, cpus = get_nprocs_conf(), err = 0;

	memset(out, 0, sizeof(*out));
	out->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	out->events = calloc((size_t)cpus, sizeof(*out->events));
	if (!out->events) {
		explain_open(out, ENOMEM);
		return;
	}
	for (cpu = 0; cpu < cpus && !err; cpu++) {
		err = add_event(out, pid, cpu);
		/* Offline. */
		if (err == ENODEV)
			err = 0;
	}
	if (!err)
		return;
	close_events(out);
	if (err == ENOBUFS)
		set_trouble(out, "no memory can be locked for samples; raise "
				 "kernel.perf_event_mlock_kb or ulimit -l");
	else
		explain_open(out, err);
}

static int by_place(const void *a, const void *b)
{
	const struct spot *first = a, *second = b;

	if (first->page != second->page)
		return first->page < second->page ? -1 : 1;
	return (first->order > second->order) - (first->order < second->order);
}

/* Makes one spot of those that are of the same place. */
static void merge_spots(struct samples *samples)
{
	size_t i, kept = 0;

	if (!samples->spot_count)
		return;
	qsort(samples->spots, samples->spot_count, sizeof(*samples->spots), by_place);
	for (i = 1; i < samples->spot_count; i++) {
		if (by_place(&samples->spots[kept], &samples->spots[i]))
			samples->spots[++kept] = samples->spots[i];
		else
			samples->spots[kept].count += samples->spots[i].count;
	}
	samples->spot_count = kept + 1;
}

static bool make_room(struct samples *samples)
{
	size_t room = samples->spot_room ? 2 * samples->spot_room : SPOTS_MIN;
	struct spot *grown;

	if (samples->spot_count < samples->spot_room)
		return true;
	merge_spots(samples);
	/* Half empty: this will do for as many samples again. */
	if (samples->spot_count < samples->spot_room / 2)
		return true;
	grown = reallocarray(samples->spots, room, sizeof(*grown));
	if (!grown)
		return samples->spot_count < samples->spot_room;
	samples->spots = grown;
	samples->spot_room = room;
	return true;
}

static unsigned int entry_order(uint64_t bytes)
{
	unsigned int order;

	if (!bytes || (bytes & (bytes - 1)))
		return 0;
	order = (unsigned int)__builtin_ctzll(bytes);
	return order < ENTRY_ORDERS ? order : 0;
}

static void add_sample(struct samples *samples, const struct ea_record *record)
{
	if (!make_room(samples)) {
		samples->lost++;
		return;
	}
	samples->spots[samples->spot_count++] = (struct spot){
		.page = record->address & ~(samples->page_bytes - 1),
		.count = 1,
		.order = entry_order(record->entry_bytes),
	};
}

/* The execve() that happened last, if it is in a buffer; it is in that of one processor only. */
static uint64_t last_exec_time(const struct samples *samples)
{
	uint64_t last = samples->exec_time;
	size_t i;

	for (i = 0; i < samples->event_count; i++) {
		struct ea_sample_ring ring = samples->events[i].ring;
		struct ea_record record;

		while (ea_sample_ring_next(&ring, &record) != EA_RECORD_END)
			if (record.kind == EA_RECORD_EXEC && record.time > last)
				last = record.time;
	}
	return last;
}

static void take_ring(struct samples *samples, struct ea_sample_ring *ring)
{
	struct ea_record record;

	while (ea_sample_ring_next(ring, &record) != EA_RECORD_END) {
		samples->lost += record.lost;
		if (record.kind == EA_RECORD_SAMPLE && record.time >= samples->exec_time)
			add_sample(samples, &record);
	}
}

void samples_take(struct samples *samples)
{
	uint64_t exec_time;
	size_t i;

	for (i = 0; i < samples->event_count; i++)
		samples->events[i].ring.head =
			__atomic_load_n(&samples->events[i].control->data_head, __ATOMIC_ACQUIRE);
	exec_time = last_exec_time(samples);
	if (exec_time != samples->exec_time) {
		samples->exec_time = exec_time;
		samples->spot_count = 0;
	}
	for (i = 0; i < samples->event_count; i++) {
		struct sample_event *event = &samples->events[i];

		take_ring(samples, &event->ring);
		__atomic_store_n(&event->control->data_tail, event->ring.tail, __ATOMIC_RELEASE);
	}
}

void samples_close(struct samples *samples)
{
	size_t i;

	for (i = 0; i < samples->event_count; i++)
		ioctl(samples->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	samples_take(samples);
	close_events(samples);
	merge_spots(samples);
	if (!samples->spot_count && !samples->trouble[0])
		set_trouble(samples,
			"it was not seen executing, as it used about %d ms of "
			"processor time or less; let it run for longer",
			SAMPLE_INTERVAL_NS / 1000000);
}

const char *samples_trouble(const struct samples *samples)
{
	return samples->trouble[0] ? samples->trouble : NULL;
}

void samples_count(
	const struct samples *samples, uint64_t start, uint64_t end, struct entry_counts *out)
{
	size_t i;

	start &= ~(samples->page_bytes - 1);
	for (i = 0; i < samples->spot_count; i++) {
		const struct spot *spot = &samples->spots[i];

		if (spot->page < start || spot->page >= end)
			continue;
		out->total += spot->count;
		out->of_order[spot->order] += spot->count;
	}
}

void samples_free(struct samples *samples)
{
	close_events(samples);
	free(samples->spots);
	memset(samples, 0, sizeof(*samples));
}
