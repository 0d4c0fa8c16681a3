/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "elf_file.h"
#include "loader.h"
#include "message.h"
#include "target.h"

/* exec_binprm() of fs/exec.c gives up after five rewrites; BINPRM_BUF_SIZE bytes are looked at. */
#define SCRIPT_LEVELS_MAX 5
#define SCRIPT_LINE_BYTES 256

/* What execvp(3) searches without PATH. */
#define DEFAULT_PATH "/bin:/usr/bin"

/* Is it something that execve() would take? 0 or -errno. */
static int check_executable(const char *path)
{
	struct stat info;

	if (stat(path, &info))
		return -errno;
	if (S_ISDIR(info.st_mode))
		return -EISDIR;
	if (!S_ISREG(info.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? -errno : 0;
}

static int join(char *out, const char *directory, size_t directory_bytes, const char *name)
{
	int bytes = directory_bytes ? snprintf(out, PATH_MAX, "%.*s/%s", (int)directory_bytes,
					      directory, name)
				    : snprintf(out, PATH_MAX, "./%s", name);

	return bytes < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* As execvp(3): the first that can be executed; what cannot be is remembered and passed over. */
static int search_path(const char *name, char *out)
{
	const char *directory = getenv("PATH");
	int result = -ENOENT;

	if (!directory)
		directory = DEFAULT_PATH;
	for (;;) {
		size_t bytes = strcspn(directory, ":");
		char candidate[PATH_MAX];

		if (!join(candidate, directory, bytes, name)) {
			int err = check_executable(candidate);

			if (!err || (err != -ENOENT && err != -ENOTDIR && result == -ENOENT)) {
				snprintf(out, PATH_MAX, "%s", candidate);
				result = err;
			}
			if (!err)
				return 0;
		}
		if (!directory[bytes])
			return result;
		directory += bytes + 1;
	}
}

static int say_not_executable(const char *thing, int err)
{
	switch (err) {
	case -ENOENT:
	case -ENOTDIR:
		message(thing, "no such program; check the name");
		return EXIT_NOT_FOUND;
	case -EISDIR:
		message(thing, "is a directory; name a program");
		return EXIT_NOT_EXECUTABLE;
	case -EACCES:
		message(thing, "not executable for you; chmod +x it, or run it through the "
			       "program that reads it");
		return EXIT_NOT_EXECUTABLE;
	default:
		message(thing, "cannot be executed: %s; check its path", strerror(-err));
		return EXIT_NOT_EXECUTABLE;
	}
}

static int find_path(const char *command, char *out)
{
	int err;

	if (!*command)
		return say_not_executable("''", -ENOENT);
	if (!strchr(command, '/')) {
		err = search_path(command, out);
		if (err == -ENOENT) {
			message(command, "not found in PATH; check the name or give its path");
			return EXIT_NOT_FOUND;
		}
		return err ? say_not_executable(out, err) : 0;
	}
	err = snprintf(out, PATH_MAX, "%s", command) < PATH_MAX ? check_executable(command)
								: -ENAMETOOLONG;
	return err ? say_not_executable(command, err) : 0;
}

/* The program of a "#!" line: load_script() of fs/binfmt_script.c. False when it names none. */
static bool parse_script_line(const char *line, size_t bytes, char *program)
{
	size_t start = 2 + strspn(line + 2, " \t");
	size_t length = strcspn(line + start, " \t\n");

	if (start + length > bytes || !length)
		return false;
	memcpy(program, line + start, length);
	program[length] = '\0';
	return true;
}

/* 1: @path is a script, and @program (PATH_MAX bytes) its interpreter; 0: it is none. */
static int read_script(const char *path, char *program)
{
	char line[SCRIPT_LINE_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t bytes;

	if (fd < 0)
		return 0;
	bytes = read(fd, line, SCRIPT_LINE_BYTES);
	close(fd);
	if (bytes < 2 || line[0] != '#' || line[1] != '!')
		return 0;
	line[bytes] = '\0';
	return parse_script_line(line, (size_t)bytes, program);
}

static int follow_scripts(struct target *target)
{
	unsigned int level;

	snprintf(target->program, sizeof(target->program), "%s", target->path);
	for (level = 0; level < SCRIPT_LEVELS_MAX; level++) {
		char interpreter[PATH_MAX];
		int err;

		if (!read_script(target->program, interpreter))
			return 0;
		err = check_executable(interpreter);
		if (err) {
			message(target->program,
				"its interpreter %s cannot be executed: %s; "
				"install it or correct the #! line",
				interpreter, strerror(-err));
			return EXIT_NOT_EXECUTABLE;
		}
		snprintf(target->program, sizeof(target->program), "%s", interpreter);
	}
	message(target->path, "its #! lines lead from script to script; name a program in them");
	return EXIT_NOT_EXECUTABLE;
}

/*
 * Will the loader see AT_SECURE? cap_bprm_creds_from_file() of security/commoncap.c: identities
 * that differ from the caller's, or capabilities that a caller other than root gains.
 */
static const char *privilege_gained(const char *path)
{
	struct stat info;
	struct statvfs filesystem;

	if (geteuid() != getuid() || getegid() != getgid())
		return "changed user or group";
	if (stat(path, &info) || statvfs(path, &filesystem) || (filesystem.f_flag & ST_NOSUID) ||
		prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return NULL;
	if ((info.st_mode & S_ISUID) && info.st_uid != getuid())
		return "set-user-ID";
	if ((info.st_mode & S_ISGID) && (info.st_mode & S_IXGRP) && info.st_gid != getgid())
		return "set-group-ID";
	if (getuid() && getxattr(path, "security.capability", NULL, 0) > 0)
		return "file capabilities";
	return NULL;
}

static enum target_kind kind_of_elf(const struct elf_file *elf)
{
	switch (elf->kind) {
	case ELF_32BIT:
		return TARGET_32BIT;
	case ELF_FOREIGN:
		return TARGET_FOREIGN;
	case ELF_OURS:
		break;
	default:
		return TARGET_UNKNOWN;
	}
	if (elf->interp[0])
		return loader_is_musl(elf->interp) ? TARGET_MUSL : TARGET_DYNAMIC;
	/* Without a loader of its own: a loader (ld.so PROGRAM) or a static program. */
	return elf->soname[0] ? TARGET_DYNAMIC : TARGET_STATIC;
}

static int classify(const struct machine *machine, struct target *target)
{
	struct elf_file elf;
	const char *privilege, *name;
	struct stat info;
	int fd = open(target->program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	target->kind = TARGET_UNKNOWN;
	if (fd >= 0 && !fstat(fd, &info)) {
		elf_file_read(fd, 0, (uint64_t)info.st_size, machine->elf_machine,
			machine->geometry.page_bytes, &elf);
		target->kind = kind_of_elf(&elf);
		target->is_elf = !strcmp(target->path, target->program) &&
				 elf.kind != ELF_NOT_ELF && elf.kind != ELF_UNREADABLE;
		name = elf_machine_name(elf.machine);
		snprintf(target->detail, sizeof(target->detail), "%s", name ? name : "another");
		if (elf.kind == ELF_OURS && elf.interp[0] && access(elf.interp, F_OK)) {
			message(target->program,
				"its loader %s does not exist; install the C library that "
				"it was built for",
				elf.interp);
			close(fd);
			return EXIT_NOT_EXECUTABLE;
		}
	}
	if (fd >= 0)
		close(fd);

	privilege = privilege_gained(target->program);
	if (privilege) {
		target->kind = TARGET_PRIVILEGED;
		snprintf(target->detail, sizeof(target->detail), "%s", privilege);
	}
	return 0;
}

int target_find(const struct machine *machine, const char *command, struct target *out)
{
	int code;

	memset(out, 0, sizeof(*out));
	code = find_path(command, out->path);
	if (code)
		return code;
	code = follow_scripts(out);
	if (code)
		return code;
	return classify(machine, out);
}

int target_exec(const struct target *target, char *const argv[])
{
	/* execvp() would give an ELF file that the kernel refuses to a shell to read. */
	if (target->is_elf)
		execv(target->path, argv);
	else
		execvp(target->path, argv);
	return -errno;
}

int target_exec_failed(const struct target *target, const char *command, int err)
{
	if (err == -ENOENT && access(target->path, F_OK))
		return say_not_executable(command, err);
	if (err == -ENOEXEC)
		message(command, "not a program that this kernel runs: damaged, or for another "
				 "machine; get the right build of it");
	else if (err == -EACCES)
		message(command, "the kernel refuses to execute it; see whether its filesystem is "
				 "mounted noexec");
	else
		message(command, "cannot be executed: %s; check it and its interpreter",
			strerror(-err));
	return EXIT_NOT_EXECUTABLE;
}
