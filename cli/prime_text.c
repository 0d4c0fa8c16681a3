/* SPDX-License-Identifier: MIT */
/*
 * prime_text.c - what came of priming, as a table for people
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format.h"
#include "object.h"
#include "prime.h"

static const char *answer_style(const struct style *style, enum prime_answer answer)
{
	switch (answer) {
	case PRIME_NO:
		return style->bad;
	case PRIME_UNKNOWN:
		return style->doubt;
	case PRIME_YES:
		break;
	}
	return style->good;
}

/* "2 MiB: 8 MiB, 4 KiB: 300 KiB" of "SIZE OF FOLIO: HOW MUCH IS IN SUCH", the largest first */
static void print_folios(
	FILE *stream, const char *when, const struct cache_state *state, uint64_t page_bytes)
{
	char folio[FORMAT_BYTES_MAX], bytes[FORMAT_BYTES_MAX];
	const char *separator = " ";
	unsigned int order;

	fprintf(stream, "%s:", when);
	if (!state->folios_known) {
		fputs(" unknown", stream);
		return;
	}
	for (order = FOLIO_ORDERS; order-- > 0;) {
		if (!state->folio_bytes[order])
			continue;
		fprintf(stream, "%s%s in %s", separator,
			format_bytes(state->folio_bytes[order], bytes),
			format_bytes(page_bytes << order, folio));
		separator = ", ";
	}
	if (*separator == ' ')
		fputs(" nothing", stream);
}

static void print_reason(FILE *stream, const struct style *style, const struct prime *prime,
	const struct primed_file *file)
{
	char *text = prime_reason_text(prime, file);

	if (!text)
		return;
	fprintf(stream, "%12s%s-> ", "", answer_style(style, prime_answer_of(prime, file)));
	print_escaped(stream, text);
	fprintf(stream, "%s\n", style->off);
	free(text);
}

/* Sizes for a column, "-" of a file without whole blocks. */
static void print_size(
	FILE *stream, const char *style, const struct primed_file *file, uint64_t bytes)
{
	char size[FORMAT_BYTES_MAX];

	fprintf(stream, "%s%12s  ", style, file->whole_bytes ? format_bytes(bytes, size) : "-");
}

static void print_file(FILE *stream, const struct style *style, const struct prime *prime,
	const struct primed_file *file)
{
	print_size(stream, "", file, file->whole_bytes);
	print_size(stream, "", file, file->before.in_blocks_bytes);
	print_size(stream, "", file, prime->dry_run ? file->need_bytes : file->read_bytes);
	if (!prime->dry_run)
		print_size(stream, answer_style(style, prime_answer_of(prime, file)), file,
			file->after.in_blocks_bytes);
	fputs(style->off, stream);
	print_escaped(stream, file->path);
	fputc('\n', stream);
	print_reason(stream, style, prime, file);
	if (!file->before.folios_known && !file->after.folios_known)
		return;
	fprintf(stream, "%15s", "folios ");
	print_folios(stream, "before", &file->before, prime->machine->geometry.page_bytes);
	if (!prime->dry_run)
		print_folios(stream, "; after", &file->after, prime->machine->geometry.page_bytes);
	fputc('\n', stream);
}

static void print_totals(FILE *stream, const struct prime *prime)
{
	char whole[FORMAT_BYTES_MAX], after[FORMAT_BYTES_MAX], read[FORMAT_BYTES_MAX];
	char available[FORMAT_BYTES_MAX];
	uint64_t whole_bytes = 0, after_bytes = 0, read_bytes = 0;
	size_t i, eligible = 0;

	for (i = 0; i < prime->count; i++) {
		const struct primed_file *file = &prime->files[i];

		eligible += file->whole_bytes > 0;
		whole_bytes += file->whole_bytes;
		add_known(&after_bytes, prime->dry_run ? file->before.in_blocks_bytes
						       : file->after.in_blocks_bytes);
		add_known(&read_bytes, file->read_bytes);
	}
	fprintf(stream, "%zu file%s with whole blocks: %s, %s in one folio each; ", eligible,
		eligible == 1 ? "" : "s", format_bytes(whole_bytes, whole),
		after_bytes == UNKNOWN_BYTES ? "of which it is unknown how much is"
					     : format_bytes(after_bytes, after));
	if (prime->dry_run)
		fprintf(stream, "%s would be read, %s of memory are available\n",
			format_bytes(prime->need_bytes, read),
			format_bytes(prime->available_bytes, available));
	else
		fprintf(stream, "%s read\n", format_bytes(read_bytes, read));
}

static void print_passed(FILE *stream, const struct prime_passed *passed)
{
	const struct {
		uint64_t count;
		const char *what;
	} rows[] = {
		{passed->too_small, "too small"},
		{passed->not_elf, "not ELF"},
		{passed->foreign, "of 32 bits or for another machine"},
		{passed->broken, "broken"},
		{passed->unreadable, "not readable"},
	};
	const char *separator = "passed over: ";
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].count)
			continue;
		fprintf(stream, "%s%" PRIu64 " %s", separator, rows[i].count, rows[i].what);
		separator = ", ";
	}
	if (*separator == ',')
		fputc('\n', stream);
}

static void print_unknown(FILE *stream, const struct prime *prime)
{
	if (prime->count && prime->cache.flags.fd < 0)
		fputs("folio sizes: unknown: root (CAP_SYS_ADMIN) sees them in /proc/self/pagemap "
		      "and /proc/kpageflags\n",
			stream);
	if (prime->unseen_processes)
		fprintf(stream,
			"%zu process%s may not be looked at: what %s mapped is for root "
			"(CAP_SYS_PTRACE) to see\n",
			prime->unseen_processes, prime->unseen_processes == 1 ? "" : "es",
			prime->unseen_processes == 1 ? "it has" : "they have");
}

int prime_print_text(FILE *stream, const struct prime *prime)
{
	const struct style *style = style_for(stream);
	size_t i;

	if (prime->count)
		fprintf(stream, "%swhole blocks   in one each  %12s  %sfile%s\n", style->dim,
			prime->dry_run ? "would read" : "read",
			prime->dry_run ? "" : "  afterwards  ", style->off);
	for (i = 0; i < prime->count; i++)
		print_file(stream, style, prime, &prime->files[i]);
	print_totals(stream, prime);
	print_passed(stream, &prime->passed);
	print_unknown(stream, prime);
	return ferror(stream) ? -EIO : 0;
}
