/* SPDX-License-Identifier: MIT */
#include <linux/elf.h>
#include <linux/fadvise.h>
#include <linux/resource.h>

#include "advise.h"
#include "forget.h"
#include "link_map.h"
#include "object.h"
#include "process.h"
#include "sys.h"
#include "text.h"

/* Documentation/admin-guide/mm/pagemap.rst; these bits need no privilege. */
#define ENTRY_PRESENT ((uint64_t)1 << 63)
#define ENTRY_FILE ((uint64_t)1 << 61)
/* Of 16K pages in a block of 2M. */
#define BLOCK_PAGES_MAX 128
/* Texts above 512 MiB are left as they are. */
#define BLOCKS_MAX 256

/* enum block_state - what the page table holds of a block */
enum block_state {
	BLOCK_UNTOUCHED, /* nothing: not read, or only read ahead */
	BLOCK_IN_PART,	 /* some pages: it is cached in small folios */
	BLOCK_AS_IT_IS,	 /* all pages, as of one large folio; or it must not be looked at */
};

/* struct text - the whole blocks of a text as it is mapped now */
struct text {
	const struct ea_geometry *geometry;
	const struct ea_image *image;
	uint64_t load_bias;
	int fd;
	int pagemap_fd;
	uint64_t block_bytes;
	uint64_t addr;	 /* of the first whole block */
	uint64_t offset; /* of the same, in the file */
	uint64_t blocks;
	uint64_t window_blocks; /* as far does read-ahead reach */
};

/* Did this process wait for the disk, since it was forked? */
static int has_read_from_disk(void)
{
	struct rusage usage;

	return !sys_getrusage(RUSAGE_SELF, &usage) && usage.ru_majflt > 0;
}

/*
 * Since 6.18 a folio is mapped as a whole by the first touch of any of its pages (mm/filemap.c,
 * filemap_map_folio_range(), and mm/memory.c, finish_fault()), except where it would be in two page
 * tables. Pages that are no longer the file's, as under a breakpoint, must not be lost.
 */
static enum block_state look_at(const struct text *text, uint64_t index)
{
	uint64_t entries[BLOCK_PAGES_MAX];
	uint64_t page_bytes = text->geometry->page_bytes;
	uint64_t addr = text->addr + index * text->block_bytes;
	uint64_t table_bytes = page_bytes * (page_bytes / sizeof(entries[0]));
	uint64_t pages = text->block_bytes / page_bytes;
	uint64_t bytes = pages * sizeof(entries[0]);
	uint64_t present = 0;

	if (addr / table_bytes != (addr + text->block_bytes - 1) / table_bytes ||
		sys_pread(text->pagemap_fd, entries, bytes,
			addr / page_bytes * sizeof(entries[0])) != (long)bytes)
		return BLOCK_AS_IT_IS;
	for (uint64_t i = 0; i < pages; i++) {
		if (!(entries[i] & ENTRY_PRESENT))
			continue;
		if (!(entries[i] & ENTRY_FILE))
			return BLOCK_AS_IT_IS;
		present++;
	}
	if (!present)
		return BLOCK_UNTOUCHED;
	return present < pages ? BLOCK_IN_PART : BLOCK_AS_IT_IS;
}

/* Is there something touched within reach of read-ahead, or a neighbouring segment? */
static int may_be_read_ahead(const struct text *text, const unsigned char *states, uint64_t index)
{
	uint64_t first = index > text->window_blocks ? index - text->window_blocks : 0;
	uint64_t last = index + text->window_blocks;

	if (!first || last + 1 >= text->blocks)
		return 1;
	for (; first <= last; first++) {
		if (states[first] != BLOCK_UNTOUCHED)
			return 1;
	}
	return 0;
}

/*
 * What was only read ahead is not mapped: touch one page, without any read-ahead. A large folio is
 * mapped as a whole then.
 */
static enum block_state touch(const struct text *text, uint64_t index)
{
	uint64_t addr = text->addr + index * text->block_bytes;
	uint64_t page_bytes = text->geometry->page_bytes;

	sys_madvise(addr, page_bytes, MADV_RANDOM);
	sys_madvise(addr, page_bytes, MADV_POPULATE_READ);
	sys_madvise(addr, page_bytes, MADV_NORMAL);
	return look_at(text, index);
}

/*
 * Drop [@start, @end) of the file. Pages stay while they are mapped, and the headers' segment may
 * share the first block with the text: unmap them in all segments that nobody writes to.
 */
static void forget(const struct text *text, uint64_t start, uint64_t end)
{
	uint64_t page_mask = ~(text->geometry->page_bytes - 1);

	for (unsigned int i = 0; i < text->image->load_count; i++) {
		const struct ea_segment *segment = &text->image->loads[i];
		uint64_t from = segment->offset & page_mask;
		uint64_t to = (segment->offset + segment->file_bytes + ~page_mask) & page_mask;

		from = from < start ? start : from;
		to = to > end ? end : to;
		if (from < to && !(segment->flags & PF_W))
			sys_madvise(text->load_bias + segment->vaddr - segment->offset + from,
				to - from, MADV_DONTNEED);
	}
	/* In one go: for each call that finds a page in use, the kernel flushes all processors' lists. */
	sys_fadvise(text->fd, start, end - start, POSIX_FADV_DONTNEED);
}

static void forget_text(const struct text *text)
{
	unsigned char states[BLOCKS_MAX];
	uint64_t start = 0, end = 0;

	for (uint64_t i = 0; i < text->blocks; i++)
		states[i] = (unsigned char)look_at(text, i);
	for (uint64_t i = 0; i < text->blocks; i++) {
		uint64_t offset = text->offset + i * text->block_bytes;
		enum block_state state = states[i];

		if (state == BLOCK_UNTOUCHED && may_be_read_ahead(text, states, i))
			state = touch(text, i);
		if (state != BLOCK_IN_PART)
			continue;
		if (offset != end) {
			if (end)
				forget(text, start, end);
			start = offset;
		}
		end = offset + text->block_bytes;
	}
	if (end)
		forget(text, start, end);
}

/*
 * @object is open. It must be the file that is mapped: the dynamic section lies where its headers
 * say. Text that the loader has written to is not what the file holds.
 */
static void forget_library(struct ea_adviser *adviser, const struct ea_settings *settings,
	const struct link_map *map, struct ea_object *object, int pagemap_fd)
{
	const struct ea_geometry *geometry = &adviser->geometry;
	const struct ea_segment *segment;
	struct text text = {
		.geometry = geometry,
		.image = &object->image,
		.load_bias = map->l_addr,
		.fd = object->fd,
		.pagemap_fd = pagemap_fd,
		.block_bytes = geometry->contpte_bytes,
	};
	unsigned int index;

	if (ea_object_read(object, geometry->page_bytes) || ea_link_map_has_textrel(map) ||
		(uint64_t)(uintptr_t)map->l_ld != map->l_addr + object->image.dynamic_vaddr ||
		ea_settings_block(settings, geometry, &object->image, &index) != text.block_bytes ||
		ea_advise_check(adviser, object, text.block_bytes) != EA_ADVICE_USEFUL)
		return;
	segment = &object->image.loads[index];
	text.blocks = ea_whole_blocks_bytes(segment->offset, segment->file_bytes,
			      geometry->page_bytes, text.block_bytes, &text.offset) /
		      text.block_bytes;
	if (text.blocks > BLOCKS_MAX)
		return;
	text.addr = map->l_addr + segment->vaddr + (text.offset - segment->offset);
	text.window_blocks =
		(ea_advise_readahead_bytes(adviser, object) - 1) / text.block_bytes + 1;
	forget_text(&text);
}

void ea_forget_small_folios(const struct ea_startup *startup, const struct ea_settings *settings)
{
	const struct link_map *self = ea_link_map_self(startup->main_map);
	struct ea_adviser adviser = {.geometry = startup->geometry};
	struct ea_object object;
	int pagemap_fd;

	/* A PMD's folio is in two page tables wherever it is misplaced. */
	if (settings->advise == EA_ADVISE_NEVER ||
		adviser.geometry.contpte_bytes != EA_BLOCK_CAP_BYTES || !has_read_from_disk())
		return;
	ea_process_release(&adviser.release);
	pagemap_fd = (int)sys_open("/proc/self/pagemap", SYS_O_CLOEXEC, 0);
	if (pagemap_fd < 0)
		return;
	for (const struct link_map *map = startup->main_map->l_next; map; map = map->l_next) {
		if (map == self || map->l_addr == startup->loader_addr ||
			ea_basename(map->l_name) == map->l_name ||
			!ea_settings_allow(settings, map->l_name) ||
			ea_object_identify(&object, map->l_name) ||
			ea_object_open(&object, map->l_name))
			continue;
		forget_library(&adviser, settings, map, &object, pagemap_fd);
		ea_object_close(&object);
	}
	sys_close(pagemap_fd);
}
