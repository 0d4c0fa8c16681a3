/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/block.h"
#include "format.h"
#include "object.h"

/* Ranges in which a text without a block is looked at. */
#define PIECE_BYTES (2 * EA_MIB)

void add_known(uint64_t *sum, uint64_t bytes)
{
	if (*sum == UNKNOWN_BYTES || bytes == UNKNOWN_BYTES)
		*sum = UNKNOWN_BYTES;
	else
		*sum += bytes;
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool object_eligible(const struct object *object)
{
	return object->block_bytes != 0;
}

bool object_congruent(const struct object *object)
{
	return object_eligible(object) && !object->distance_bytes;
}

enum verdict object_verdict(const struct object *object)
{
	if (!object_eligible(object) || !object->touched_bytes)
		return object->distance_bytes ? VERDICT_NO : VERDICT_YES;
	if (object->distance_bytes)
		return VERDICT_NO;
	if (object->touched_bytes == UNKNOWN_BYTES || object->block_mapped_bytes == UNKNOWN_BYTES)
		return VERDICT_UNKNOWN;
	return object->block_mapped_bytes < object->touched_bytes ? VERDICT_NO : VERDICT_YES;
}

static bool is_text(const struct vma *vma)
{
	return vma->executable && !vma->writable;
}

static uint64_t vma_bytes(const struct vma *vma)
{
	return vma->end - vma->start;
}

static uint64_t text_delta(const struct text *text)
{
	return text->start - text->offset;
}

static int text_add_vma(struct text *text, const struct vma *vma)
{
	const struct vma **vmas =
		reallocarray(text->vmas, text->vma_count + 1, sizeof(*text->vmas));

	if (!vmas)
		return -ENOMEM;
	text->vmas = vmas;
	vmas[text->vma_count++] = vma;
	return 0;
}

static struct text *object_add_text(struct object *object)
{
	struct text *texts =
		reallocarray(object->texts, object->text_count + 1, sizeof(*object->texts));

	if (!texts)
		return NULL;
	object->texts = texts;
	memset(&texts[object->text_count], 0, sizeof(*texts));
	return &texts[object->text_count++];
}

/* Appends to the last text what continues it, both in memory and in the file. */
static int object_add_vma(struct object *object, const struct vma *vma)
{
	struct text *last = object->text_count ? &object->texts[object->text_count - 1] : NULL;

	if (!last || vma->start != last->start + last->bytes ||
		vma->offset != last->offset + last->bytes) {
		last = object_add_text(object);
		if (!last)
			return -ENOMEM;
		last->offset = vma->offset;
		last->start = vma->start;
	}
	last->bytes += vma_bytes(vma);
	return text_add_vma(last, vma);
}

static bool same_file(const struct object *object, const struct vma *vma)
{
	return object->inode == vma->inode && object->dev_major == vma->dev_major &&
	       object->dev_minor == vma->dev_minor && !strcmp(object->path, vma->path);
}

static struct object *find_object(struct object *objects, size_t count, const struct vma *vma)
{
	size_t i;

	/* The last one is the likeliest. */
	for (i = count; i > 0; i--)
		if (same_file(&objects[i - 1], vma))
			return &objects[i - 1];
	return NULL;
}

static struct object *add_object(struct object **objects, size_t *count, const struct vma *vma)
{
	struct object *grown = reallocarray(*objects, *count + 1, sizeof(*grown));
	struct object *object;

	if (!grown)
		return NULL;
	*objects = grown;
	object = &grown[*count];
	memset(object, 0, sizeof(*object));
	object->path = strdup(vma->path);
	if (!object->path)
		return NULL;
	object->dev_major = vma->dev_major;
	object->dev_minor = vma->dev_minor;
	object->inode = vma->inode;
	(*count)++;
	return object;
}

int objects_find(const struct maps *maps, struct object **out, size_t *count)
{
	struct object *objects = NULL;
	size_t i, found = 0;

	for (i = 0; i < maps->count; i++) {
		const struct vma *vma = &maps->vmas[i];
		struct object *object;

		if (!is_text(vma))
			continue;
		object = find_object(objects, found, vma);
		if (!object)
			object = add_object(&objects, &found, vma);
		if (!object || object_add_vma(object, vma)) {
			objects_free(objects, found);
			return -ENOMEM;
		}
	}
	*out = objects;
	*count = found;
	return 0;
}

static void free_texts(struct text *texts, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free(texts[i].vmas);
	free(texts);
}

void objects_free(struct object *objects, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		free_texts(objects[i].texts, objects[i].text_count);
		free(objects[i].path);
	}
	free(objects);
}

static enum role find_role(
	const struct object *object, const struct process *process, const struct maps *maps)
{
	size_t i;

	for (i = 0; i < maps->count; i++) {
		const struct vma *vma = &maps->vmas[i];

		if (vma->inode != object->inode || vma->dev_major != object->dev_major ||
			vma->dev_minor != object->dev_minor)
			continue;
		/* For "ld.so PROGRAM" the kernel's program is ld.so, and it has no loader. */
		if (process->entry >= vma->start && process->entry < vma->end)
			return ROLE_EXECUTABLE;
		if (process->loader_base && process->loader_base == vma->start)
			return ROLE_INTERPRETER;
	}
	return ROLE_LIBRARY;
}

/* The mapping of the file's first bytes, where its headers are. */
static const struct vma *find_head(const struct object *object, const struct maps *maps)
{
	size_t i;

	for (i = 0; i < maps->count; i++) {
		const struct vma *vma = &maps->vmas[i];

		if (!vma->offset && vma->readable && same_file(object, vma))
			return vma;
	}
	return NULL;
}

/* The text segment of the ELF file that a mapped range belongs to, or NULL. */
static const struct ea_segment *find_segment(
	const struct elf_file *elf, const struct text *mapped, uint64_t page_bytes)
{
	unsigned int i;

	if (elf->kind != ELF_OURS)
		return NULL;
	for (i = 0; i < elf->image.load_count; i++) {
		const struct ea_segment *load = &elf->image.loads[i];
		uint64_t first = load->offset & ~(page_bytes - 1);

		if (ea_segment_is_text(load) && mapped->offset >= first &&
			mapped->offset < load->offset + load->file_bytes)
			return load;
	}
	return NULL;
}

/* Widens a mapped range to the segment that it is a part of. */
static void text_take_segment(struct text *text, const struct ea_segment *segment)
{
	text->start = text_delta(text) + segment->offset;
	text->offset = segment->offset;
	text->bytes = segment->file_bytes;
}

/* Moves the VMAs of @from to @to, which is the same segment at the same place. */
static int merge_text(struct text *to, const struct text *from)
{
	size_t i;

	for (i = 0; i < from->vma_count; i++)
		if (text_add_vma(to, from->vmas[i]))
			return -ENOMEM;
	return 0;
}

/* Replaces mapped ranges by the ELF file's segments; what is between two parts is then missing. */
static int take_segments(struct object *object, const struct elf_file *elf, uint64_t page_bytes)
{
	size_t i, kept = 0;
	int err = 0;

	for (i = 0; i < object->text_count; i++) {
		struct text text = object->texts[i];
		struct text *last = kept ? &object->texts[kept - 1] : NULL;
		const struct ea_segment *segment = find_segment(elf, &text, page_bytes);

		if (segment)
			text_take_segment(&text, segment);
		if (segment && last && last->offset == text.offset && last->start == text.start) {
			err = merge_text(last, &text);
			free(text.vmas);
			text.vmas = NULL;
			if (err)
				break;
			continue;
		}
		object->texts[kept++] = text;
	}
	if (!err) {
		object->text_count = kept;
		return 0;
	}
	/* The entry at i has been freed, those between are copies of what was kept. */
	for (i++; i < object->text_count; i++)
		free(object->texts[i].vmas);
	object->text_count = kept;
	return err;
}

static int name_object(struct object *object, const struct mapped_file *file)
{
	char *path = strdup(file->path);

	if (!path)
		return -ENOMEM;
	free(object->path);
	object->path = path;
	object->deleted = file->deleted;
	return 0;
}

int object_identify(struct object *object, const struct maps *maps, struct evidence *evidence)
{
	const struct machine *machine = evidence->machine;
	struct mapped_file *file = &evidence->file;
	int err;

	memset(&evidence->elf, 0, sizeof(evidence->elf));
	memset(&evidence->filesystem, 0, sizeof(evidence->filesystem));
	object->role = find_role(object, evidence->process, maps);
	process_open_file(
		evidence->process, object->texts[0].vmas[0], find_head(object, maps), file);

	evidence->elf.kind = ELF_UNREADABLE;
	evidence->elf.error = file->error;
	if (file->fd >= 0)
		elf_file_read(file->fd, file->base, file->file_bytes, machine->elf_machine,
			machine->geometry.page_bytes, &evidence->elf);
	if (file->fd >= 0 && !file->from_memory)
		filesystem_of(file->fd, file->path, &evidence->process->mounts, &machine->release,
			&evidence->filesystem);
	if (file->fd >= 0)
		close(file->fd);

	err = name_object(object, file);
	if (err)
		return err;
	return take_segments(object, &evidence->elf, machine->geometry.page_bytes);
}

/*
 * By what is mapped, which is what the headers say where they could be read: so a file whose
 * headers cannot be read is judged all the same.
 */
static uint64_t choose_block(
	const struct object *object, const struct evidence *evidence, uint64_t forced_block_bytes)
{
	const struct ea_geometry *geometry = &evidence->machine->geometry;
	uint64_t block_bytes = 0;
	size_t i;

	/* Neither the kernel nor the shim aligns anything for 32-bit programs. */
	if (evidence->elf.kind == ELF_32BIT)
		return 0;
	for (i = 0; i < object->text_count; i++) {
		struct ea_image image = {.load_count = 1};

		image.loads[0].offset = object->texts[i].offset;
		image.loads[0].file_bytes = object->texts[i].bytes;
		image.loads[0].flags = PF_R | PF_X;
		if (!forced_block_bytes)
			block_bytes = max_of(block_bytes,
				ea_block_choose(geometry, &image, EA_BLOCK_CAP_BYTES, NULL));
		else if (ea_block_fits(&image, geometry->page_bytes, forced_block_bytes, NULL))
			block_bytes = forced_block_bytes;
	}
	return block_bytes;
}

/* struct piece - a block-aligned range of the file, or less at either end of a text */
struct piece {
	uint64_t offset;
	uint64_t end;
	bool whole; /* a whole block of the text */
};

/* Notes how much of the touched part of a block is in folios smaller than it. */
static void add_small_folios(
	struct text *text, const struct present *present, uint64_t page_bytes, uint64_t block_bytes)
{
	unsigned int order;

	for (order = 0; order < FOLIO_ORDERS && page_bytes << order < block_bytes; order++) {
		if (!present->folio_bytes[order])
			continue;
		text->small_folio_bytes += present->folio_bytes[order];
		if (order > text->small_order_max)
			text->small_order_max = order;
	}
}

static void add_present(struct present *sum, const struct present *present)
{
	unsigned int order;

	sum->bytes += present->bytes;
	sum->shared_bytes += present->shared_bytes;
	for (order = 0; order < FOLIO_ORDERS; order++)
		sum->folio_bytes[order] += present->folio_bytes[order];
}

/* struct measuring - what measure_piece() needs beside the text */
struct measuring {
	uint64_t page_bytes;
	uint64_t block_bytes;
	int pagemap_fd;
	struct page_flags *flags;
	uint64_t run_bytes; /* blocks that are one run in one folio */
	struct present present;
};

static uint64_t overlap_bytes(const struct vma *vma, const struct piece *piece, uint64_t *start)
{
	uint64_t end = min_of(piece->end, vma->offset + vma_bytes(vma));

	*start = max_of(piece->offset, vma->offset);
	return *start < end ? end - *start : 0;
}

static int measure_piece(struct measuring *with, struct text *text, const struct piece *piece)
{
	struct present present = {0};
	uint64_t covered_bytes = 0;
	unsigned int parts = 0;
	bool one_run = false;
	size_t i;

	for (i = 0; i < text->vma_count; i++) {
		const struct vma *vma = text->vmas[i];
		uint64_t offset, bytes = overlap_bytes(vma, piece, &offset);
		int err;

		if (!bytes)
			continue;
		parts++;
		covered_bytes += bytes;
		if (with->pagemap_fd < 0)
			continue;
		err = pagemap_range(with->pagemap_fd, with->flags, with->page_bytes,
			offset - vma->offset + vma->start, bytes, &present, &one_run);
		if (err)
			return err;
	}
	add_present(&with->present, &present);
	if (!piece->whole)
		return 0;

	text->touched_bytes += present.bytes;
	if (covered_bytes < with->block_bytes)
		text->replaced_bytes += with->block_bytes - covered_bytes;
	else if (parts > 1)
		text->split_bytes += with->block_bytes;
	else if (one_run && !text->distance_bytes) {
		with->run_bytes += with->block_bytes;
		return 0;
	}
	add_small_folios(text, &present, with->page_bytes, with->block_bytes);
	return 0;
}

/* The pieces of a text begin and end where its block's boundaries in the file are. */
static struct piece next_piece(
	const struct measuring *with, const struct text *text, uint64_t offset)
{
	uint64_t piece_bytes = with->block_bytes ? with->block_bytes : PIECE_BYTES;
	uint64_t end = text->offset + text->bytes;
	struct piece piece = {.offset = offset};

	end = (end + with->page_bytes - 1) & ~(with->page_bytes - 1);
	piece.end = min_of((offset & ~(piece_bytes - 1)) + piece_bytes, end);
	piece.whole = text->whole_bytes && offset >= text->first_whole &&
		      piece.end <= text->first_whole + text->whole_bytes;
	return piece;
}

static void note_advice(struct text *text)
{
	struct piece whole = {
		.offset = text->first_whole, .end = text->first_whole + text->whole_bytes};
	size_t i;

	text->advised = true;
	for (i = 0; i < text->vma_count; i++) {
		uint64_t offset;

		if (!overlap_bytes(text->vmas[i], &whole, &offset))
			continue;
		text->advised = text->advised && text->vmas[i]->advised;
		text->refused = text->refused || text->vmas[i]->refused;
	}
}

/* By PMD entries, as smaps counts them per VMA. The rounding of a text's end may add a block. */
static uint64_t pmd_mapped_bytes(const struct text *text)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < text->vma_count; i++) {
		if (!text->vmas[i]->pmd_known)
			return UNKNOWN_BYTES;
		if (__builtin_add_overflow(bytes, text->vmas[i]->pmd_mapped_bytes, &bytes))
			return UNKNOWN_BYTES;
	}
	return min_of(bytes, text->whole_bytes);
}

/*
 * A misplaced text is never mapped large. PMD entries are counted by the kernel; contiguous ones
 * have to be inferred, which takes privileges, unless nothing is mapped or all of it by PMDs.
 */
static uint64_t block_mapped_bytes(
	const struct measuring *with, const struct text *text, const struct ea_geometry *geometry)
{
	uint64_t pmd_bytes = pmd_mapped_bytes(text);

	if (text->distance_bytes || !text->touched_bytes)
		return 0;
	if (with->block_bytes == geometry->pmd_bytes)
		return pmd_bytes;
	if (with->flags->fd >= 0 && with->pagemap_fd >= 0)
		return with->run_bytes;
	return pmd_bytes == text->whole_bytes ? pmd_bytes : UNKNOWN_BYTES;
}

static int measure_text(
	struct measuring *with, struct text *text, const struct ea_geometry *geometry)
{
	uint64_t end = text->offset + text->bytes;
	uint64_t offset = text->offset & ~(with->page_bytes - 1);

	with->run_bytes = 0;
	if (with->block_bytes) {
		text->distance_bytes =
			ea_distance_bytes(text->start, text->offset, with->block_bytes);
		text->whole_bytes = ea_whole_blocks_bytes(text->offset, text->bytes,
			with->page_bytes, with->block_bytes, &text->first_whole);
	}
	while (offset < end) {
		struct piece piece = next_piece(with, text, offset);
		int err = measure_piece(with, text, &piece);

		if (err)
			return err;
		offset = piece.end;
	}
	if (with->pagemap_fd < 0)
		text->touched_bytes = UNKNOWN_BYTES;
	note_advice(text);
	text->block_mapped_bytes = text->whole_bytes ? block_mapped_bytes(with, text, geometry) : 0;
	return 0;
}

static void add_text(struct object *object, const struct text *text)
{
	object->text_bytes += text->bytes;
	if (!text->whole_bytes)
		return;
	if (!object->distance_bytes)
		object->distance_bytes = text->distance_bytes;
	object->whole_bytes += text->whole_bytes;
	add_known(&object->touched_bytes, text->touched_bytes);
	add_known(&object->block_mapped_bytes, text->block_mapped_bytes);
}

int object_measure(struct object *object, const struct evidence *evidence,
	uint64_t forced_block_bytes, int pagemap_fd, struct page_flags *flags)
{
	const struct ea_geometry *geometry = &evidence->machine->geometry;
	struct measuring with = {
		.page_bytes = geometry->page_bytes,
		.block_bytes = choose_block(object, evidence, forced_block_bytes),
		.pagemap_fd = pagemap_fd,
		.flags = flags,
	};
	size_t i;

	object->block_bytes = with.block_bytes;
	for (i = 0; i < object->text_count; i++) {
		int err = measure_text(&with, &object->texts[i], geometry);

		if (err)
			return err == -ENODATA ? -ESRCH : err;
		add_text(object, &object->texts[i]);
	}
	object->present = with.present;
	object->folios_known = pagemap_fd >= 0 && flags->fd >= 0;
	if (pagemap_fd < 0)
		object->present.bytes = UNKNOWN_BYTES;
	return 0;
}
