/* SPDX-License-Identifier: MIT */
/*
 * check_path.c - the filesystem and the device under a path
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "filesystem.h"
#include "findings.h"
#include "format.h"
#include "io.h"

/* As many mappings as no luck aligns: one in 512 is by itself on x86-64. */
#define PROBES 3

/* The kernel's default, in KiB (VM_READAHEAD_PAGES). */
#define READ_AHEAD_DEFAULT_KIB 128

/*
 * Maps @fd where the kernel likes, several times and each beside the last. 1: all are aligned to
 * @pmd_bytes, 0: not all, -1: it cannot be mapped.
 */
static int probe_alignment(int fd, uint64_t page_bytes, uint64_t pmd_bytes)
{
	size_t bytes = (size_t)(2 * pmd_bytes + page_bytes);
	void *maps[PROBES];
	int aligned = 1, i, made;

	for (made = 0; made < PROBES; made++) {
		maps[made] = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (maps[made] == MAP_FAILED)
			break;
		if ((uintptr_t)maps[made] & (pmd_bytes - 1))
			aligned = 0;
	}
	for (i = 0; i < made; i++)
		munmap(maps[i], bytes);
	return made == PROBES ? aligned : -1;
}

/* A regular file in the directory that can be read, or -1. */
static int open_some_file(int path_fd)
{
	int copy = openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	int fd = -1;

	if (!directory) {
		if (copy >= 0)
			close(copy);
		return -1;
	}
	while (fd < 0 && (entry = readdir(directory)))
		if (entry->d_type == DT_REG)
			fd = openat(copy, entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	closedir(directory);
	return fd;
}

/* What the kernel does with a file of that directory, or with that file; -1: cannot be tried. */
static int measure_alignment(int path_fd, const struct machine *machine)
{
	struct stat info;
	char link[64];
	int fd = -1, aligned = -1;

	if (fstat(path_fd, &info))
		return -1;
	if (S_ISDIR(info.st_mode)) {
		fd = open_some_file(path_fd);
	} else if (S_ISREG(info.st_mode)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
		fd = open(link, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0)
		return -1;
	aligned = probe_alignment(fd, machine->geometry.page_bytes, machine->geometry.pmd_bytes);
	close(fd);
	return aligned;
}

static void check_alignment(
	struct doctor *doctor, const char *path, int path_fd, const struct filesystem *filesystem)
{
	const struct machine *machine = doctor->machine;
	int measured = measure_alignment(path_fd, machine);
	int aligns = measured >= 0 ? measured : filesystem->aligns_mmap;
	const char *how = measured >= 0 ? "measured" : "by its type";
	char pmd[FORMAT_BYTES_MAX];
	struct finding *finding;

	format_bytes(machine->geometry.pmd_bytes, pmd);
	if (aligns < 0) {
		finding = finding_add(doctor, "alignment", path, STATUS_UNKNOWN,
			"whether %s aligns mappings is not known", filesystem->type);
		finding_remedy(finding, "name a file of it that can be read, to have it measured");
	} else if (!aligns) {
		finding = finding_add(doctor, "alignment", path, STATUS_LIMITS,
			"%s does not align mappings (%s)", filesystem->type, how);
		finding_remedy(finding, "%s", remedy_run(doctor));
	} else if (machine->geometry.pmd_bytes > EA_BLOCK_CAP_BYTES) {
		finding = finding_add(doctor, "alignment", path, STATUS_LIMITS,
			"%s aligns mappings of %s and more only (%s)", filesystem->type, pmd, how);
		finding_remedy(finding, "%s", remedy_run(doctor));
	} else {
		finding = finding_add(doctor, "alignment", path, STATUS_OK,
			"%s aligns mappings of %s and more (%s)", filesystem->type, pmd, how);
	}
	finding_value(finding, "filesystem", json_object_new_string(filesystem->type));
	finding_value(finding, "aligns", aligns < 0 ? NULL : json_object_new_boolean(aligns));
}

static void check_folios(
	struct doctor *doctor, const char *path, const struct filesystem *filesystem)
{
	const struct ea_release *release = &doctor->machine->release;
	uint64_t bytes = filesystem->folio_bytes_max;
	const char *type = filesystem_cache_type(filesystem);
	char of[PATH_MAX + 64] = "", size[FORMAT_BYTES_MAX];
	struct finding *finding;

	if (filesystem->layered && *filesystem->layer)
		snprintf(of, sizeof(of), " (the overlay's layer %s)", filesystem->layer);
	if (filesystem->layered && !*type) {
		finding = finding_add(doctor, "folios", path, STATUS_UNKNOWN,
			"the overlay's layers cannot be seen from here");
		finding_remedy(finding, "ask outside of the container, with the layer's path");
	} else if (bytes == EA_FS_FOLIO_UNKNOWN) {
		finding = finding_add(doctor, "folios", path, STATUS_UNKNOWN,
			"the folio sizes of %s%s are not known", type, of);
		finding_remedy(finding, "'execalign report --verbose PID' shows them, as root");
	} else if (bytes < EA_BLOCK_CAP_BYTES) {
		finding = finding_add(doctor, "folios", path, STATUS_LIMITS,
			"%s%s has %s%s in Linux %u.%u", type, of,
			bytes ? "folios of at most " : "no large folios",
			bytes ? format_bytes(bytes, size) : "", release->major, release->minor);
		finding_remedy(finding, "keep libraries on ext4 (Linux 6.16), xfs or erofs");
	} else {
		finding = finding_add(doctor, "folios", path, STATUS_OK, "%s%s has folios up to %s",
			type, of, format_bytes(bytes, size));
	}
	finding_value(finding, "filesystem", json_name(*type ? type : NULL));
	finding_value(finding, "layer", json_name(*filesystem->layer ? filesystem->layer : NULL));
	finding_value(finding, "folio_max_bytes",
		json_bytes(bytes == EA_FS_FOLIO_UNKNOWN ? UNKNOWN_BYTES : bytes));
}

/* The setting of the device behind @dev; @file (PATH_MAX bytes) is where it was read. */
static int find_read_ahead(dev_t dev, char *file, uint64_t *kib)
{
	static const char *const places[] = {
		"/sys/class/bdi/%u:%u/read_ahead_kb", "/sys/dev/block/%u:%u/queue/read_ahead_kb",
		"/sys/dev/block/%u:%u/../queue/read_ahead_kb", /* a partition */
	};
	int err = -ENOENT;
	size_t i;

	for (i = 0; err && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(file, PATH_MAX, places[i], major(dev), minor(dev));
		err = read_number(file, kib);
	}
	return err;
}

/*
 * With a long read-ahead window the kernel reads text as one stream that starts in small folios; in
 * guests on 4K pages 8 MiB of it cost a third of the text that 128 KiB let it map large.
 */
static void check_read_ahead(
	struct doctor *doctor, const char *path, const struct filesystem *filesystem)
{
	char file[PATH_MAX];
	struct finding *finding;
	uint64_t kib;

	if (filesystem->layered && !filesystem->folio_magic)
		return;
	if (find_read_ahead(filesystem->dev, file, &kib)) {
		/* tmpfs and the like: nothing is ever read. */
		if (!major(filesystem->dev))
			return;
		finding_add(doctor, "read-ahead", path, STATUS_UNKNOWN,
			"no read-ahead setting of device %u:%u was found", major(filesystem->dev),
			minor(filesystem->dev));
		return;
	}
	finding = finding_add(doctor, "read-ahead", path,
		kib > READ_AHEAD_DEFAULT_KIB ? STATUS_LIMITS : STATUS_OK,
		"%" PRIu64 " KiB are read ahead%s", kib,
		kib > READ_AHEAD_DEFAULT_KIB ? ": text that is not advised starts in small folios"
					     : "");
	finding_value(finding, "read_ahead_bytes", json_bytes(kib * EA_KIB));
	if (kib > READ_AHEAD_DEFAULT_KIB)
		finding_remedy(finding, "echo %d >%s", READ_AHEAD_DEFAULT_KIB, file);
}

void check_path(struct doctor *doctor, const char *path)
{
	struct filesystem filesystem;
	char *real = realpath(path, NULL);
	int fd = open(path, O_PATH | O_CLOEXEC);
	int err = errno;

	memset(&filesystem, 0, sizeof(filesystem));
	if (fd >= 0)
		filesystem_of(fd, real ? real : path, &doctor->mounts, &doctor->machine->release,
			&filesystem);
	if (!filesystem.known) {
		finding_add(doctor, "filesystem", path, STATUS_UNKNOWN, "%s",
			strerror(fd < 0 ? err : errno));
	} else {
		check_alignment(doctor, path, fd, &filesystem);
		check_folios(doctor, path, &filesystem);
		check_read_ahead(doctor, path, &filesystem);
	}
	if (fd >= 0)
		close(fd);
	free(real);
}
