/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "loader.h"
#include "snapshot.h"

static void totals_add_object(struct totals *totals, const struct object *object)
{
	enum verdict verdict = object_verdict(object);
	unsigned int order;

	totals->objects++;
	totals->text_bytes += object->text_bytes;
	if (object_eligible(object)) {
		totals->eligible++;
		totals->eligible_text_bytes += object->text_bytes;
	}
	if (object_congruent(object)) {
		totals->congruent++;
		totals->congruent_text_bytes += object->text_bytes;
	}
	totals->whole_bytes += object->whole_bytes;
	add_known(&totals->touched_bytes, object->touched_bytes);
	add_known(&totals->block_mapped_bytes, object->block_mapped_bytes);
	totals->folios_known = totals->folios_known && object->folios_known;
	for (order = 0; order < FOLIO_ORDERS; order++)
		totals->folio_bytes[order] += object->present.folio_bytes[order];
	if (verdict > totals->verdict)
		totals->verdict = verdict;
}

void totals_add(struct totals *sum, const struct totals *part)
{
	unsigned int order;

	sum->objects += part->objects;
	sum->eligible += part->eligible;
	sum->congruent += part->congruent;
	sum->text_bytes += part->text_bytes;
	sum->eligible_text_bytes += part->eligible_text_bytes;
	sum->congruent_text_bytes += part->congruent_text_bytes;
	sum->whole_bytes += part->whole_bytes;
	add_known(&sum->touched_bytes, part->touched_bytes);
	add_known(&sum->block_mapped_bytes, part->block_mapped_bytes);
	sum->folios_known = sum->folios_known && part->folios_known;
	for (order = 0; order < FOLIO_ORDERS; order++)
		sum->folio_bytes[order] += part->folio_bytes[order];
	if (part->verdict > sum->verdict)
		sum->verdict = part->verdict;
}

/* The mapping that the loader begins with, or NULL. */
static const struct vma *find_loader(const struct process *process, const struct maps *maps)
{
	size_t i;

	for (i = 0; process->loader_base && i < maps->count; i++)
		if (maps->vmas[i].start == process->loader_base)
			return &maps->vmas[i];
	return NULL;
}

/* struct loader - who places the libraries of a process */
struct loader {
	bool is_musl;
	struct ea_loader_note note;
};

static void read_loader(const struct machine *machine, const struct process *process,
	const struct maps *maps, struct loader *out)
{
	/* Large, like what is judged with it. */
	static struct mapped_file file;
	static struct elf_file elf;
	const struct vma *head = find_loader(process, maps);

	memset(out, 0, sizeof(*out));
	if (!head)
		return;
	out->is_musl = loader_is_musl(head->path);
	process_open_file(process, head, head, &file);
	if (file.fd < 0)
		return;
	elf_file_read(file.fd, file.base, file.file_bytes, machine->elf_machine,
		machine->geometry.page_bytes, &elf);
	out->note = elf.loader;
	close(file.fd);
}

static int judge_object(struct lens *lens, const struct process *process, const struct maps *maps,
	const struct loader *loader, int pagemap_fd, struct object *object, enum shim_state shim)
{
	/* Large, and needed for one object at a time. */
	static struct evidence evidence;
	int err;

	memset(&evidence, 0, sizeof(evidence));
	evidence.machine = &lens->machine;
	evidence.process = process;
	evidence.musl = loader->is_musl;
	evidence.loader = loader->note;
	err = object_identify(object, maps, &evidence);
	if (err)
		return err;
	err = object_measure(object, &evidence, lens->forced_block_bytes, pagemap_fd, &lens->flags);
	if (err)
		return err;
	reason_find(object, &evidence, shim);
	return 0;
}

static int judge_objects(struct lens *lens, const struct process *process, const struct maps *maps,
	struct snapshot *snapshot)
{
	int pagemap_fd = openat(process->dir_fd, "pagemap", O_RDONLY | O_CLOEXEC);
	struct loader loader;
	int err = 0;
	size_t i;

	read_loader(&lens->machine, process, maps, &loader);
	snapshot->shim = shim_state_of(process, snapshot->objects, snapshot->object_count);
	snapshot->totals.folios_known = true;
	for (i = 0; i < snapshot->object_count && !err; i++) {
		err = judge_object(lens, process, maps, &loader, pagemap_fd, &snapshot->objects[i],
			snapshot->shim);
		if (!err)
			totals_add_object(&snapshot->totals, &snapshot->objects[i]);
	}
	if (pagemap_fd >= 0)
		close(pagemap_fd);
	return err;
}

/* An address space that ends while it is read is cut short silently: look whether it is there. */
static bool still_there(const struct process *process)
{
	char state = process_state(process);

	return state && state != 'Z' && state != 'X';
}

static enum look look_of(const struct process *process, int err)
{
	if (process->kernel_thread)
		return LOOK_KERNEL_THREAD;
	switch (err) {
	case -ESRCH:
		return process->state == 'Z' ? LOOK_ENDED : LOOK_GONE;
	case -EACCES:
	case -EPERM:
		return LOOK_DENIED;
	default:
		return LOOK_FAILED;
	}
}

static int take(struct lens *lens, const struct process *process, struct snapshot *out)
{
	struct maps maps;
	int err = process_maps(process, &maps);

	if (err)
		return err;
	err = maps.count ? objects_find(&maps, &out->objects, &out->object_count) : -ESRCH;
	if (!err)
		err = judge_objects(lens, process, &maps, out);
	if (!err && lens->with_memory)
		memory_read(process->dir_fd, &out->memory);
	if (!err && !still_there(process))
		err = -ESRCH;
	maps_free(&maps);
	if (err)
		snapshot_free(out);
	return err;
}

enum look snapshot_take(struct lens *lens, int pid, struct snapshot *out)
{
	struct process process;
	enum look look;
	int err;

	memset(out, 0, sizeof(*out));
	if (process_open(pid, &process))
		return LOOK_GONE;
	out->pid = pid;
	snprintf(out->comm, sizeof(out->comm), "%s", process.comm);
	err = take(lens, &process, out);
	look = err ? look_of(&process, err) : LOOK_DONE;
	process_close(&process);
	return look;
}

void snapshot_free(struct snapshot *snapshot)
{
	objects_free(snapshot->objects, snapshot->object_count);
	snapshot->objects = NULL;
	snapshot->object_count = 0;
}
