/* SPDX-License-Identifier: MIT */
/*
 * check_loader.c - the dynamic loaders that are installed: do they place text by themselves?
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_file.h"
#include "findings.h"
#include "loader.h"

#define LOADERS_MAX 64

/* struct loaders - those that have been looked at: one may have several names */
struct loaders {
	struct stat seen[LOADERS_MAX];
	size_t count;
};

/* Where the loaders of this machine's programs lie. */
static const char *const *usual_places(const struct machine *machine)
{
	static const char *const x86_64[] = {
		"/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1", NULL};
	static const char *const aarch64[] = {
		"/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-aarch64.so.1", NULL};

	return machine->elf_machine == EM_AARCH64 ? aarch64 : x86_64;
}

/* Returns 0, or -errno when the file cannot be looked at. */
static int read_file(const struct machine *machine, const char *path, struct elf_file *elf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;

	elf->kind = ELF_UNREADABLE;
	if (fd < 0)
		return -errno;
	elf->error = fstat(fd, &info) ? -errno : S_ISREG(info.st_mode) ? 0 : -ENOEXEC;
	if (!elf->error)
		elf_file_read(fd, 0, (uint64_t)info.st_size, machine->elf_machine,
			machine->geometry.page_bytes, elf);
	close(fd);
	return elf->kind == ELF_UNREADABLE ? elf->error : 0;
}

static bool seen_before(struct loaders *loaders, const char *path)
{
	struct stat info;
	size_t i;

	if (stat(path, &info))
		return false;
	for (i = 0; i < loaders->count; i++)
		if (loaders->seen[i].st_dev == info.st_dev &&
			loaders->seen[i].st_ino == info.st_ino)
			return true;
	if (loaders->count < LOADERS_MAX)
		loaders->seen[loaders->count++] = info;
	return false;
}

static bool is_on_here(const char *path, const struct elf_file *elf)
{
	return elf->kind == ELF_OURS && elf->loader.version &&
	       loader_is_on(&elf->loader, loader_is_musl(path), getenv("GLIBC_TUNABLES"),
		       getenv(EA_LOADER_VARIABLE));
}

static void judge_patched(
	struct doctor *doctor, const char *path, const struct ea_loader_note *note, bool is_on)
{
	const char *newer = note->version > EA_LOADER_RULE_VERSION ? ", newer than known here" : "";
	const char *name = loader_switch(loader_is_musl(path));
	struct finding *finding;

	if (is_on) {
		finding_add(doctor, "loader", path, STATUS_OK,
			"places text by itself (version %u of the rule%s); %s0 switches it off",
			note->version, newer, name);
		return;
	}
	finding = finding_add(doctor, "loader", path, STATUS_LIMITS,
		"could place text by itself (version %u of the rule%s), but is %s", note->version,
		newer, note->is_on ? "switched off here" : "off by default");
	finding_remedy(finding, "set %s1", name);
}

static void judge_stock(struct doctor *doctor, const char *path)
{
	struct finding *finding =
		finding_add(doctor, "loader", path, STATUS_LIMITS, "does not place text by itself");

	/* There the shim cannot place what the loader maps. */
	if (loader_is_musl(path))
		finding_remedy(finding, "use one with execalign's patches");
	else
		finding_remedy(finding, "start programs with 'execalign run', or use a loader with "
					"execalign's patches");
}

static const char *problem(const struct elf_file *elf, int err)
{
	if (err && err != -ENOEXEC)
		return strerror(-err);
	switch (elf->kind) {
	case ELF_32BIT:
		return "a 32-bit file";
	case ELF_FOREIGN:
		return "built for another machine";
	case ELF_BROKEN:
		return "a damaged ELF file";
	default:
		return "not an ELF file";
	}
}

static void check_one(struct doctor *doctor, struct loaders *loaders, const char *path)
{
	struct finding *finding;
	struct elf_file elf;
	bool is_on;
	int err;

	if (seen_before(loaders, path))
		return;
	err = read_file(doctor->machine, path, &elf);
	if (err || elf.kind != ELF_OURS) {
		finding_add(doctor, "loader", path, STATUS_UNKNOWN, "%s", problem(&elf, err));
		return;
	}
	is_on = is_on_here(path, &elf);
	if (elf.loader.version)
		judge_patched(doctor, path, &elf.loader, is_on);
	else
		judge_stock(doctor, path);
	finding = &doctor->findings[doctor->count - 1];
	finding_value(finding, "places_text", json_object_new_boolean(is_on));
	finding_value(finding, "rule_version",
		elf.loader.version ? json_object_new_int64(elf.loader.version) : NULL);
	finding_value(finding, "on_by_default",
		elf.loader.version ? json_object_new_boolean(elf.loader.is_on != 0) : NULL);
}

/* The loader of the program at @path, or @path itself if it is a loader with the note. */
static void check_loader_of(struct doctor *doctor, struct loaders *loaders, const char *path)
{
	struct elf_file elf;

	if (read_file(doctor->machine, path, &elf) || elf.kind != ELF_OURS)
		return;
	if (elf.interp[0])
		check_one(doctor, loaders, elf.interp);
	else if (elf.loader.version)
		check_one(doctor, loaders, path);
}

void loaders_ask(struct doctor *doctor)
{
	struct elf_file self, loader;

	doctor->loader_places = !read_file(doctor->machine, "/proc/self/exe", &self) &&
				self.kind == ELF_OURS && self.interp[0] &&
				!read_file(doctor->machine, self.interp, &loader) &&
				is_on_here(self.interp, &loader);
}

void check_loaders(struct doctor *doctor, char **paths)
{
	const char *const *usual = usual_places(doctor->machine);
	struct loaders loaders = {.count = 0};

	for (; paths && *paths; paths++)
		check_loader_of(doctor, &loaders, *paths);
	check_loader_of(doctor, &loaders, "/proc/self/exe");
	check_loader_of(doctor, &loaders, "/bin/sh");
	for (; *usual; usual++)
		if (!access(*usual, F_OK))
			check_one(doctor, &loaders, *usual);
}
