/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audited_start.h"
#include "clock.h"
#include "elf_file.h"
#include "io.h"
#include "list.h"

#define TUNABLE "glibc.rtld.optional_static_tls="
#define TUNABLE_DEFAULT_BYTES 512 /* glibc elf/dl-tunables.list */

#define LIST_SECONDS_MAX 10
#define LIST_BYTES_MAX ((size_t)1 << 20)

extern char **environ;

/* Is this process, and with it the command, under a seccomp filter? Yes where it cannot be told. */
static bool may_be_filtered(void)
{
	struct buffer status;
	bool filtered = true;
	const char *line;

	if (read_file_at(AT_FDCWD, "/proc/self/status", &status))
		return true;
	line = strstr(status.data, "\nSeccomp:\t");
	if (line)
		filtered = line[strlen("\nSeccomp:\t")] != '0';
	free(status.data);
	return filtered;
}

static int read_elf(const struct machine *machine, const char *path, struct elf_file *elf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	int err = -ENOEXEC;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode)) {
		elf_file_read(fd, 0, (uint64_t)status.st_size, machine->elf_machine,
			machine->geometry.page_bytes, elf);
		err = elf->kind == ELF_OURS ? 0 : -ENOEXEC;
	}
	close(fd);
	return err;
}

/* Variables for the listing: the auditor, so that it reads in large folios, and no second log. */
static char **list_environment(const char *shim)
{
	size_t count = 0, kept = 0;
	char **envp;

	while (environ[count])
		count++;
	envp = calloc(count + 2, sizeof(*envp));
	if (!envp)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (strncmp(environ[i], "LD_AUDIT=", 9) &&
			strncmp(environ[i], "EXECALIGN_LOG=", 14))
			envp[kept++] = environ[i];
	}
	if (asprintf(&envp[kept], "LD_AUDIT=%s", shim) < 0) {
		free(envp);
		return NULL;
	}
	return envp;
}

static void free_list_environment(char **envp)
{
	for (char **last = envp; *last; last++) {
		if (!last[1])
			free(*last);
	}
	free(envp);
}

/* Read all that comes from @fd within the time. Returns bytes, or -1. */
static ssize_t read_list(int fd, char *list, size_t size)
{
	double end = now_seconds() + LIST_SECONDS_MAX;
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	size_t filled = 0;
	ssize_t bytes;

	for (;;) {
		int left_ms = (int)((end - now_seconds()) * 1000);

		if (left_ms <= 0 || filled == size || poll(&wait, 1, left_ms) <= 0)
			return -1;
		bytes = read(fd, list + filled, size - filled);
		if (bytes < 0)
			return -1;
		if (!bytes)
			return (ssize_t)filled;
		filled += (size_t)bytes;
	}
}

/* Start `@interp --list @program` with its stdout in a pipe. Returns the pid, or -1. */
static pid_t spawn_list(const char *interp, const char *program, const char *shim, int pipe_fd)
{
	char *const argv[] = {(char *)interp, (char *)"--list", (char *)program, NULL};
	posix_spawn_file_actions_t actions;
	char **envp = list_environment(shim);
	pid_t pid = -1;

	if (!envp)
		return -1;
	if (!posix_spawn_file_actions_init(&actions)) {
		posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_adddup2(&actions, pipe_fd, 1);
		posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
		if (posix_spawn(&pid, interp, &actions, NULL, argv, envp))
			pid = -1;
		posix_spawn_file_actions_destroy(&actions);
	}
	free_list_environment(envp);
	return pid;
}

static bool child_signal_is_pending(void)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, SIGCHLD) == 1;
}

/*
 * Wait for @pid. The command is executed in this process and would inherit a SIGCHLD that waits
 * behind a mask: unless one did already, take back the one that our child raised.
 */
static void reap(pid_t pid, int *status, bool was_pending)
{
	const struct timespec no_time = {0};
	sigset_t child_signal;

	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	if (was_pending || !child_signal_is_pending())
		return;
	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	sigtimedwait(&child_signal, NULL, &no_time);
}

/*
 * What ld.so says it would load. The loader is run as a program, with --list, which never starts
 * @program, whoever's loader it is; LD_TRACE_LOADED_OBJECTS is not known to every loader.
 * Returns the list, to be freed, or NULL.
 */
static char *list_libraries(const char *interp, const char *program, const char *shim)
{
	bool was_pending = child_signal_is_pending();
	char *list = malloc(LIST_BYTES_MAX + 1);
	ssize_t bytes = -1;
	int status = -1;
	int fds[2];
	pid_t pid;

	if (!list || pipe2(fds, O_CLOEXEC)) {
		free(list);
		return NULL;
	}
	pid = spawn_list(interp, program, shim, fds[1]);
	close(fds[1]);
	if (pid > 0) {
		bytes = read_list(fds[0], list, LIST_BYTES_MAX);
		if (bytes < 0)
			kill(pid, SIGKILL);
		reap(pid, &status, was_pending);
	}
	close(fds[0]);
	if (bytes <= 0 || status) {
		free(list);
		return NULL;
	}
	list[bytes] = '\0';
	return list;
}

/*
 * Cut the path out of a line of the list:
 *
 *	<tab>libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f...)
 *	<tab>/lib64/ld-linux-x86-64.so.2 (0x00007f...)
 *
 * Returns NULL when there is none, as for the vdso or "not found".
 */
static char *cut_path(char *line)
{
	char *arrow = strstr(line, " => ");
	char *start = arrow ? arrow + 4 : line + strspn(line, "\t");
	char *end = NULL;

	for (char *next = strstr(start, " (0x"); next; next = strstr(next + 1, " (0x"))
		end = next;
	if (!end || *start != '/')
		return NULL;
	*end = '\0';
	return start;
}

/*
 * Largest alignment of a library's static TLS that glibc allows under an auditor, whatever the
 * tunable says: that of the block which holds the program's own and the thread's control block
 * (elf/dl-reloc.c, _dl_try_allocate_static_tls(); sysdeps/ARCH/nptl/tls.h, TCB_ALIGNMENT).
 */
static uint64_t tls_align_bytes_max(const struct machine *machine, const struct elf_file *program)
{
	uint64_t tcb_align_bytes = machine->elf_machine == EM_X86_64 ? 64 : 16;

	if (program->image.tls_bytes && program->image.tls_align_bytes > tcb_align_bytes)
		return program->image.tls_align_bytes;
	return tcb_align_bytes;
}

/* What one library's static TLS takes, as shim/startup.c counts it; -1 when it cannot be had. */
static int64_t library_tls_bytes(
	const struct machine *machine, const char *path, uint64_t align_bytes_max)
{
	struct elf_file *elf = malloc(sizeof(*elf));
	int64_t bytes = -1;

	if (elf && !read_elf(machine, path, elf)) {
		if (!elf->image.tls_bytes)
			bytes = 0;
		else if (elf->image.tls_align_bytes <= align_bytes_max)
			bytes = (int64_t)(elf->image.tls_bytes +
					  2 * (elf->image.tls_align_bytes - 1));
	}
	free(elf);
	return bytes;
}

/* Sum over the libraries of the list, which is cut up; -1 when it cannot be had. */
static int64_t list_tls_bytes(const struct machine *machine, char *list, uint64_t align_bytes_max)
{
	int64_t sum_bytes = 0, bytes;
	char *rest = NULL;
	const char *path;

	for (char *line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strstr(line, "not found"))
			return -1;
		path = cut_path(line);
		if (!path)
			continue;
		bytes = library_tls_bytes(machine, path, align_bytes_max);
		if (bytes < 0)
			return -1;
		sum_bytes += bytes;
	}
	return sum_bytes;
}

/*
 * May an item be appended to GLIBC_TUNABLES? Only if each one there has a name and a value: glibc
 * from 2.39 on ignores the whole string where one has a second '=' or the last one has none
 * (elf/dl-tunables.c, parse_tunables_string()), and appending would change which one is the last.
 */
static bool tunables_are_well_formed(const char *tunables)
{
	while (tunables) {
		const char *end = strchrnul(tunables, ':');
		const char *sign = memchr(tunables, '=', (size_t)(end - tunables));

		if (!sign || memchr(sign + 1, '=', (size_t)(end - sign - 1)))
			return false;
		tunables = *end ? end + 1 : NULL;
	}
	return true;
}

/* The value in GLIBC_TUNABLES, the last one as in ld.so, or glibc's default. */
static uint64_t tunable_bytes(const char *tunables)
{
	uint64_t bytes = TUNABLE_DEFAULT_BYTES;

	while (tunables) {
		/* Base 0 as in glibc's _dl_strtoul(): 0x800, and 04000. */
		if (!strncmp(tunables, TUNABLE, strlen(TUNABLE)))
			bytes = strtoull(tunables + strlen(TUNABLE), NULL, 0);
		tunables = strchr(tunables, ':');
		if (tunables)
			tunables++;
	}
	return bytes;
}

/* struct variable - one that an item is appended to, and what it was before */
struct variable {
	const char *name;
	char *old_value; /* NULL: it was not set */
};

static int append(struct variable *variable, const char *name, const char *item)
{
	const char *list = getenv(name);
	char *joined;
	int err;

	if (!list) {
		*variable = (struct variable){name, NULL};
		return setenv(name, item, 1);
	}
	*variable = (struct variable){name, strdup(list)};
	if (!variable->old_value || asprintf(&joined, "%s:%s", list, item) < 0)
		return -1;
	err = setenv(name, joined, 1);
	free(joined);
	return err;
}

static void restore(const struct variable *variable)
{
	if (variable->old_value)
		setenv(variable->name, variable->old_value, 1);
	else
		unsetenv(variable->name);
}

static void remove_marker(void)
{
	unsetenv("EXECALIGN_PROMOTED");
	unsetenv("EXECALIGN_PADDING");
}

/*
 * The marker has no name to restore. A seccomp filter may kill on what the shim calls: "u" has the
 * auditor try the calls first. The number of variables to take out again must be even.
 */
static int add_marker(int variables_added)
{
	if (setenv("EXECALIGN_PROMOTED", may_be_filtered() ? "u:0:" : "0:0:", 1))
		return -1;
	return (variables_added + 1) % 2 ? setenv("EXECALIGN_PADDING", "", 1) : 0;
}

/* All of them, or none. */
static void add_variables(const char *shim, uint64_t tls_bytes)
{
	struct variable tunables = {0}, audit = {0};
	char tunable[80];

	snprintf(tunable, sizeof(tunable), TUNABLE "%" PRIu64, tls_bytes);
	if (append(&tunables, "GLIBC_TUNABLES", tunable))
		goto out;
	if (append(&audit, "LD_AUDIT", shim) ||
		add_marker(!tunables.old_value + !audit.old_value)) {
		remove_marker();
		restore(&audit);
		restore(&tunables);
	}
out:
	free(tunables.old_value);
	free(audit.old_value);
}

/* The static TLS that @program needs under an auditor, the user's own reserve included; or -1. */
static int64_t static_tls_bytes(
	const struct machine *machine, const char *program, const char *shim, const char *tunables)
{
	uint64_t own_bytes = tunable_bytes(tunables);
	struct elf_file elf;
	int64_t list_bytes, bytes;
	char *list;

	if (read_elf(machine, program, &elf) || !*elf.interp)
		return -1;
	list = list_libraries(elf.interp, program, shim);
	if (!list)
		return -1;
	list_bytes = list_tls_bytes(machine, list, tls_align_bytes_max(machine, &elf));
	free(list);
	if (list_bytes < 0 || __builtin_add_overflow(own_bytes, list_bytes, &bytes))
		return -1;
	return bytes;
}

void audited_start_prepare(
	const struct machine *machine, const struct target *target, const char *shim)
{
	const char *promote = getenv("EXECALIGN_PROMOTE");
	const char *audit = getenv("LD_AUDIT");
	const char *tunables = getenv("GLIBC_TUNABLES");
	int64_t tls_bytes;

	/* Somebody else's would be taken for ours. */
	remove_marker();
	if (target->kind != TARGET_DYNAMIC || (promote && !strcmp(promote, "never")))
		return;
	if ((audit && list_has(audit, ":", shim)) || !tunables_are_well_formed(tunables))
		return;
	tls_bytes = static_tls_bytes(machine, target->program, shim, tunables);
	if (tls_bytes >= 0)
		add_variables(shim, (uint64_t)tls_bytes);
}
