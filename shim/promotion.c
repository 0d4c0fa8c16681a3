/* SPDX-License-Identifier: MIT */
#include <linux/auxvec.h>
#include <linux/elf.h>
#include <linux/prctl.h>

#include "environment.h"
#include "forget.h"
#include "link_map.h"
#include "log.h"
#include "object.h"
#include "own_loader.h"
#include "promotion.h"
#include "record_reader.h"
#include "seccomp.h"
#include "startup.h"
#include "status.h"
#include "sys.h"
#include "text.h"

/* ld.so's (glibc) list of objects; weak, for a process that has none. */
extern struct r_debug _r_debug __attribute__((weak, visibility("default")));

/*
 * The marker: EXECALIGN_PROMOTED=FILTERS:LENGTH:NAMEEXECFN, where NAME is the process's name (comm)
 * of LENGTH bytes, and both may be empty. A second variable pads the number of added ones to an even one.
 */
#define MARKER "EXECALIGN_PROMOTED"
#define PADDING "EXECALIGN_PADDING"
#define NAME_BYTES 16 /* TASK_COMM_LEN */

#define NOTHING_TO_GAIN "nothing to gain"

#define TUNABLE "glibc.rtld.optional_static_tls="
#define TUNABLE_DEFAULT_BYTES 512 /* glibc elf/dl-tunables.list, optional_static_tls */

/* ---- after the exec ---- */

/* struct marker - the marker's fields, pointing into the environment block */
struct marker {
	int filters;
	const char *name;
	size_t name_bytes;
	const char *execfn;
};

static int marker_read(const char *value, struct marker *marker)
{
	marker->filters = -1;
	if (*value == 'u')
		value++; /* untested: `execalign run` tried nothing */
	else
		marker->filters = (int)ea_parse_number(value, &value);
	if (*value++ != ':')
		return 0;
	marker->name_bytes = ea_parse_number(value, &value);
	if (*value++ != ':' || marker->name_bytes >= NAME_BYTES ||
		marker->name_bytes > ea_strlen(value))
		return 0;
	marker->name = value;
	marker->execfn = value + marker->name_bytes;
	return 1;
}

static int marker_parse(char *const *envp, struct marker *marker)
{
	const char *value = ea_env_find(envp, MARKER, NULL);

	return value && marker_read(value, marker);
}

void ea_promotion_find(char *const *envp, struct ea_promotion_marker *found)
{
	struct marker marker;

	found->is_set = marker_parse(envp, &marker);
	found->seccomp_filters = found->is_set ? marker.filters : 0;
	/* Only a process has a name to hand on: `execalign run` has none. */
	found->has_loaded = found->is_set && marker.name_bytes;
}

/*
 * Take our item, which begins with @ours, off the end of the list in variable @name. Returns 1 when
 * nothing is left of it and the variable must go altogether.
 */
static int is_left_empty(char **envp, const char *name, const char *ours)
{
	char *value = (char *)ea_env_find(envp, name, NULL);
	const char *last;

	if (!value)
		return 0;
	last = value + ea_strlen(value);
	while (last > value && last[-1] != ':')
		last--;
	return ea_after_prefix(last, ours) && !ea_env_cut_last_item(value);
}

static int must_go(const char *entry, int audit_is_ours, int tunables_are_ours)
{
	return ea_after_prefix(entry, MARKER "=") || ea_after_prefix(entry, PADDING "=") ||
	       (audit_is_ours && ea_after_prefix(entry, "LD_AUDIT=")) ||
	       (tunables_are_ours && ea_after_prefix(entry, "GLIBC_TUNABLES="));
}

/*
 * Clear the text of an entry: /proc/PID/environ shows it to the end. What AT_EXECFN points to from
 * now on, the end of the marker, stays.
 */
static void clear(char *entry)
{
	const char *rest = ea_after_prefix(entry, MARKER "=");
	struct marker marker;

	if (rest && marker_read(rest, &marker))
		memset(entry, 0, (size_t)(marker.execfn - entry));
	else
		memset(entry, 0, ea_strlen(entry));
}

/* The first environment string of the kernel's block: what follows the last argument. */
static char *first_string(const struct ea_stack *stack)
{
	char **last = stack->argv;

	if (!*last)
		return NULL;
	while (last[1])
		last++;
	return *last + ea_strlen(*last) + 1;
}

/* Where our item begins in the kernel's string of GLIBC_TUNABLES, NULL when it is not its last. */
static char *our_item(char *string, char *value)
{
	char *last = value + ea_strlen(value);

	while (last > value && last[-1] != ':')
		last--;
	if (!ea_after_prefix(last, TUNABLE))
		return NULL;
	return last > value ? last - 1 : string;
}

/*
 * glibc up to 2.38 puts a copy of GLIBC_TUNABLES into envp and cuts the kernel's string, which
 * /proc/PID/environ shows, into those items that it knows (elf/dl-tunables.c, parse_tunables()).
 * Ours is the last, in the string or behind it.
 *
 *	| arguments | A=1 NUL GLIBC_TUNABLES=theirs NUL ours NUL B=2 NUL | string of AT_EXECFN |
 */
static void clear_original_tunable(const struct ea_stack *stack, uint64_t strings_end)
{
	const char *copy = ea_env_find(stack->envp, "GLIBC_TUNABLES", NULL);
	char *string = first_string(stack);
	int has_original = 0;
	char *ours = NULL;
	char *value;

	for (; string && (uint64_t)(uintptr_t)string < strings_end;
		string += ea_strlen(string) + 1) {
		value = (char *)ea_after_prefix(string, "GLIBC_TUNABLES=");
		if (value && value != copy) {
			has_original = 1;
			ours = our_item(string, value);
		} else if (has_original && ea_after_prefix(string, TUNABLE)) {
			ours = string;
		}
	}
	if (ours)
		clear(ours);
}

/*
 * Remove our variables. Programs walk from environ's NULL on to the auxiliary vector (Go's runtime,
 * os_linux.go, does), so the freed slots must not become a hole that reads as its end:
 *
 *	before	A  B  LD_AUDIT  MARKER  NULL  auxv...
 *	after	A  B  NULL      IGNORE  0     auxv...
 *
 * An even number of freed slots makes whole AT_IGNORE entries; ea_promotion_try() saw to that.
 */
static void remove_additions(char **envp, const char *shim_path)
{
	int audit_is_ours = is_left_empty(envp, "LD_AUDIT", shim_path);
	int tunables_are_ours = is_left_empty(envp, "GLIBC_TUNABLES", TUNABLE);
	size_t count = ea_env_count(envp);
	struct ea_auxv *ignored;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (must_go(envp[i], audit_is_ours, tunables_are_ours))
			clear(envp[i]);
		else
			envp[kept++] = envp[i];
	}
	envp[kept] = NULL;
	ignored = (struct ea_auxv *)(envp + kept + 1);
	for (size_t freed = count - kept; freed >= 2; freed -= 2) {
		ignored->type = AT_IGNORE;
		ignored->value = 0;
		ignored++;
	}
}

/* The path that ld.so loaded us from, "" when it cannot be told. */
static const char *own_path(void)
{
	const struct link_map *self = &_r_debug ? ea_link_map_self(_r_debug.r_map) : NULL;

	return self ? self->l_name : "";
}

int ea_promotion_finish(const struct ea_stack *stack, struct ea_promotion_marker *found)
{
	struct ea_auxv *execfn = ea_auxv_find(stack->auxv, AT_EXECFN);
	char name[NAME_BYTES] = {0};
	uint64_t original_execfn;
	struct marker marker;

	ea_promotion_find(stack->envp, found);
	if (!found->is_set)
		return 0;
	marker_parse(stack->envp, &marker);
	/* The exec of /proc/self/exe named the process "exe". `execalign run` has nothing to restore. */
	memcpy(name, marker.name, marker.name_bytes);
	if (marker.name_bytes)
		sys_prctl(PR_SET_NAME, (uint64_t)(uintptr_t)name);
	original_execfn = execfn ? execfn->value : 0;
	if (execfn && *marker.execfn)
		execfn->value = (uint64_t)(uintptr_t)marker.execfn;
	clear_original_tunable(stack, original_execfn);
	remove_additions(stack->envp, own_path());
	return 1;
}

/* ---- before the exec ---- */

/* struct decision - what is known when a process decides on its promotion */
struct decision {
	const struct ea_stack *stack;
	const struct ea_settings *settings;
	struct ea_startup startup;
	const char *shim_path;
	int filters;
	uint64_t tls_bytes; /* static TLS of the start-up libraries */
};

void ea_promotion_log(const char *target, const char *result, const char *reason, int error)
{
	struct ea_log log;

	if (!target)
		return;
	ea_log_begin(&log, target, "promotion");
	ea_log_word(&log, "result", result);
	if (reason)
		ea_log_quoted(&log, "reason", reason);
	if (error)
		ea_log_number(&log, "errno", (uint64_t)error);
	ea_log_end(&log);
}

/*
 * Is /proc/self/exe the program that runs here? Not when it was started as `ld.so prog`, and not
 * under an emulator: then its program headers are not those that the kernel or ld.so told of.
 */
static int exe_is_program(const struct ea_auxv *auxv_phdr, uint64_t phdr_count)
{
	unsigned char head[EA_HEADER_BYTES];
	unsigned char phdrs[EA_PHDRS_MAX * EA_PHDR_BYTES];
	struct ea_header header;
	int is_same = 0;
	long fd;

	fd = sys_open("/proc/self/exe", SYS_O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if (auxv_phdr && sys_read((int)fd, head, sizeof(head)) == sizeof(head) &&
		!ea_header_parse(head, sizeof(head), UINT64_MAX >> 1, SYS_MACHINE, &header) &&
		header.phdr_count == phdr_count &&
		sys_pread((int)fd, phdrs, header.phdrs_bytes, header.phdrs_offset) ==
			(long)header.phdrs_bytes)
		is_same = !memcmp(phdrs, (const void *)auxv_phdr->value, header.phdrs_bytes);
	sys_close((int)fd);
	return is_same;
}

/* Is the auditor at work here already, put there by the user? */
static int is_audited(const struct decision *d)
{
	const char *list = ea_env_find(d->stack->envp, "LD_AUDIT", NULL);

	return list && ea_env_list_has(list, d->shim_path);
}

/* Can @path stand in LD_AUDIT, whose separator is the colon, and be found without a search? */
static int can_be_listed(const char *path)
{
	return ea_basename(path) != path && !ea_pattern_match("*:*", 3, path);
}

/*
 * glibc from 2.39 on ignores the whole string when one item is malformed (elf/dl-tunables.c,
 * parse_tunables_string()), and ours with it.
 */
static int tunables_are_well_formed(const char *tunables)
{
	int equal_signs = 0;

	for (; tunables && *tunables; tunables++) {
		if (*tunables == '=')
			equal_signs++;
		else if (*tunables == ':' && equal_signs != 1)
			return 0;
		else if (*tunables == ':')
			equal_signs = 0;
	}
	return equal_signs <= 1;
}

/* Alignment of the main executable's PT_TLS, 0 without one; its headers are in memory. */
static uint64_t main_tls_align_bytes(struct ea_auxv *auxv)
{
	const Elf64_Phdr *phdrs = (const Elf64_Phdr *)ea_auxv_value(auxv, AT_PHDR);
	uint64_t count = phdrs ? ea_auxv_value(auxv, AT_PHNUM) : 0;

	for (uint64_t i = 0; i < count; i++) {
		if (phdrs[i].p_type == PT_TLS)
			return phdrs[i].p_align;
	}
	return 0;
}

/* Is process @pid the command execalign, by its name? Its report handles an exec well. */
static int is_our_command(uint64_t pid)
{
	struct ea_record_reader reader;
	char path[40];
	char name[NAME_BYTES];
	struct ea_text text = {path, sizeof(path) - 1, 0};
	int is_ours;

	ea_text_add(&text, "/proc/");
	ea_text_add_number(&text, pid);
	ea_text_add(&text, "/comm");
	path[text.length] = '\0';
	if (ea_record_open(&reader, path, '\n'))
		return 0;
	is_ours = ea_record_next(&reader, name, sizeof(name), NULL) && ea_streq(name, "execalign");
	ea_record_close(&reader);
	return is_ours;
}

/* A tracer would meet an exec that it did not expect; not every one can handle that. */
static int is_traced(void)
{
	struct ea_status status;

	return !ea_status_read(EA_STATUS_OF_THREAD, &status) && status.tracer &&
	       !is_our_command(status.tracer);
}

/* What the user's settings and the surroundings say against a promotion, or NULL. */
static const char *is_out_of_question(struct decision *d)
{
	struct ea_auxv *auxv = d->stack->auxv;

	if (d->settings->promote == EA_PROMOTE_NEVER)
		return "EXECALIGN_PROMOTE=never";
	if (ea_geometry(SYS_MACHINE, ea_auxv_value(auxv, AT_PAGESZ), &d->startup.geometry))
		return "unknown base page size";
	if (ea_own_loader_places(d->stack))
		return EA_OWN_LOADER_PLACES;
	if (is_audited(d))
		return "LD_AUDIT has the auditor already";
	if (!can_be_listed(d->shim_path))
		return "the shim's path cannot be named in LD_AUDIT";
	return NULL;
}

/* What could go wrong with a promotion, or NULL. */
static const char *is_too_risky(struct decision *d)
{
	struct ea_auxv *auxv = d->stack->auxv;

	if (d->settings->promote != EA_PROMOTE_ALWAYS && is_traced())
		return "the process is being traced";
	if (!exe_is_program(ea_auxv_find(auxv, AT_PHDR), ea_auxv_value(auxv, AT_PHNUM)))
		return "/proc/self/exe is not this program: started as ld.so PROGRAM, or emulated";
	if (!tunables_are_well_formed(ea_env_find(d->stack->envp, "GLIBC_TUNABLES", NULL)))
		return "GLIBC_TUNABLES is malformed";
	return ea_startup_tls(&d->startup, main_tls_align_bytes(auxv), &d->tls_bytes);
}

/* Why there will be no promotion, or NULL. From the cheap to the expensive. */
static const char *decline(struct decision *d)
{
	int may_gain = d->settings->promote == EA_PROMOTE_ALWAYS;
	const char *reason = is_out_of_question(d);

	if (reason)
		return reason;
	may_gain |= ea_startup_is_misplaced(&d->startup, d->settings);
	if (!may_gain && !ea_startup_imports_dlopen(&d->startup))
		return NOTHING_TO_GAIN;
	/* Up to here files were opened, read and closed. What follows ld.so would not do. */
	reason = ea_seccomp_refuses(&d->filters, d->settings->promote == EA_PROMOTE_ALWAYS);
	if (reason)
		return reason;
	if (!may_gain && !ea_startup_loads_more(&d->startup))
		return NOTHING_TO_GAIN;
	return is_too_risky(d);
}

/* Append @name=[old value:]@item to the strings; returns the new entry. */
static char *add_to_list(struct ea_text *strings, const char *name, const char *old_value)
{
	char *entry = strings->buf + strings->length;

	ea_text_add(strings, name);
	ea_text_add(strings, "=");
	if (old_value) {
		ea_text_add(strings, old_value);
		ea_text_add(strings, ":");
	}
	return entry;
}

/* Terminate the entry that is being built. */
static void end_entry(struct ea_text *strings)
{
	if (strings->length < strings->size)
		strings->buf[strings->length++] = '\0';
}

static char *audit_entry(const struct decision *d, struct ea_text *strings, const char *old_value)
{
	char *entry = add_to_list(strings, "LD_AUDIT", old_value);

	ea_text_add(strings, d->shim_path);
	end_entry(strings);
	return entry;
}

/* The user's own value of the tunable, the last one as in ld.so, or glibc's default. */
static uint64_t tunable_bytes(const char *tunables)
{
	uint64_t bytes = TUNABLE_DEFAULT_BYTES;
	const char *value;

	while (tunables && *tunables) {
		value = ea_after_prefix(tunables, TUNABLE);
		if (value && ea_parse_c_number(value) != UINT64_MAX)
			bytes = ea_parse_c_number(value);
		while (*tunables && *tunables++ != ':')
			;
	}
	return bytes;
}

static char *tunables_entry(
	const struct decision *d, struct ea_text *strings, const char *old_value)
{
	char *entry = add_to_list(strings, "GLIBC_TUNABLES", old_value);

	ea_text_add(strings, TUNABLE);
	ea_text_add_number(strings, tunable_bytes(old_value) + d->tls_bytes);
	end_entry(strings);
	return entry;
}

static char *marker_entry(const struct decision *d, struct ea_text *strings)
{
	const struct ea_auxv *execfn = ea_auxv_find(d->stack->auxv, AT_EXECFN);
	char *entry = add_to_list(strings, MARKER, NULL);
	char name[NAME_BYTES] = {0};

	sys_prctl(PR_GET_NAME, (uint64_t)(uintptr_t)name);
	ea_text_add_number(strings, (uint64_t)d->filters);
	ea_text_add(strings, ":");
	ea_text_add_number(strings, ea_strlen(name));
	ea_text_add(strings, ":");
	ea_text_add(strings, name);
	if (execfn)
		ea_text_add(strings, (const char *)execfn->value);
	end_entry(strings);
	return entry;
}

/* An upper bound of the strings that build_environment() makes. */
static size_t strings_bytes(const struct decision *d, const char *audit, const char *tunables)
{
	const struct ea_auxv *execfn = ea_auxv_find(d->stack->auxv, AT_EXECFN);

	return 512 + ea_strlen(d->shim_path) + (audit ? ea_strlen(audit) : 0) +
	       (tunables ? ea_strlen(tunables) : 0) +
	       (execfn ? ea_strlen((const char *)execfn->value) : 0);
}

/* Put @entry where variable @name stands in @envp, or at the end; returns 1 if it is a new one. */
static size_t set_entry(char **envp, const char *name, char *entry)
{
	size_t index;

	if (ea_env_find(envp, name, &index)) {
		envp[index] = entry;
		return 0;
	}
	index = ea_env_count(envp);
	envp[index] = entry;
	envp[index + 1] = NULL;
	return 1;
}

/* Copy the environment without what only looks like ours. */
static void copy_environment(char **to, char *const *from)
{
	for (; *from; from++) {
		if (!ea_after_prefix(*from, MARKER "=") && !ea_after_prefix(*from, PADDING "="))
			*to++ = *from;
	}
	*to = NULL;
}

/*
 * The environment for the promoted process, in memory of its own: exec frees it, and
 * @memory_bytes tells how much to unmap when exec fails. Returns NULL without memory.
 */
static char **build_environment(const struct decision *d, size_t *memory_bytes)
{
	const char *audit = ea_env_find(d->stack->envp, "LD_AUDIT", NULL);
	const char *tunables = ea_env_find(d->stack->envp, "GLIBC_TUNABLES", NULL);
	size_t table_bytes = (ea_env_count(d->stack->envp) + 5) * sizeof(char *);
	size_t text_bytes = strings_bytes(d, audit, tunables);
	struct ea_text strings;
	size_t added = 0;
	char **envp;
	long addr;

	*memory_bytes = table_bytes + text_bytes;
	addr = sys_mmap(
		0, *memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(addr))
		return NULL;
	envp = (char **)addr;
	strings = (struct ea_text){(char *)addr + table_bytes, text_bytes, 0};

	copy_environment(envp, d->stack->envp);
	added += set_entry(envp, "LD_AUDIT", audit_entry(d, &strings, audit));
	added += set_entry(envp, "GLIBC_TUNABLES", tunables_entry(d, &strings, tunables));
	added += set_entry(envp, MARKER, marker_entry(d, &strings));
	/* remove_additions() frees slots in pairs. */
	if (added % 2)
		set_entry(envp, PADDING, (char *)PADDING "=");
	return envp;
}

void ea_promotion_try(const struct ea_stack *stack, const struct ea_settings *settings)
{
	struct decision d = {.stack = stack, .settings = settings};
	const char *reason;
	size_t memory_bytes;
	char **envp;
	long ret;

	if (!&_r_debug)
		return;
	d.startup.main_map = _r_debug.r_map;
	d.startup.loader_addr = ea_auxv_value(stack->auxv, AT_BASE);
	d.shim_path = own_path();
	reason = decline(&d);
	if (reason) {
		ea_promotion_log(settings->log, "declined", reason, 0);
		return;
	}
	envp = build_environment(&d, &memory_bytes);
	if (!envp) {
		ea_promotion_log(settings->log, "failed", "no memory for the environment", 0);
		return;
	}
	if (!d.filters)
		ea_forget_small_folios(&d.startup, settings);
	ret = sys_execve("/proc/self/exe", stack->argv, envp);
	sys_munmap((uint64_t)(uintptr_t)envp, memory_bytes);
	ea_promotion_log(settings->log, "failed", "exec was refused", (int)-ret);
}
