/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "pagemap.h"

/* Documentation/admin-guide/mm/pagemap.rst */
#define ENTRY_PRESENT ((uint64_t)1 << 63)
#define ENTRY_FILE ((uint64_t)1 << 61)
#define ENTRY_EXCLUSIVE ((uint64_t)1 << 56)
#define ENTRY_PFN_MASK (((uint64_t)1 << 55) - 1)
#define FLAG_COMPOUND_HEAD ((uint64_t)1 << 15)
#define FLAG_COMPOUND_TAIL ((uint64_t)1 << 16)

/* Entries read at a time: 2 MiB of 4K pages. */
#define ENTRIES_MAX 512

/* Does the kernel show us page frame numbers? Asked of a page that is surely present. */
static bool pfns_visible(void)
{
	uint64_t entry = 0, page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return false;
	err = pread_all(fd, &entry, sizeof(entry), (uintptr_t)&entry / page_bytes * sizeof(entry));
	close(fd);
	return !err && (entry & ENTRY_PFN_MASK);
}

void page_flags_open(struct page_flags *flags)
{
	memset(flags, 0, sizeof(*flags));
	flags->fd = -1;
	if (pfns_visible())
		flags->fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
}

void page_flags_close(struct page_flags *flags)
{
	if (flags->fd >= 0)
		close(flags->fd);
	flags->fd = -1;
}

void page_flags_forget(struct page_flags *flags)
{
	flags->cached_count = 0;
	flags->last.pages = 0;
}

static bool flags_of(struct page_flags *flags, uint64_t pfn, uint64_t *out)
{
	uint64_t first = pfn - pfn % PAGE_FLAGS_CACHED;
	ssize_t got;

	if (!flags->cached_count || flags->cached_first != first) {
		/* Short at the end of memory. */
		got = pread(flags->fd, flags->cached, sizeof(flags->cached),
			(off_t)(first * sizeof(uint64_t)));
		flags->cached_first = first;
		flags->cached_count = got < 0 ? 0 : (size_t)got / sizeof(uint64_t);
	}
	if (pfn - first >= flags->cached_count)
		return false;
	*out = flags->cached[pfn - first];
	return true;
}

/* Walk to the head, then to the first page that is no tail; folios may change under our eyes. */
static bool find_folio(struct page_flags *flags, uint64_t pfn, struct folio *out)
{
	uint64_t pages_max = (uint64_t)1 << (FOLIO_ORDERS - 1);
	uint64_t head = pfn, page_flags;

	if (!flags_of(flags, pfn, &page_flags))
		return false;
	while (page_flags & FLAG_COMPOUND_TAIL) {
		if (!head || pfn - head >= pages_max || !flags_of(flags, --head, &page_flags))
			return false;
	}
	out->first_pfn = head;
	out->pages = 1;
	if (!(page_flags & FLAG_COMPOUND_HEAD))
		return head == pfn;
	while (out->pages < pages_max && flags_of(flags, head + out->pages, &page_flags) &&
		(page_flags & FLAG_COMPOUND_TAIL))
		out->pages++;
	return true;
}

static bool folio_has(const struct folio *folio, uint64_t pfn)
{
	return pfn >= folio->first_pfn && pfn - folio->first_pfn < folio->pages;
}

static bool folio_of(struct page_flags *flags, uint64_t pfn, struct folio *out)
{
	if (!folio_has(&flags->last, pfn) && !find_folio(flags, pfn, &flags->last)) {
		flags->last.pages = 0;
		return false;
	}
	*out = flags->last;
	return true;
}

static unsigned int folio_order(const struct folio *folio)
{
	return 63 - (unsigned int)__builtin_clzll(folio->pages);
}

/* struct run - does everything seen so far continue one run inside one folio? */
struct run {
	bool unbroken;
	uint64_t first_pfn;
	uint64_t pages;
};

static void run_add(struct run *run, struct page_flags *flags, uint64_t entry)
{
	uint64_t pfn = entry & ENTRY_PFN_MASK;
	struct folio folio;

	if (!run->pages)
		run->first_pfn = pfn;
	/* Copied pages (breakpoints, relocated text) are anonymous. */
	if (!(entry & ENTRY_PRESENT) || !(entry & ENTRY_FILE) ||
		pfn != run->first_pfn + run->pages || !folio_of(flags, pfn, &folio) ||
		!folio_has(&folio, run->first_pfn))
		run->unbroken = false;
	run->pages++;
}

static void present_add(
	struct present *present, struct page_flags *flags, uint64_t page_bytes, uint64_t entry)
{
	struct folio folio;

	if (!(entry & ENTRY_PRESENT))
		return;
	present->bytes += page_bytes;
	if (!(entry & ENTRY_EXCLUSIVE))
		present->shared_bytes += page_bytes;
	if (flags->fd >= 0 && folio_of(flags, entry & ENTRY_PFN_MASK, &folio))
		present->folio_bytes[folio_order(&folio)] += page_bytes;
}

int pagemap_range(int fd, struct page_flags *flags, uint64_t page_bytes, uint64_t start,
	uint64_t bytes, struct present *present, bool *one_run)
{
	struct run run = {.unbroken = flags->fd >= 0};
	uint64_t first = start / page_bytes, left = bytes / page_bytes;
	uint64_t entries[ENTRIES_MAX];

	while (left) {
		size_t count = left < ENTRIES_MAX ? (size_t)left : ENTRIES_MAX;
		size_t i;
		int err = pread_all(
			fd, entries, count * sizeof(entries[0]), first * sizeof(entries[0]));

		if (err)
			return err;
		for (i = 0; i < count; i++) {
			present_add(present, flags, page_bytes, entries[i]);
			if (run.unbroken)
				run_add(&run, flags, entries[i]);
		}
		first += count;
		left -= count;
	}
	if (one_run)
		*one_run = run.unbroken && run.pages && !(run.first_pfn & (run.pages - 1));
	return 0;
}
