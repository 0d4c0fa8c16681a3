/* SPDX-License-Identifier: MIT */
#include <asm/statfs.h>
#include <linux/elf.h>

#include "advise.h"
#include "link_map.h"
#include "record_reader.h"
#include "sys.h"
#include "text.h"

/* mm/backing-dev.c: VM_READAHEAD_PAGES; and more than this is taken for nonsense. */
#define READAHEAD_KIB_DEFAULT 128
#define READAHEAD_KIB_MAX (16 << 10)

/* The facts about the filesystem of @object, which are asked for once while it stays the same. */
static struct ea_device *device_of(struct ea_adviser *adviser, const struct ea_object *object)
{
	if (adviser->device.number != object->device)
		adviser->device = (struct ea_device){.number = object->device};
	return &adviser->device;
}

/* The filesystem's magic number, 0 when it cannot be told. */
static uint64_t fs_magic(struct ea_adviser *adviser, const struct ea_object *object)
{
	struct ea_device *device = device_of(adviser, object);
	struct statfs status;

	if (!device->fs_magic && !sys_call6(__NR_fstatfs, object->fd, (long)&status, 0, 0, 0, 0))
		device->fs_magic = (uint64_t)status.f_type;
	return device->fs_magic;
}

int ea_advise_fs_aligns(
	struct ea_adviser *adviser, const struct ea_object *object, uint64_t block_bytes)
{
	/* thp_get_unmapped_area() knows no other unit. */
	return block_bytes == adviser->geometry.pmd_bytes &&
	       ea_fs_aligns_mmap(fs_magic(adviser, object), &adviser->release) > 0;
}

enum ea_advice ea_advise_check(
	struct ea_adviser *adviser, const struct ea_object *object, uint64_t block_bytes)
{
	enum ea_advice best;

	/* xfs has had large folios the longest: what it is refused, every filesystem is. */
	best = ea_advice_for_block(&adviser->geometry, block_bytes, &adviser->release, EA_FS_XFS);
	if (best != EA_ADVICE_USEFUL)
		return best;
	return ea_advice_for_block(
		&adviser->geometry, block_bytes, &adviser->release, fs_magic(adviser, object));
}

/*
 * Have the block at @offset enter a cold cache as one folio, and copy its first @head_bytes bytes
 * to @head. With @advice MADV_RANDOM that is all that is read. Without, the kernel reads two blocks
 * and puts its readahead mark on the second instead of the first: the way to read a block that
 * ld.so will touch unadvised, since touching a mark starts a readahead of small folios.
 * Returns 0 or -errno.
 */
static long read_block(const struct ea_adviser *adviser, int fd, uint64_t offset, int advice,
	void *head, size_t head_bytes)
{
	/*
	 * One page is enough: the advised read aligns its index to the block and reads a block whatever
	 * the size of the mapping. Mapping more would cost a warm start the mapping of the whole folio.
	 */
	uint64_t bytes = adviser->geometry.page_bytes;
	uint64_t addr;
	long ret;

	ret = sys_mmap(0, bytes, PROT_READ, MAP_PRIVATE, fd, offset);
	if (sys_is_error(ret))
		return ret;
	addr = (uint64_t)ret;
	ret = sys_madvise(addr, bytes, MADV_HUGEPAGE);
	if (!ret && advice == MADV_RANDOM)
		ret = sys_madvise(addr, bytes, MADV_RANDOM);
	/* Populating gives an error where touching a short file would give SIGBUS. */
	if (!ret)
		ret = sys_madvise(addr, bytes, MADV_POPULATE_READ);
	if (!ret)
		memcpy(head, (const void *)addr, head_bytes);
	sys_munmap(addr, bytes);
	return ret;
}

/* Is @block_bytes better left alone where something small is cached: smaller blocks exist? */
static int must_spare(const struct ea_adviser *adviser, uint64_t block_bytes)
{
	return adviser->has_loaded && adviser->geometry.contpte_bytes &&
	       adviser->geometry.contpte_bytes < block_bytes;
}

int ea_advise_first_block(
	struct ea_adviser *adviser, const struct ea_object *object, void *head, size_t head_bytes)
{
	uint64_t block_bytes = ea_advice_first_block_bytes(&adviser->geometry, &adviser->release);

	if (adviser->mode == EA_ADVISE_NEVER || !block_bytes || object->file_bytes < block_bytes ||
		must_spare(adviser, block_bytes))
		return 0;
	if (ea_advise_check(adviser, object, block_bytes) != EA_ADVICE_USEFUL)
		return 0;
	return !read_block(adviser, object->fd, 0, MADV_RANDOM, head, head_bytes);
}

/* The number in a file of sysfs whose name is made of @prefix, the device and @suffix. */
static uint64_t read_device_number(const char *prefix, uint64_t device, const char *suffix)
{
	uint64_t major = (device & 0xfff00) >> 8; /* include/linux/kdev_t.h, new_decode_dev() */
	uint64_t minor = (device & 0xff) | ((device >> 12) & 0xfff00);
	struct ea_record_reader reader;
	char path[80];
	char line[24];
	struct ea_text text = {path, sizeof(path) - 1, 0};
	uint64_t number = UINT64_MAX;

	ea_text_add(&text, prefix);
	ea_text_add_number(&text, major);
	ea_text_add(&text, ":");
	ea_text_add_number(&text, minor);
	ea_text_add(&text, suffix);
	path[text.length] = '\0';
	if (ea_record_open(&reader, path, '\n'))
		return number;
	if (ea_record_next(&reader, line, sizeof(line), NULL))
		number = ea_parse_number(line, NULL);
	ea_record_close(&reader);
	return number;
}

/* Read-ahead window of the disk, or the kernel's default where sysfs does not tell. Never 0. */
static uint64_t read_readahead_bytes(uint64_t device)
{
	uint64_t kib = read_device_number("/sys/class/bdi/", device, "/read_ahead_kb");

	/* A partition has no bdi of its own: ask for that of its disk. */
	if (kib > READAHEAD_KIB_MAX)
		kib = read_device_number("/sys/dev/block/", device, "/../queue/read_ahead_kb");
	if (kib > READAHEAD_KIB_MAX)
		kib = READAHEAD_KIB_DEFAULT;
	return kib ? kib * EA_KIB : 1;
}

uint64_t ea_advise_readahead_bytes(struct ea_adviser *adviser, const struct ea_object *object)
{
	struct ea_device *device = device_of(adviser, object);

	if (!device->readahead_bytes)
		device->readahead_bytes = read_readahead_bytes(object->device);
	return device->readahead_bytes;
}

/* File offset of @vaddr, UINT64_MAX when no bytes of the file are mapped there. */
static uint64_t offset_of(const struct ea_image *image, uint64_t vaddr)
{
	const struct ea_segment *segment;

	for (unsigned int i = 0; i < image->load_count; i++) {
		segment = &image->loads[i];
		if (vaddr >= segment->vaddr && vaddr - segment->vaddr < segment->file_bytes)
			return segment->offset + (vaddr - segment->vaddr);
	}
	return UINT64_MAX;
}

#define DYNAMIC_ENTRIES_MAX 48

/* Read the dynamic section; returns the number of entries before its end, 0 when there is none. */
static long read_dynamic(const struct ea_object *object, struct ea_elf_dyn *entries)
{
	uint64_t offset = offset_of(&object->image, object->image.dynamic_vaddr);
	long count, i;

	if (!object->image.has_dynamic || offset == UINT64_MAX)
		return 0;
	count = sys_pread(object->fd, entries, DYNAMIC_ENTRIES_MAX * sizeof(*entries), offset) /
		(long)sizeof(*entries);
	for (i = 0; i < count && entries[i].tag != DT_NULL; i++)
		continue;
	return i;
}

/* Value of entry @tag, 0 when there is none. */
static uint64_t dynamic_value(const struct ea_elf_dyn *entries, long count, int64_t tag)
{
	for (; count-- > 0; entries++) {
		if (entries->tag == tag)
			return entries->value;
	}
	return 0;
}

/* File offset of the symbol hash table, UINT64_MAX when there is none. */
static uint64_t hash_offset(const struct ea_object *object)
{
	struct ea_elf_dyn entries[DYNAMIC_ENTRIES_MAX];
	long count = read_dynamic(object, entries);
	uint64_t vaddr = dynamic_value(entries, count, DT_GNU_HASH);

	if (!vaddr)
		vaddr = dynamic_value(entries, count, DT_HASH);
	return vaddr ? offset_of(&object->image, vaddr) : UINT64_MAX;
}

/*
 * End of the relocations in @segment, by file offset; 0 when it has none. They are the last of the
 * tables that ld.so reads, in the order of GNU ld and lld, and those of the PLT are the last of them.
 */
static uint64_t relocations_end(const struct ea_object *object, const struct ea_segment *segment)
{
	struct ea_elf_dyn entries[DYNAMIC_ENTRIES_MAX];
	long count = read_dynamic(object, entries);
	uint64_t start = dynamic_value(entries, count, DT_JMPREL);
	uint64_t bytes = dynamic_value(entries, count, start ? DT_PLTRELSZ : DT_RELASZ);

	if (!start)
		start = dynamic_value(entries, count, DT_RELA);
	start = offset_of(&object->image, start);
	if (start < segment->offset || start - segment->offset >= segment->file_bytes ||
		bytes > segment->file_bytes)
		return 0;
	return start + bytes;
}

/* struct whole - the whole blocks of the text, as a range of file offsets */
struct whole {
	uint64_t start;
	uint64_t end;
	uint64_t block_bytes;
	uint64_t read_end; /* blocks below this were read already */
};

/* Read the whole blocks that [@start, @end) touches. */
static void read_blocks(
	const struct ea_adviser *adviser, int fd, struct whole *whole, uint64_t start, uint64_t end)
{
	start = (start > whole->read_end ? start : whole->read_end) & ~(whole->block_bytes - 1);
	if (end > whole->end)
		end = whole->end;
	for (; start < end; start += whole->block_bytes) {
		read_block(adviser, fd, start, MADV_RANDOM, NULL, 0);
		whole->read_end = start + whole->block_bytes;
	}
}

void ea_advise_touched_blocks(struct ea_adviser *adviser, const struct ea_object *object,
	unsigned int text, uint64_t block_bytes)
{
	const struct ea_segment *segment = &object->image.loads[text];
	uint64_t spill_bytes = ea_advise_readahead_bytes(adviser, object) / 2;
	uint64_t segment_end = segment->offset + segment->file_bytes;
	struct whole whole = {.block_bytes = block_bytes};
	uint64_t spill_start;
	uint64_t hash;

	if (must_spare(adviser, block_bytes))
		return;
	whole.end = ea_whole_blocks_bytes(segment->offset, segment->file_bytes,
		adviser->geometry.page_bytes, block_bytes, &whole.start);
	whole.end += whole.start;
	/* ea_advise_first_block() has read the block at offset 0. */
	whole.read_end = whole.start ? whole.start : block_bytes;

	hash = hash_offset(object);
	if (hash != UINT64_MAX && hash >= whole.read_end && hash < whole.end)
		read_block(adviser, object->fd, hash & ~(block_bytes - 1), MADV_HUGEPAGE, NULL, 0);
	if (text > 0)
		read_blocks(
			adviser, object->fd, &whole, whole.start, segment->offset + spill_bytes);
	/* The segment behind spills back. */
	spill_start = segment_end > spill_bytes ? segment_end - spill_bytes : 0;
	if (text + 1u < object->image.load_count && spill_start < whole.end)
		read_blocks(adviser, object->fd, &whole, spill_start, whole.end);
}

struct ea_range ea_advise_range(struct ea_adviser *adviser, const struct ea_object *object,
	unsigned int text, uint64_t block_bytes)
{
	const struct ea_segment *segment = &object->image.loads[text];
	struct ea_range range = {segment->offset, segment->file_bytes};
	uint64_t window_bytes, start, end, whole_bytes;

	if (!must_spare(adviser, block_bytes))
		return range;
	window_bytes = ea_advise_readahead_bytes(adviser, object);
	start = relocations_end(object, segment);
	if (start < segment->offset)
		start = segment->offset;
	start += window_bytes;
	end = segment->offset + segment->file_bytes;
	if (text + 1u < object->image.load_count)
		end -= window_bytes < segment->file_bytes ? window_bytes : segment->file_bytes;
	range.offset = start;
	range.bytes = start < end ? end - start : 0;

	/* What is left to plain reading spills over into the blocks at the ends: they come first. */
	whole_bytes = ea_whole_blocks_bytes(
		range.offset, range.bytes, adviser->geometry.page_bytes, block_bytes, &start);
	if (whole_bytes)
		read_block(adviser, object->fd, start, MADV_RANDOM, NULL, 0);
	if (whole_bytes > block_bytes)
		read_block(adviser, object->fd, start + whole_bytes - block_bytes, MADV_RANDOM,
			NULL, 0);
	return range;
}

int ea_advise_text(const struct ea_adviser *adviser, uint64_t addr, uint64_t offset, uint64_t bytes,
	uint64_t block_bytes)
{
	uint64_t first_offset;
	uint64_t whole_bytes = ea_whole_blocks_bytes(
		offset, bytes, adviser->geometry.page_bytes, block_bytes, &first_offset);
	uint64_t first;
	long ret;

	if (!whole_bytes)
		return 0;
	first = addr + (first_offset - offset);
	ret = sys_madvise(first, whole_bytes, MADV_HUGEPAGE);
	/* Random without hugepage would only take read-ahead away. */
	if (!ret && adviser->mode == EA_ADVISE_AUTO)
		ret = sys_madvise(first, whole_bytes, MADV_RANDOM);
	return (int)ret;
}
