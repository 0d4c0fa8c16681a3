/* SPDX-License-Identifier: MIT */
/*
 * prime_reason.c - why blocks are not in one folio each, and the answer that the exit status gives
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "prime.h"

/* As many as fit in a line; JSON has all. */
#define MAPPERS_NAMED 3

static const char *const reason_names[] = {
	[PRIME_FINE] = NULL,
	[PRIME_TOO_SMALL] = "too-small",
	[PRIME_OLD_KERNEL] = "old-kernel",
	[PRIME_FILESYSTEM] = "filesystem",
	[PRIME_NO_EXEC] = "noexec",
	[PRIME_DELETED] = "deleted",
	[PRIME_UNREADABLE] = "unreadable",
	[PRIME_MAPPED] = "mapped",
	[PRIME_DIRTY] = "dirty",
	[PRIME_MEMORY] = "memory",
	[PRIME_LIMIT] = "limit",
	[PRIME_CHANGED] = "changed",
	[PRIME_SMALL_FOLIOS] = "small-folios",
};

const char *prime_reason_name(enum prime_reason reason)
{
	return reason_names[reason];
}

/* What most of the missing bytes are due to. */
static enum prime_reason main_reason(const struct primed_file *file)
{
	enum prime_reason reason = PRIME_FINE;
	unsigned int i;

	for (i = PRIME_FINE + 1; i < PRIME_REASONS; i++)
		if (file->missing_bytes[i] &&
			(!reason || file->missing_bytes[i] > file->missing_bytes[reason]))
			reason = i;
	return reason;
}

static size_t collect_wanted(const struct prime *prime, struct wanted_file *wanted)
{
	size_t i, count = 0;

	for (i = 0; i < prime->count; i++) {
		const struct primed_file *file = &prime->files[i];

		if (file->reason != PRIME_MAPPED || !file->identified)
			continue;
		wanted[count] = file->mapped;
		wanted[count++].owner = i;
	}
	return count;
}

int prime_explain(struct prime *prime)
{
	struct wanted_file *wanted = calloc(prime->count + 1, sizeof(*wanted));
	size_t i, count;
	int err;

	if (!wanted)
		return -ENOMEM;
	for (i = 0; i < prime->count; i++)
		if (!prime->files[i].reason)
			prime->files[i].reason = main_reason(&prime->files[i]);
	count = collect_wanted(prime, wanted);
	err = mappers_find(wanted, count, &prime->unseen_processes);
	for (i = 0; i < count; i++)
		prime->files[wanted[i].owner].mapped = wanted[i];
	free(wanted);
	return err;
}

static bool anything_missing(const struct primed_file *file)
{
	return main_reason(file) != PRIME_FINE;
}

enum prime_answer prime_answer_of(const struct prime *prime, const struct primed_file *file)
{
	const struct cache_state *state = prime->dry_run ? &file->before : &file->after;

	switch (file->reason) {
	case PRIME_TOO_SMALL:
	case PRIME_DELETED:
		return PRIME_YES;
	case PRIME_UNREADABLE:
		return PRIME_UNKNOWN;
	default:
		break;
	}
	if (anything_missing(file))
		return PRIME_NO;
	return state->in_blocks_bytes == UNKNOWN_BYTES ? PRIME_UNKNOWN : PRIME_YES;
}

enum prime_answer prime_answer(const struct prime *prime)
{
	enum prime_answer worst = PRIME_YES;
	size_t i;

	for (i = 0; i < prime->count; i++) {
		enum prime_answer answer = prime_answer_of(prime, &prime->files[i]);

		if (answer > worst)
			worst = answer;
	}
	return worst;
}

/* "by 12 (python3), 14 (sshd) and 3 more" */
static void describe_mappers(
	const struct prime *prime, const struct primed_file *file, char *out, size_t out_bytes)
{
	size_t i, used = 0, count = file->mapped.count;

	if (!count) {
		snprintf(out, out_bytes, "%s",
			prime->unseen_processes
				? "by a process that may not be looked at (CAP_SYS_PTRACE) or "
				  "cannot be seen from here"
				: "by a process that has ended or cannot be seen from here");
		return;
	}
	for (i = 0; i < count && i < MAPPERS_NAMED && used < out_bytes; i++)
		used += (size_t)snprintf(out + used, out_bytes - used, "%s%d (%s)",
			i ? ", " : "by ", file->mapped.mappers[i].pid,
			file->mapped.mappers[i].comm);
	if (count > MAPPERS_NAMED && used < out_bytes)
		snprintf(out + used, out_bytes - used, " and %zu more", count - MAPPERS_NAMED);
}

static char *make_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *make_text(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

char *prime_reason_text(const struct prime *prime, const struct primed_file *file)
{
	const struct ea_release *release = &prime->machine->release;
	char missing[FORMAT_BYTES_MAX], who[4 * MAPPER_NAME_MAX + 64];

	format_bytes(file->missing_bytes[file->reason], missing);
	switch (file->reason) {
	case PRIME_FINE:
	case PRIME_REASONS:
		return NULL;
	case PRIME_TOO_SMALL:
		return make_text("too small: its text holds no whole block");
	case PRIME_OLD_KERNEL:
		return make_text(
			"kernel: Linux %u.%u: %s", release->major, release->minor, file->detail);
	case PRIME_FILESYSTEM:
		return make_text("filesystem: %s", file->detail);
	case PRIME_NO_EXEC:
		return make_text("mounted noexec: only an executable mapping is read in such "
				 "folios here");
	case PRIME_DELETED:
		return make_text("deleted or replaced: the next start uses another file");
	case PRIME_UNREADABLE:
		return make_text("cannot be opened: %s; run it as root", file->detail);
	case PRIME_MAPPED:
		describe_mappers(prime, file, who, sizeof(who));
		return make_text("%s cached in small folios, and mapped %s: prime it before they "
				 "start",
			missing, who);
	case PRIME_DIRTY:
		return make_text(
			"%s being written: prime it again when that is done (sync)", missing);
	case PRIME_MEMORY:
		return make_text("%s not read: too little memory is available", missing);
	case PRIME_LIMIT:
		return make_text("%s not read: beyond --max", missing);
	case PRIME_CHANGED:
		return make_text("%s cannot be read: %s", missing, file->detail);
	case PRIME_SMALL_FOLIOS:
		break;
	}
	return make_text(
		"%s read in small folios all the same: no free memory in one piece ('echo 1 "
		">/proc/sys/vm/compact_memory'), or a mount option forbids large ones",
		missing);
}
