/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/kernel.h"
#include "process.h"

/* include/linux/sched.h */
#define PF_KTHREAD 0x00200000u

#define DELETED_SUFFIX " (deleted)"

/* "PID (COMM) S PPID PGRP SESSION TTY TPGID FLAGS ...": COMM may hold anything, even ") ". */
static void parse_stat(const char *text, struct process *process)
{
	const char *rest = strrchr(text, ')');
	unsigned int flags;
	char state;

	if (!rest || sscanf(rest, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
		return;
	process->state = state;
	process->kernel_thread = flags & PF_KTHREAD;
}

static void read_stat(struct process *process)
{
	struct buffer text;

	if (read_file_at(process->dir_fd, "stat", &text))
		return;
	parse_stat(text.data, process);
	free(text.data);
}

static void read_comm(struct process *process)
{
	struct buffer text;

	snprintf(process->comm, sizeof(process->comm), "?");
	if (read_file_at(process->dir_fd, "comm", &text))
		return;
	/* The name may hold newlines; one more was added. */
	if (text.bytes)
		text.data[text.bytes - 1] = '\0';
	snprintf(process->comm, sizeof(process->comm), "%s", text.data);
	free(text.data);
}

static void read_status(struct process *process)
{
	struct buffer text;

	if (read_file_at(process->dir_fd, "status", &text))
		return;
	process->thp_disabled = strstr(text.data, "\nTHP_enabled:\t0\n") != NULL;
	free(text.data);
}

static void read_auxv(struct process *process)
{
	struct buffer data;
	size_t at;

	if (read_file_at(process->dir_fd, "auxv", &data))
		return;
	for (at = 0; at + sizeof(Elf64_auxv_t) <= data.bytes; at += sizeof(Elf64_auxv_t)) {
		Elf64_auxv_t entry;

		memcpy(&entry, data.data + at, sizeof(entry));
		if (entry.a_type == AT_ENTRY)
			process->entry = entry.a_un.a_val;
		else if (entry.a_type == AT_BASE)
			process->loader_base = entry.a_un.a_val;
	}
	free(data.data);
}

int process_open(int pid, struct process *out)
{
	struct process process = {.pid = pid};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	process.dir_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process.dir_fd < 0)
		return -ESRCH;
	read_stat(&process);
	read_comm(&process);
	read_status(&process);
	read_auxv(&process);
	mounts_read(process.dir_fd, "mountinfo", &process.mounts);
	if (read_file_at(process.dir_fd, "environ", &process.environ))
		memset(&process.environ, 0, sizeof(process.environ));
	*out = process;
	return 0;
}

char process_state(const struct process *process)
{
	struct process now = {.dir_fd = process->dir_fd};

	read_stat(&now);
	return now.state;
}

void process_close(struct process *process)
{
	close(process->dir_fd);
	free(process->environ.data);
	mounts_free(&process->mounts);
}

const char *process_variable(const struct process *process, const char *name)
{
	const char *data = process->environ.data;
	size_t name_bytes = strlen(name);
	size_t at;

	/* A NUL behind the last byte is guaranteed by read_file_at(). */
	for (at = 0; at < process->environ.bytes; at += strlen(data + at) + 1)
		if (!strncmp(data + at, name, name_bytes) && data[at + name_bytes] == '=')
			return data + at + name_bytes + 1;
	return NULL;
}

int process_maps(const struct process *process, struct maps *out)
{
	struct buffer text;
	int err = read_file_at(process->dir_fd, "smaps", &text);

	if (err == -ENOENT)
		err = read_file_at(process->dir_fd, "maps", &text);
	if (err)
		return err == -ENOENT ? -ESRCH : err;
	err = maps_parse(text.data, text.bytes, out);
	free(text.data);
	return err;
}

static bool same_device(const struct vma *vma, dev_t dev)
{
	return major(dev) == vma->dev_major && minor(dev) == vma->dev_minor;
}

/*
 * An open file that has the mapping's inode number is the mapped one if the device agrees. On
 * overlayfs and btrfs stat(2) reports another device than maps does, so there the inode has to do,
 * which is a guess: @exact says whether one is wanted.
 */
static bool is_mapped_file(int fd, const struct vma *vma, bool exact)
{
	struct statfs filesystem;
	struct stat info;

	if (fstat(fd, &info) || !S_ISREG(info.st_mode) || info.st_ino != vma->inode)
		return false;
	if (same_device(vma, info.st_dev))
		return true;
	if (exact || fstatfs(fd, &filesystem))
		return false;
	return (uint32_t)filesystem.f_type == EA_FS_OVERLAY ||
	       (uint32_t)filesystem.f_type == EA_FS_BTRFS;
}

/*
 * Looks a name up without opening what it leads to: a process may put a device there, whose mere
 * opening has effects. Returns an O_PATH descriptor or -errno.
 */
static int look_up(const struct process *process, const char *path)
{
	char full[PATH_MAX];
	int fd;

	if (*path != '/')
		return -ENOENT;
	if (snprintf(full, sizeof(full), "root%s", path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = openat(process->dir_fd, full, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int reopen(int path_fd)
{
	char link[64];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_by_name(
	const struct process *process, const struct vma *vma, const char *path, bool exact)
{
	int path_fd = look_up(process, path);
	int fd;

	if (path_fd < 0)
		return path_fd;
	fd = is_mapped_file(path_fd, vma, exact) ? reopen(path_fd) : -ENOENT;
	close(path_fd);
	return fd;
}

/* Follows the link of the mapping itself: needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. */
static int open_by_mapping(const struct process *process, const struct vma *vma)
{
	char link[64];
	int fd;

	snprintf(link, sizeof(link), "map_files/%llx-%llx", (unsigned long long)vma->start,
		(unsigned long long)vma->end);
	fd = openat(process->dir_fd, link, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool strip_suffix(char *path)
{
	size_t bytes = strlen(path), suffix_bytes = strlen(DELETED_SUFFIX);

	if (bytes <= suffix_bytes || strcmp(path + bytes - suffix_bytes, DELETED_SUFFIX))
		return false;
	path[bytes - suffix_bytes] = '\0';
	return true;
}

/* Of the two readings of a name with "\012", the one that is the mapped file; see maps.h. */
static int open_by_either_name(
	const struct process *process, const struct vma *vma, bool exact, char *path)
{
	int fd;

	snprintf(path, PATH_MAX, "%s", vma->path);
	if (maps_unescape(path)) {
		fd = open_by_name(process, vma, path, exact);
		if (fd >= 0)
			return fd;
		snprintf(path, PATH_MAX, "%s", vma->path);
	}
	fd = open_by_name(process, vma, path, exact);
	/* Which one it is cannot be told: a newline is the likelier. */
	if (fd < 0)
		maps_unescape(path);
	return fd;
}

static int open_memory(const struct process *process, const struct vma *head)
{
	int fd;

	if (!head)
		return -ENOENT;
	fd = openat(process->dir_fd, "mem", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_file(const struct process *process, const struct vma *vma, char *path)
{
	int by_mapping, fd = open_by_either_name(process, vma, true, path);

	if (fd >= 0)
		return fd;
	by_mapping = open_by_mapping(process, vma);
	if (by_mapping >= 0)
		return by_mapping;
	fd = open_by_either_name(process, vma, false, path);
	return fd >= 0 ? fd : by_mapping;
}

void process_open_file(const struct process *process, const struct vma *vma, const struct vma *head,
	struct mapped_file *out)
{
	struct stat info;
	int by_name;

	memset(out, 0, sizeof(*out));
	out->fd = open_file(process, vma, out->path);
	by_name = look_up(process, out->path);
	if (by_name < 0 || !is_mapped_file(by_name, vma, false))
		out->deleted = strip_suffix(out->path);
	if (by_name >= 0)
		close(by_name);

	if (out->fd >= 0 && !fstat(out->fd, &info)) {
		out->file_bytes = (uint64_t)info.st_size;
		return;
	}
	out->error = out->fd;
	out->fd = open_memory(process, head);
	if (out->fd < 0)
		return;
	out->from_memory = true;
	out->base = head->start;
	/* What is mapped was in the file; how long that is cannot be told. */
	out->file_bytes = (uint64_t)1 << 47;
}
