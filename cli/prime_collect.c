/* SPDX-License-Identifier: MIT */
/*
 * prime_collect.c - the files that are to be primed, and what is cached of them
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf_file.h"
#include "filesystem.h"
#include "format.h"
#include "message.h"
#include "object.h"
#include "prime.h"
#include "tree.h"

static int out_of_memory(const char *path)
{
	message(path, "out of memory; end some programs");
	return EXIT_TROUBLE;
}

static struct primed_file *add_file(struct prime *prime, const char *path)
{
	struct primed_file *files =
		reallocarray(prime->files, prime->count + 1, sizeof(*prime->files));
	struct primed_file *file;

	if (!files)
		return NULL;
	prime->files = files;
	file = &files[prime->count];
	memset(file, 0, sizeof(*file));
	file->cached.fd = -1;
	file->path = strdup(path);
	if (!file->path)
		return NULL;
	prime->count++;
	return file;
}

/* All of the file's whole blocks, or the file itself, stay as they are. */
static void refuse(struct primed_file *file, enum prime_reason reason, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse(struct primed_file *file, enum prime_reason reason, const char *format, ...)
{
	va_list args;

	file->reason = reason;
	file->missing_bytes[reason] = file->whole_bytes;
	va_start(args, format);
	vsnprintf(file->detail, sizeof(file->detail), format, args);
	va_end(args);
}

/* Nothing can be done about the file any more. */
static void give_up(struct primed_file *file)
{
	if (file->cached.fd >= 0)
		close(file->cached.fd);
	file->cached.fd = -1;
}

/*
 * Page by page, without read-ahead: it would cache small folios where a block is to be. And what
 * was not cached before is not afterwards, so that looking at a file changes nothing.
 */
static void read_headers(struct prime *prime, int fd, uint64_t file_bytes, struct elf_file *out)
{
	uint64_t page_bytes = prime->machine->geometry.page_bytes;
	bool was_cached = !page_cache_tells_residency(&prime->cache, fd, file_bytes) ||
			  page_cache_has(&prime->cache, fd, 0);

	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	elf_file_read_image(fd, file_bytes, prime->machine->elf_machine, page_bytes, out);
	posix_fadvise(fd, 0, 0, POSIX_FADV_NORMAL);
	if (!was_cached)
		page_cache_drop(fd, 0, page_bytes);
}

static void find_blocks(struct primed_file *file, const struct ea_image *image, uint64_t page_bytes)
{
	uint64_t block_bytes = file->cached.block_bytes;
	unsigned int i;

	for (i = 0; i < image->load_count; i++) {
		const struct ea_segment *load = &image->loads[i];
		struct blocks *blocks = &file->blocks[file->blocks_count];

		if (!ea_segment_is_text(load))
			continue;
		file->text_bytes += load->file_bytes;
		if (!block_bytes)
			continue;
		blocks->bytes = ea_whole_blocks_bytes(
			load->offset, load->file_bytes, page_bytes, block_bytes, &blocks->offset);
		file->whole_bytes += blocks->bytes;
		file->blocks_count += blocks->bytes > 0;
	}
}

/* How its blocks are to be read; or PRIME_OLD_KERNEL or PRIME_FILESYSTEM. */
static void choose_reading(struct prime *prime, struct primed_file *file,
	const struct mounts *mounts, const char *real)
{
	const struct machine *machine = prime->machine;
	struct filesystem filesystem;
	enum ea_advice advice;
	uint64_t magic;

	filesystem_of(file->cached.fd, real, mounts, &machine->release, &filesystem);
	magic = filesystem.folio_magic ? filesystem.folio_magic : filesystem.magic;
	advice = ea_advice_for_block(
		&machine->geometry, file->cached.block_bytes, &machine->release, magic);
	file->cached.reading = READING_ADVISED;
	if (advice == EA_ADVICE_PLAIN_IS_BETTER) {
		file->cached.reading = READING_EXECUTABLE;
		advice = ea_exec_reading_for_block(
			&machine->geometry, file->cached.block_bytes, &machine->release, magic);
	}
	if (advice == EA_ADVICE_OLD_KERNEL || advice == EA_ADVICE_READS_TOO_MUCH)
		refuse(file, PRIME_OLD_KERNEL, "%s", ea_advice_reason(advice));
	else if (magic == EA_FS_TMPFS)
		refuse(file, PRIME_FILESYSTEM,
			"tmpfs keeps files in the folios that they were written in");
	else if (advice != EA_ADVICE_USEFUL)
		refuse(file, PRIME_FILESYSTEM, "%s: %s",
			*filesystem_cache_type(&filesystem) ? filesystem_cache_type(&filesystem)
							    : filesystem.type,
			ea_advice_reason(advice));
}

void prime_state_begin(struct cache_state *state)
{
	memset(state, 0, sizeof(*state));
	state->folios_known = true;
}

void prime_state_add(
	struct cache_state *state, const struct primed_file *file, const struct cached_block *block)
{
	unsigned int order;

	add_known(&state->cached_bytes, block->present.bytes);
	if (block->folds == FOLDS_UNKNOWN)
		state->in_blocks_bytes = UNKNOWN_BYTES;
	else if (block->folds == FOLDS_WHOLE)
		add_known(&state->in_blocks_bytes, file->cached.block_bytes);
	state->folios_known = state->folios_known && block->folios_known;
	for (order = 0; order < FOLIO_ORDERS; order++)
		state->folio_bytes[order] += block->present.folio_bytes[order];
}

enum prime_reason prime_obstacle(const struct prime *prime, struct primed_file *file,
	uint64_t offset, const struct cached_block *block)
{
	int fd = file->cached.fd;

	if (block->present.shared_bytes) {
		file->identified = file->identified ||
				   !page_cache_identity(&prime->cache, fd, &file->mapped.identity);
		return PRIME_MAPPED;
	}
	if (page_cache_dirty_bytes(&prime->cache, fd, offset, file->cached.block_bytes))
		return PRIME_DIRTY;
	return PRIME_FINE;
}

static void state_unknown(struct cache_state *state)
{
	state->cached_bytes = UNKNOWN_BYTES;
	state->in_blocks_bytes = UNKNOWN_BYTES;
	state->folios_known = false;
}

/* One block more is to be read. Returns PRIME_LIMIT if it would be one too many. */
static enum prime_reason plan_reading(struct prime *prime, struct primed_file *file)
{
	if (prime->left_bytes < file->cached.block_bytes)
		return PRIME_LIMIT;
	prime->left_bytes -= file->cached.block_bytes;
	file->need_bytes += file->cached.block_bytes;
	return PRIME_FINE;
}

static void plan_block(struct prime *prime, struct primed_file *file, uint64_t offset)
{
	uint64_t block_bytes = file->cached.block_bytes;
	struct cached_block block;
	enum prime_reason reason;

	if (!file->cached.residency_known ||
		page_cache_look(&prime->cache, &file->cached, offset, &block)) {
		state_unknown(&file->before);
		file->missing_bytes[plan_reading(prime, file)] += block_bytes;
		return;
	}
	prime_state_add(&file->before, file, &block);
	if (block.folds == FOLDS_WHOLE)
		return;
	reason = block.folds == FOLDS_NOTHING ? PRIME_FINE
					      : prime_obstacle(prime, file, offset, &block);
	if (reason == PRIME_FINE)
		reason = plan_reading(prime, file);
	else if (block.folds == FOLDS_UNKNOWN)
		return;
	file->missing_bytes[reason] += block_bytes;
}

/* What is cached, and so what is to be read. */
static void plan(struct prime *prime, struct primed_file *file)
{
	uint64_t offset;
	size_t i;

	prime_state_begin(&file->before);
	for (i = 0; i < file->blocks_count; i++)
		for (offset = file->blocks[i].offset;
			offset < file->blocks[i].offset + file->blocks[i].bytes;
			offset += file->cached.block_bytes)
			plan_block(prime, file, offset);
}

/*
 * Takes @fd over. Where @mounts are another process's, so is @real. Files without a block are only
 * counted unless they were @named. Returns 0 or -ENOMEM.
 */
static int add_ours(struct prime *prime, int fd, const char *path, const struct elf_file *elf,
	uint64_t file_bytes, const struct mounts *mounts, const char *real, bool named)
{
	const struct ea_geometry *geometry = &prime->machine->geometry;
	uint64_t block_bytes = ea_block_choose(geometry, &elf->image, EA_BLOCK_CAP_BYTES, NULL);
	struct primed_file *file;

	if (!block_bytes && !named) {
		prime->passed.too_small++;
		close(fd);
		return 0;
	}
	file = add_file(prime, path);
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	file->cached.fd = fd;
	file->cached.block_bytes = block_bytes;
	file->cached.residency_known = page_cache_tells_residency(&prime->cache, fd, file_bytes);
	find_blocks(file, &elf->image, geometry->page_bytes);
	if (block_bytes)
		choose_reading(prime, file, mounts, real);
	else
		file->reason = PRIME_TOO_SMALL;
	if (!file->reason)
		plan(prime, file);
	else
		state_unknown(&file->before);
	if (file->reason)
		give_up(file);
	prime->need_bytes += file->need_bytes;
	return 0;
}

static void count_passed(struct prime_passed *passed, enum elf_kind kind)
{
	switch (kind) {
	case ELF_32BIT:
	case ELF_FOREIGN:
		passed->foreign++;
		break;
	case ELF_BROKEN:
		passed->broken++;
		break;
	case ELF_UNREADABLE:
		passed->unreadable++;
		break;
	case ELF_NOT_ELF:
	case ELF_OURS:
		passed->not_elf++;
		break;
	}
}

/* Opening must not wait, as for the other end of a pipe that has taken a file's place. */
static int open_file(int dir_fd, const char *path, int flags, struct stat *info)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, info) && S_ISREG(info->st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

static int say_kind(const char *path, const struct elf_file *elf)
{
	switch (elf->kind) {
	case ELF_32BIT:
		message(path, "a 32-bit file, which has no blocks; name a 64-bit one");
		break;
	case ELF_FOREIGN:
		message(path, "for another machine (%s); name a file for this one",
			elf_machine_name(elf->machine) ? elf_machine_name(elf->machine)
						       : "unknown");
		break;
	case ELF_BROKEN:
		message(path, "begins like an ELF file, but is truncated or contradictory; "
			      "install it again");
		break;
	case ELF_UNREADABLE:
		message(path, "%s; check the disk", strerror(-elf->error));
		break;
	case ELF_NOT_ELF:
	case ELF_OURS:
		message(path, "not an ELF file; name a program or a library");
		break;
	}
	return EXIT_TROUBLE;
}

static int say_open(const char *path, int err)
{
	if (err == -EINVAL)
		message(path, "not a regular file; name a program, a library or a directory");
	else if (err == -EACCES || err == -EPERM)
		message(path, "%s; run it as a user who may read it", strerror(-err));
	else if (err == -EMFILE || err == -ENFILE)
		message(path, "%s; raise the limit (ulimit -n)", strerror(-err));
	else
		message(path, "%s; check the path", strerror(-err));
	return EXIT_TROUBLE;
}

int prime_add_file(struct prime *prime, const char *path)
{
	struct stat info;
	struct elf_file elf;
	char *real;
	int fd = open_file(AT_FDCWD, path, 0, &info), err;

	if (fd < 0)
		return say_open(path, fd);
	read_headers(prime, fd, (uint64_t)info.st_size, &elf);
	if (elf.kind != ELF_OURS) {
		close(fd);
		return say_kind(path, &elf);
	}
	if (seen_add(&prime->seen, &info)) {
		close(fd);
		return EXIT_DONE;
	}
	real = realpath(path, NULL);
	err = add_ours(prime, fd, path, &elf, (uint64_t)info.st_size, &prime->self.mounts,
		real ? real : path, true);
	free(real);
	return err ? out_of_memory(path) : EXIT_DONE;
}

static uint64_t smallest_block_bytes(const struct machine *machine)
{
	const struct ea_geometry *geometry = &machine->geometry;

	return geometry->contpte_bytes ? geometry->contpte_bytes : geometry->pmd_bytes;
}

/* struct collecting - a walk through a directory */
struct collecting {
	struct prime *prime;
	int error; /* -errno that ends it */
};

/* Takes the descriptor. */
static int add_found(struct prime *prime, const char *path, int fd, const struct stat *info)
{
	struct elf_file elf;
	char *real;
	int err;

	read_headers(prime, fd, (uint64_t)info->st_size, &elf);
	if (elf.kind != ELF_OURS) {
		count_passed(&prime->passed, elf.kind);
		close(fd);
		return 0;
	}
	real = realpath(path, NULL);
	err = add_ours(prime, fd, path, &elf, (uint64_t)info->st_size, &prime->self.mounts,
		real ? real : path, false);
	free(real);
	return err;
}

static int visit(struct prime *prime, const struct tree_dir *dir, const char *name)
{
	struct stat info;
	char *path;
	int fd, err;

	if (fstatat(dir->fd, name, &info, AT_SYMLINK_NOFOLLOW) || seen_add(&prime->seen, &info))
		return 0;
	if ((uint64_t)info.st_size < smallest_block_bytes(prime->machine)) {
		prime->passed.too_small++;
		return 0;
	}
	fd = open_file(dir->fd, name, O_NOFOLLOW, &info);
	if (fd == -EMFILE || fd == -ENFILE)
		return fd;
	if (fd < 0) {
		prime->passed.unreadable++;
		return 0;
	}
	path = tree_file_path(dir, name);
	if (!path) {
		close(fd);
		return -ENOMEM;
	}
	err = add_found(prime, path, fd, &info);
	free(path);
	return err;
}

static void visit_file(void *context, struct tree_dir *dir, const char *name)
{
	struct collecting *collecting = context;

	if (!collecting->error)
		collecting->error = visit(collecting->prime, dir, name);
}

static void count_unreadable(void *context, const char *path, int err)
{
	struct collecting *collecting = context;

	collecting->prime->passed.unreadable++;
}

int prime_add_tree(struct prime *prime, const char *path)
{
	struct collecting collecting = {.prime = prime};
	const struct tree_visitor visitor = {visit_file, count_unreadable, &collecting};
	struct tree_dir *dir;
	int err = tree_dir_open(path, &dir);

	if (!err) {
		tree_walk(dir, &visitor);
		tree_dir_put(dir);
		err = collecting.error;
	}
	if (!err)
		return EXIT_DONE;
	return err == -ENOMEM ? out_of_memory(path) : say_open(path, err);
}

/* A file of a process that cannot be primed is shown, since it was asked for. */
static int add_refused(
	struct prime *prime, const char *path, enum prime_reason reason, const char *detail)
{
	struct primed_file *file = add_file(prime, path);

	if (!file)
		return -ENOMEM;
	state_unknown(&file->before);
	refuse(file, reason, "%s", detail);
	return 0;
}

static int add_mapped(
	struct prime *prime, const struct process *process, const struct object *object)
{
	struct mapped_file file;
	struct elf_file elf;
	struct stat info;
	int err;

	process_open_file(process, object->texts[0].vmas[0], NULL, &file);
	if (file.fd < 0)
		return add_refused(prime, file.path, PRIME_UNREADABLE, strerror(-file.error));
	err = fstat(file.fd, &info) ? -errno : 0;
	if (err || seen_add(&prime->seen, &info)) {
		close(file.fd);
		return err;
	}
	read_headers(prime, file.fd, file.file_bytes, &elf);
	if (elf.kind == ELF_OURS && !file.deleted)
		return add_ours(prime, file.fd, file.path, &elf, file.file_bytes, &process->mounts,
			file.path, false);
	if (elf.kind != ELF_OURS)
		count_passed(&prime->passed, elf.kind);
	close(file.fd);
	return elf.kind == ELF_OURS ? add_refused(prime, file.path, PRIME_DELETED, "") : 0;
}

static int add_objects(struct prime *prime, const struct process *process, const struct maps *maps)
{
	struct object *objects;
	size_t count, i;
	int err = objects_find(maps, &objects, &count);

	if (err)
		return err;
	for (i = 0; i < count && !err; i++)
		err = add_mapped(prime, process, &objects[i]);
	objects_free(objects, count);
	return err;
}

static int say_process(const char *name, int err)
{
	if (err == -ESRCH)
		message(name,
			"no such process; 'execalign report --all' lists what there is "
			"(a file of that name: ./%s)",
			name);
	else if (err == -EACCES || err == -EPERM)
		message(name, "this process may not be looked at; run it as root, or as the "
			      "process's user");
	else if (err == -ENOENT)
		message(name, "this process has no file mapped: a kernel thread, or it has ended; "
			      "name another one");
	else
		message(name, "its mappings cannot be read: %s; try again", strerror(-err));
	return EXIT_TROUBLE;
}

int prime_add_process(struct prime *prime, int pid)
{
	struct process process;
	struct maps maps;
	char name[16];
	int err = process_open(pid, &process);

	snprintf(name, sizeof(name), "%d", pid);
	if (err)
		return say_process(name, err);
	err = process_maps(&process, &maps);
	if (!err) {
		err = maps.count ? add_objects(prime, &process, &maps) : -ENOENT;
		maps_free(&maps);
	}
	process_close(&process);
	return err ? say_process(name, err) : EXIT_DONE;
}

void prime_free(struct prime *prime)
{
	size_t i;

	for (i = 0; i < prime->count; i++) {
		give_up(&prime->files[i]);
		free(prime->files[i].mapped.mappers);
		free(prime->files[i].path);
	}
	free(prime->files);
	seen_free(&prime->seen);
}
