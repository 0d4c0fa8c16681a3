/* SPDX-License-Identifier: MIT */
/*
 * elf_report.h - what execalign elf finds in one file, the sums over all, and how both are printed
 */
#ifndef CLI_ELF_REPORT_H
#define CLI_ELF_REPORT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "layout.h"
#include "realign.h"
#include "tree.h"

/* struct elf_item - one file; without a directory: a path that could not be opened */
struct elf_item {
	struct tree_dir *dir;
	char name[NAME_MAX + 1]; /* in it */
	char *path;		 /* as the user would name it */
	bool argument;		 /* named on the command line, not found in a directory */
	int error;		 /* -errno: it could not be opened */
	bool repeated;		 /* judged already, by another name */
	struct layout layout;
	struct change change;
	const char *package;	 /* of Debian, that a changed file belongs to; or NULL */
};

/* struct elf_sums - over all files */
struct elf_sums {
	uint64_t files;		 /* regular files looked at */
	uint64_t repeated;
	uint64_t unreadable;	 /* files and directories */
	uint64_t eligible;
	uint64_t kinds[LAYOUT_KIND_COUNT];
	uint64_t verdicts[LAYOUT_VERDICT_COUNT];
	uint64_t outcomes[OUTCOME_COUNT];
	uint64_t refusals[REFUSAL_COUNT];
	uint64_t packaged;	 /* of those changed, or to be changed */
	uint64_t lacking;	 /* eligible, and without the alignment in the end */
};

/* struct elf_request - what was asked for, as far as the printers need it */
struct elf_request {
	enum request request;
	uint64_t block_bytes;	 /* with REQUEST_RAISE; 0: auto */
	bool dry_run;
	bool verbose;
	bool has_directory;	 /* among the arguments */
};

/* The text for people: a file, and the summary. */
void elf_text_file(FILE *stream, const struct elf_request *request, const struct elf_item *item);
void elf_text_end(FILE *stream, const struct elf_request *request, const struct elf_sums *sums);

/* JSON lines; elf-json.md describes them. */
void elf_json_begin(FILE *stream, const struct elf_request *request);
void elf_json_file(FILE *stream, const struct elf_item *item);
void elf_json_end(FILE *stream, const struct elf_sums *sums);

#endif
