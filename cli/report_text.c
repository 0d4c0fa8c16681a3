/* SPDX-License-Identifier: MIT */
/*
 * report_text.c - the report as tables for people
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "format.h"
#include "report.h"

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void print_command(FILE *stream, const struct report *report)
{
	int status = report->command_status;

	if (!report->command)
		return;
	fputs("command: ", stream);
	print_escaped(stream, report->command[0]);
	if (!report->command_ended)
		fputs(" is running\n", stream);
	else if (WIFSIGNALED(status))
		fprintf(stream, " was ended by signal %d (%s)\n", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		fprintf(stream, " ended with exit status %d\n", WEXITSTATUS(status));
}

static const char *shim_words(enum shim_state shim)
{
	switch (shim) {
	case SHIM_AUDITING:
		return "under the shim";
	case SHIM_PRELOADED:
		return "the shim is loaded, but not as an auditor";
	case SHIM_ABSENT:
		break;
	}
	return "without the shim";
}

/* "yes", "1.3 MiB off", "-" */
static const char *congruent_words(const struct object *object, char *out)
{
	char distance[FORMAT_BYTES_MAX];

	if (!object_eligible(object))
		return "-";
	if (object_congruent(object))
		return "yes";
	snprintf(out, FORMAT_BYTES_MAX + 8, "%s off",
		format_bytes(object->distance_bytes, distance));
	return out;
}

static const char *verdict_style(const struct style *style, const struct object *object)
{
	switch (object_verdict(object)) {
	case VERDICT_NO:
		return style->bad;
	case VERDICT_UNKNOWN:
		return style->doubt;
	case VERDICT_YES:
		break;
	}
	return object_eligible(object) ? style->good : style->dim;
}

static void print_path(FILE *stream, const struct object *object)
{
	print_escaped(stream, object->path);
	if (object->deleted)
		fputs(" (deleted)", stream);
	fputc('\n', stream);
}

static void print_reason(FILE *stream, const struct style *style, const struct object *object)
{
	if (object->reason == REASON_NONE)
		return;
	fprintf(stream, "%12s%s-> ", "", verdict_style(style, object));
	print_escaped(stream, object->reason_text);
	fprintf(stream, "%s\n", style->off);
}

static void print_folios(
	FILE *stream, bool known, const uint64_t folio_bytes[FOLIO_ORDERS], uint64_t page_bytes)
{
	const char *separator = " ";
	char folio[FORMAT_BYTES_MAX], bytes[FORMAT_BYTES_MAX];
	unsigned int order;

	if (!known) {
		fputs("folios unknown: needs CAP_SYS_ADMIN\n", stream);
		return;
	}
	fputs("in folios of", stream);
	for (order = 0; order < FOLIO_ORDERS; order++) {
		if (!folio_bytes[order])
			continue;
		fprintf(stream, "%s%s: %s", separator, format_bytes(page_bytes << order, folio),
			format_bytes(folio_bytes[order], bytes));
		separator = ", ";
	}
	fputs(*separator == ' ' ? " no size: nothing is touched\n" : "\n", stream);
}

/* As format_percent(), but no part is 0% of what it is a part of. */
static const char *format_share(uint64_t part, uint64_t whole, char *out)
{
	return part * 100 < whole ? "<1%" : format_percent(part, whole, out);
}

/* "93% at 2 MiB, 6% at 4 KiB", the largest entries first */
static void print_entries(FILE *stream, const struct entry_counts *counts)
{
	const char *separator = "";
	char size[FORMAT_BYTES_MAX], percent[FORMAT_BYTES_MAX];
	unsigned int order;

	for (order = ENTRY_ORDERS; order-- > 0;) {
		uint64_t count = counts->of_order[order];

		if (!count)
			continue;
		fprintf(stream, "%s%s at %s", separator,
			format_share(count, counts->total, percent),
			order ? format_bytes((uint64_t)1 << order, size) : "unknown");
		separator = ", ";
	}
}

static void print_object_samples(
	FILE *stream, const struct report *report, const struct object *object)
{
	char percent[FORMAT_BYTES_MAX];

	if (!object->samples.total)
		return;
	fprintf(stream, "%12ssampled %" PRIu64 " time%s (%s): ", "", object->samples.total,
		plural(object->samples.total),
		format_share(object->samples.total, report->sampled.total, percent));
	print_entries(stream, &object->samples);
	fputc('\n', stream);
}

static void print_samples(FILE *stream, const struct report *report)
{
	const char *trouble;

	if (!report->samples)
		return;
	trouble = samples_trouble(report->samples);
	if (trouble) {
		fprintf(stream, "samples: unknown: %s\n", trouble);
		return;
	}
	fprintf(stream, "samples: %" PRIu64 ", by entry: ", report->sampled.total);
	print_entries(stream, &report->sampled);
	if (report->sampled_elsewhere)
		fprintf(stream, "; %" PRIu64 " outside of these objects",
			report->sampled_elsewhere);
	if (report->samples->lost)
		fprintf(stream, "; %" PRIu64 " lost", report->samples->lost);
	fputc('\n', stream);
}

static void print_object(FILE *stream, const struct report *report, const struct style *style,
	const struct object *object)
{
	char text[FORMAT_BYTES_MAX], block[FORMAT_BYTES_MAX], off[FORMAT_BYTES_MAX + 8];
	char whole[FORMAT_BYTES_MAX], touched[FORMAT_BYTES_MAX], mapped[FORMAT_BYTES_MAX];
	bool eligible = object_eligible(object);

	fprintf(stream, "%10s  %7s  %s%-13s%s %10s %10s %12s  ",
		format_bytes(object->text_bytes, text),
		eligible ? format_bytes(object->block_bytes, block) : "-",
		verdict_style(style, object), congruent_words(object, off), style->off,
		eligible ? format_bytes(object->whole_bytes, whole) : "-",
		eligible ? format_bytes(object->touched_bytes, touched) : "-",
		eligible ? format_bytes(object->block_mapped_bytes, mapped) : "-");
	print_path(stream, object);
	print_reason(stream, style, object);
	print_object_samples(stream, report, object);
	if (report->verbose) {
		fprintf(stream, "%15s", "");
		print_folios(stream, object->folios_known, object->present.folio_bytes,
			report->machine->geometry.page_bytes);
	}
}

static void print_total(FILE *stream, const struct report *report, const struct totals *totals)
{
	char text[FORMAT_BYTES_MAX], part[FORMAT_BYTES_MAX], of_touched[FORMAT_BYTES_MAX];
	char of_whole[FORMAT_BYTES_MAX], touched[FORMAT_BYTES_MAX];

	fprintf(stream, "total: %s of text in %" PRIu64 " object%s, eligible %s in %" PRIu64,
		format_bytes(totals->text_bytes, text), totals->objects, plural(totals->objects),
		format_bytes(totals->eligible_text_bytes, part), totals->eligible);
	fprintf(stream, "; congruent %s (%s, %" PRIu64 " of %" PRIu64 ")",
		format_bytes(totals->congruent_text_bytes, text),
		format_percent(totals->congruent_text_bytes, totals->eligible_text_bytes, part),
		totals->congruent, totals->eligible);
	fprintf(stream, "; whole blocks %s, touched %s, block-mapped %s",
		format_bytes(totals->whole_bytes, text),
		format_bytes(totals->touched_bytes, touched),
		format_bytes(totals->block_mapped_bytes, part));
	if (totals->block_mapped_bytes == UNKNOWN_BYTES)
		fputs(" (needs CAP_SYS_ADMIN)\n", stream);
	else
		fprintf(stream, " (%s of touched, %s of whole blocks)\n",
			format_percent(
				totals->block_mapped_bytes, totals->touched_bytes, of_touched),
			format_percent(totals->block_mapped_bytes, totals->whole_bytes, of_whole));
	if (report->verbose) {
		fputs("       ", stream);
		print_folios(stream, totals->folios_known, totals->folio_bytes,
			report->machine->geometry.page_bytes);
	}
}

static void print_process(FILE *stream, const struct report *report, const struct style *style,
	const struct snapshot *snapshot)
{
	uint64_t hidden = 0, hidden_bytes = 0;
	char bytes[FORMAT_BYTES_MAX];
	size_t i;

	fprintf(stream, "process %d (", snapshot->pid);
	print_escaped(stream, snapshot->comm);
	fprintf(stream, "), %s\n\n%10s  %7s  %-13s %10s %10s %12s  %s\n",
		shim_words(snapshot->shim), "TEXT", "BLOCK", "CONGRUENT", "WHOLE", "TOUCHED",
		"BLOCK-MAPPED", "OBJECT");
	for (i = 0; i < snapshot->object_count; i++) {
		const struct object *object = &snapshot->objects[i];

		if (report->verbose || object_eligible(object)) {
			print_object(stream, report, style, object);
			continue;
		}
		hidden++;
		hidden_bytes += object->text_bytes;
	}
	if (hidden)
		fprintf(stream, "%10s  in %" PRIu64 " object%s without a whole block (--verbose)\n",
			format_bytes(hidden_bytes, bytes), hidden, plural(hidden));
	fputc('\n', stream);
	print_total(stream, report, &snapshot->totals);
	print_samples(stream, report);
}

static void print_aggregate(
	FILE *stream, const struct style *style, const struct aggregate *aggregate)
{
	const struct object *object = aggregate->example;
	char block[FORMAT_BYTES_MAX], whole[FORMAT_BYTES_MAX], touched[FORMAT_BYTES_MAX];
	char mapped[FORMAT_BYTES_MAX], congruent[48];

	snprintf(congruent, sizeof(congruent), "%" PRIu64 " of %" PRIu64, aggregate->congruent,
		aggregate->processes);
	fprintf(stream, "%7s  %s%-13s%s %10s %10s %12s  ", format_bytes(object->block_bytes, block),
		verdict_style(style, object), congruent, style->off,
		format_bytes(aggregate->whole_bytes, whole),
		format_bytes(aggregate->touched_bytes, touched),
		format_bytes(aggregate->block_mapped_bytes, mapped));
	print_path(stream, object);
	print_reason(stream, style, object);
}

static void print_process_line(FILE *stream, const struct snapshot *snapshot)
{
	const struct totals *totals = &snapshot->totals;
	char whole[FORMAT_BYTES_MAX], touched[FORMAT_BYTES_MAX], mapped[FORMAT_BYTES_MAX];
	char congruent[48];

	snprintf(congruent, sizeof(congruent), "%" PRIu64 " of %" PRIu64, totals->congruent,
		totals->eligible);
	fprintf(stream, "%7d  %-13s %10s %10s %12s  ", snapshot->pid, congruent,
		format_bytes(totals->whole_bytes, whole),
		format_bytes(totals->touched_bytes, touched),
		format_bytes(totals->block_mapped_bytes, mapped));
	print_escaped(stream, snapshot->comm);
	fprintf(stream, "%s\n", snapshot->shim == SHIM_ABSENT ? "" : " (under the shim)");
}

static void print_skipped(FILE *stream, const struct skipped *skipped)
{
	if (skipped->kernel_threads)
		fprintf(stream, "not shown: %" PRIu64 " kernel thread%s, which map no files\n",
			skipped->kernel_threads, plural(skipped->kernel_threads));
	if (skipped->denied)
		fprintf(stream,
			"not shown: %" PRIu64 " process%s that you may not read: needs root, or "
			"CAP_SYS_PTRACE\n",
			skipped->denied, skipped->denied == 1 ? "" : "es");
	if (skipped->ended)
		fprintf(stream, "not shown: %" PRIu64 " that ended\n", skipped->ended);
	if (skipped->failed)
		fprintf(stream, "not shown: %" PRIu64 " whose mappings could not be read\n",
			skipped->failed);
}

static void print_all(FILE *stream, const struct report *report, const struct style *style)
{
	uint64_t hidden = 0;
	size_t i;

	fprintf(stream, "%7s  %-13s %10s %10s %12s  %s\n", "BLOCK", "CONGRUENT IN", "WHOLE",
		"TOUCHED", "BLOCK-MAPPED", "OBJECT (sums over processes)");
	for (i = 0; i < report->aggregate_count; i++) {
		if (object_eligible(report->aggregates[i].example))
			print_aggregate(stream, style, &report->aggregates[i]);
		else
			hidden++;
	}
	if (hidden)
		fprintf(stream, "%7s  %" PRIu64 " object%s without a whole block\n", "-", hidden,
			plural(hidden));

	fprintf(stream, "\n%7s  %-13s %10s %10s %12s  %s\n", "PID", "CONGRUENT", "WHOLE", "TOUCHED",
		"BLOCK-MAPPED", "PROCESS");
	hidden = 0;
	for (i = 0; i < report->count; i++) {
		if (report->verbose || report->snapshots[i].totals.eligible)
			print_process_line(stream, &report->snapshots[i]);
		else
			hidden++;
	}
	if (hidden)
		fprintf(stream, "%7s  %" PRIu64 " process%s with nothing eligible (--verbose)\n",
			"-", hidden, hidden == 1 ? "" : "es");
	fputc('\n', stream);
	print_total(stream, report, &report->totals);
	print_skipped(stream, &report->skipped);
}

int report_print_text(FILE *stream, const struct report *report)
{
	const struct style *style = style_for(stream);
	size_t i;

	print_command(stream, report);
	if (report->all) {
		print_all(stream, report, style);
	} else {
		for (i = 0; i < report->count; i++)
			print_process(stream, report, style, &report->snapshots[i]);
	}
	return ferror(stream) ? -EIO : 0;
}
