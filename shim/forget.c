/* SPDX-License-Identifier: MIT */
#include <linux/elf.h>
#include <linux/fadvise.h>
#include <linux/resource.h>

#include "core/kernel.h"
#include "forget.h"
#include "link_map.h"
#include "object.h"
#include "process.h"
#include "sys.h"
#include "text.h"

/* Documentation/admin-guide/mm/pagemap.rst */
#define ENTRY_PRESENT ((uint64_t)1 << 63)
/* Of 16K pages in a block of 2M. */
#define BLOCK_PAGES_MAX 128

/* struct text - the whole blocks of a text as it is mapped now */
struct text {
	const struct ea_image *image;
	uint64_t load_bias;
	int fd;
	int pagemap_fd;
	uint64_t page_bytes;
	uint64_t block_bytes;
	uint64_t addr;	 /* of the first whole block */
	uint64_t offset; /* of the same, in the file */
	uint64_t blocks;
};

/* Did this start wait for the disk? Page faults tell; they count since the last fork. */
static int has_read_from_disk(void)
{
	struct rusage usage;

	return !sys_getrusage(RUSAGE_SELF, &usage) && usage.ru_majflt > 0;
}

static int helps(const struct ea_startup *startup, const struct ea_settings *settings)
{
	const struct ea_geometry *geometry = &startup->geometry;
	struct ea_release release;

	if (settings->advise == EA_ADVISE_NEVER || geometry->contpte_bytes != 2 * EA_MIB)
		return 0;
	ea_process_release(&release);
	return ea_advice_for_block(geometry, geometry->contpte_bytes, &release, EA_FS_XFS) ==
	       EA_ADVICE_USEFUL;
}

/* Pages of block @index that are mapped; 0 beyond either end. */
static unsigned int mapped_pages(const struct text *text, uint64_t index)
{
	uint64_t entries[BLOCK_PAGES_MAX];
	uint64_t pages = text->block_bytes / text->page_bytes;
	uint64_t first = text->addr / text->page_bytes + index * pages;
	unsigned int mapped = 0;

	if (index >= text->blocks || pages > BLOCK_PAGES_MAX ||
		sys_pread(text->pagemap_fd, entries, pages * sizeof(entries[0]),
			first * sizeof(entries[0])) != (long)(pages * sizeof(entries[0])))
		return 0;
	for (uint64_t i = 0; i < pages; i++)
		mapped += !!(entries[i] & ENTRY_PRESENT);
	return mapped;
}

/*
 * Is the block cached in small folios? A folio is mapped as a whole by the first touch of any of its
 * pages (mm/filemap.c, filemap_map_folio_range(), and mm/memory.c, finish_fault(), since 6.18). What
 * was only read ahead is not mapped: where that can be, one page is touched.
 */
static int is_small(const struct text *text, uint64_t index, int has_touched_neighbour)
{
	unsigned int pages = (unsigned int)(text->block_bytes / text->page_bytes);
	unsigned int mapped = mapped_pages(text, index);

	if (!mapped && has_touched_neighbour &&
		!sys_madvise(text->addr + index * text->block_bytes, text->page_bytes,
			MADV_POPULATE_READ))
		mapped = mapped_pages(text, index);
	return mapped && mapped < pages;
}

/* Unmap what a segment maps of [@start, @end) of the file. */
static void unmap_range(
	const struct text *text, const struct ea_segment *segment, uint64_t start, uint64_t end)
{
	uint64_t page_mask = ~(text->page_bytes - 1);
	uint64_t segment_start = segment->offset & page_mask;
	uint64_t segment_end =
		(segment->offset + segment->file_bytes + text->page_bytes - 1) & page_mask;
	uint64_t delta = text->load_bias + segment->vaddr - segment->offset;

	if (start < segment_start)
		start = segment_start;
	if (end > segment_end)
		end = segment_end;
	if (start < end)
		sys_madvise(delta + start, end - start, MADV_DONTNEED);
}

/* The headers' segment may share the first block with the text. Nothing that was written is lost. */
static void forget_block(const struct text *text, uint64_t index)
{
	uint64_t start = text->offset + index * text->block_bytes;

	for (unsigned int i = 0; i < text->image->load_count; i++) {
		const struct ea_segment *segment = &text->image->loads[i];

		if (!(segment->flags & PF_W))
			unmap_range(text, segment, start, start + text->block_bytes);
	}
	sys_fadvise(text->fd, start, text->block_bytes, POSIX_FADV_DONTNEED);
}

static void forget_text(const struct text *text)
{
	unsigned int before = 0, here = mapped_pages(text, 0);

	for (uint64_t i = 0; i < text->blocks; i++) {
		unsigned int behind = mapped_pages(text, i + 1);
		int is_at_end = !i || i + 1 == text->blocks;

		if (is_small(text, i, is_at_end || before || behind))
			forget_block(text, i);
		before = here;
		here = behind;
	}
}

/* @object is open. Text that the loader has written to is not what the file holds. */
static void forget_library(const struct ea_startup *startup, const struct ea_settings *settings,
	const struct link_map *map, struct ea_object *object, int pagemap_fd)
{
	const struct ea_geometry *geometry = &startup->geometry;
	const struct ea_segment *segment;
	struct text text = {
		.image = &object->image,
		.load_bias = map->l_addr,
		.fd = object->fd,
		.pagemap_fd = pagemap_fd,
	};
	unsigned int index;

	if (ea_object_read(object, geometry->page_bytes) || ea_link_map_has_textrel(map))
		return;
	text.page_bytes = geometry->page_bytes;
	text.block_bytes = ea_settings_block(settings, geometry, &object->image, &index);
	if (text.block_bytes != geometry->contpte_bytes)
		return;
	segment = &object->image.loads[index];
	text.blocks = ea_whole_blocks_bytes(segment->offset, segment->file_bytes, text.page_bytes,
			      text.block_bytes, &text.offset) /
		      text.block_bytes;
	text.addr = map->l_addr + segment->vaddr + (text.offset - segment->offset);
	forget_text(&text);
}

void ea_forget_small_folios(const struct ea_startup *startup, const struct ea_settings *settings)
{
	const struct link_map *self = ea_link_map_self(startup->main_map);
	struct ea_object object;
	int pagemap_fd;

	if (!helps(startup, settings) || !has_read_from_disk())
		return;
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
		forget_library(startup, settings, map, &object, pagemap_fd);
		ea_object_close(&object);
	}
	sys_close(pagemap_fd);
}
