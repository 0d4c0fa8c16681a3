/* SPDX-License-Identifier: MIT */
/*
 * findings.h - what execalign doctor finds
 */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "machine.h"
#include "mounts.h"

/* enum status - what a finding means for text in large blocks */
enum status {
	STATUS_OK,
	STATUS_LIMITS,		 /* it stands in the way, at least of doing without the shim */
	STATUS_UNKNOWN,
};

/* struct finding - one line */
struct finding {
	const char *name;	 /* stable, for programs */
	char *subject;		 /* the path that it is about, or NULL */
	enum status status;
	char *detail;
	char *remedy;		 /* what to do about it, or NULL */
	struct json_object *values; /* what was read */
};

/* struct doctor - the examination */
struct doctor {
	const struct machine *machine;
	struct mounts mounts;
	char *config;		 /* the kernel's configuration, or NULL */
	bool loader_places;	 /* this system's loader places text by itself, and is on */
	struct finding *findings;
	size_t count;
};

/*
 * finding_add - append a finding
 * @subject: copied; may be NULL
 * @format: of the detail
 *
 * Returns it, valid until the next is added. Ends the process when out of memory.
 */
struct finding *finding_add(struct doctor *doctor, const char *name, const char *subject,
	enum status status, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* finding_remedy - say what to do about it */
void finding_remedy(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* remedy_run - what to do where the shim helps: use it, unless the loader does the same */
const char *remedy_run(const struct doctor *doctor);

/* finding_value - attach a value for programs; takes the reference, NULL is null */
void finding_value(struct finding *finding, const char *key, struct json_object *value);

/* Both return 0, or -EIO when the stream cannot be written. */
int findings_print_text(FILE *stream, const struct doctor *doctor);
int findings_print_json(FILE *stream, const struct doctor *doctor);

void findings_free(struct doctor *doctor);

/* The checks, by what they look at. */
void check_machine(struct doctor *doctor);
void check_kernel(struct doctor *doctor);
void check_path(struct doctor *doctor, const char *path);
void check_libc(struct doctor *doctor);
void check_shim(struct doctor *doctor);
void check_privileges(struct doctor *doctor);

/*
 * The loaders of these programs (NULL, or ended by NULL), of this program, of the shell, and those that
 * lie where loaders lie: does each place text by itself? loaders_ask() only fills loader_places.
 */
void loaders_ask(struct doctor *doctor);
void check_loaders(struct doctor *doctor, char **paths);

#endif
