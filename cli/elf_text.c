/* SPDX-License-Identifier: MIT */
/*
 * elf_text.c - execalign elf for people
 */
#include <inttypes.h>

#include "elf_file.h"
#include "elf_report.h"
#include "format.h"

#define INDENT "             "

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static const char *placer_words(const struct layout *layout)
{
	switch (layout->placer) {
	case PLACER_KERNEL:
		return "program";
	case PLACER_KERNEL_STATIC:
		return "static program";
	case PLACER_LINKER:
		return "program at fixed addresses";
	case PLACER_LOADER:
		break;
	}
	return "library";
}

static const char *first_word(const struct elf_item *item)
{
	switch (item->change.outcome) {
	case OUTCOME_CHANGED:
	case OUTCOME_WOULD_CHANGE:
	case OUTCOME_REFUSED:
	case OUTCOME_FAILED:
		return outcome_name(item->change.outcome);
	default:
		return layout_verdict_name(item->layout.verdict);
	}
}

static const char *word_style(const struct style *style, const struct elf_item *item)
{
	switch (item->change.outcome) {
	case OUTCOME_CHANGED:
		return style->good;
	case OUTCOME_REFUSED:
	case OUTCOME_FAILED:
		return style->bad;
	default:
		break;
	}
	if (item->layout.verdict == LAYOUT_TOO_SMALL)
		return style->dim;
	return layout_carries(&item->layout) ? style->good : style->bad;
}

static void print_row(FILE *stream, const struct style *style, const struct elf_item *item)
{
	const struct layout *layout = &item->layout;
	const struct change *change = &item->change;
	char align[FORMAT_BYTES_MAX], block[FORMAT_BYTES_MAX], text[FORMAT_BYTES_MAX];
	bool changed = change->outcome == OUTCOME_CHANGED;

	fprintf(stream, "%s%-12s%s p_align %7s  block %7s  text %9s  ", word_style(style, item),
		first_word(item), style->off,
		format_bytes(changed ? change->to_bytes : layout->align_bytes, align),
		layout->block_bytes ? format_bytes(layout->block_bytes, block) : "-",
		format_bytes(layout->text_bytes, text));
	print_escaped(stream, item->path);
	fputc('\n', stream);
}

static void print_granule(FILE *stream, const struct granule *granule)
{
	char page[FORMAT_BYTES_MAX], block[FORMAT_BYTES_MAX], whole[FORMAT_BYTES_MAX];

	fprintf(stream, INDENT "pages of %s: ", format_bytes(granule->page_bytes, page));
	if (!granule->mappable)
		fputs("cannot be mapped\n", stream);
	else if (!granule->block_bytes)
		fputs("no block fits\n", stream);
	else
		fprintf(stream, "blocks of %s, %s in whole ones, %s by itself\n",
			format_bytes(granule->block_bytes, block),
			format_bytes(granule->whole_bytes, whole),
			granule->congruent ? "congruent" : "not congruent");
}

static void print_details(FILE *stream, const struct layout *layout)
{
	char bytes[FORMAT_BYTES_MAX], align[FORMAT_BYTES_MAX];
	const char *libc = layout_libc_name(layout->libc);
	size_t i;

	fprintf(stream, INDENT "%s %s%s%s", elf_machine_name(layout->machine), placer_words(layout),
		libc ? ", for " : "", libc ? libc : "");
	if (layout->text_bytes)
		fprintf(stream,
			"; text at offset 0x%" PRIx64 ", address 0x%" PRIx64 ", %s, p_align %s",
			layout->offset, layout->vaddr, format_bytes(layout->segment_bytes, bytes),
			format_bytes(layout->align.bytes, align));
	fputc('\n', stream);
	for (i = 0; i < layout->granule_count; i++)
		print_granule(stream, &layout->granules[i]);
}

static void print_arrow(FILE *stream, const struct style *style, const char *text)
{
	fprintf(stream, INDENT "%s-> ", style->dim);
	print_escaped(stream, text);
	fprintf(stream, "%s\n", style->off);
}

static void print_package(FILE *stream, const struct style *style, const struct elf_item *item)
{
	char text[CHANGE_TEXT_MAX];

	snprintf(text, sizeof(text), "belongs to %s, whose checksum does not fit then",
		item->package);
	print_arrow(stream, style, text);
}

void elf_text_file(FILE *stream, const struct elf_request *request, const struct elf_item *item)
{
	const struct style *style = style_for(stream);
	const struct layout *layout = &item->layout;
	bool details = (item->argument && request->request == REQUEST_NONE) || request->verbose;
	char remedy[CHANGE_TEXT_MAX];

	print_row(stream, style, item);
	if (details)
		print_details(stream, layout);
	if (*item->change.text) {
		print_arrow(stream, style, item->change.text);
	} else if (details || layout->verdict == LAYOUT_MISLAID) {
		layout_remedy(layout, remedy, sizeof(remedy));
		if (*remedy)
			print_arrow(stream, style, remedy);
	}
	if (item->package)
		print_package(stream, style, item);
}

static void print_judged(FILE *stream, const struct elf_sums *sums)
{
	uint64_t judged = sums->kinds[LAYOUT_JUDGED];

	fprintf(stream,
		"%" PRIu64 " file%s, %" PRIu64 " program%s and librar%s: %" PRIu64
		" hold%s whole blocks",
		sums->files, plural(sums->files), judged, plural(judged), judged == 1 ? "y" : "ies",
		sums->eligible, sums->eligible == 1 ? "s" : "");
	if (sums->eligible)
		fprintf(stream,
			" (%" PRIu64 " aligned, %" PRIu64 " fixed, %" PRIu64 " raise, %" PRIu64
			" mislaid)",
			sums->verdicts[LAYOUT_ALIGNED], sums->verdicts[LAYOUT_FIXED],
			sums->verdicts[LAYOUT_RAISE], sums->verdicts[LAYOUT_MISLAID]);
	fputc('\n', stream);
}

static void print_others(FILE *stream, const struct elf_sums *sums)
{
	const char *separator = "not judged: ";
	size_t i;

	for (i = LAYOUT_NOT_ELF + 1; i < LAYOUT_KIND_COUNT; i++) {
		if (!sums->kinds[i])
			continue;
		fprintf(stream, "%s%" PRIu64 " %s", separator, sums->kinds[i], layout_kind_name(i));
		separator = ", ";
	}
	if (*separator == ',')
		fputc('\n', stream);
}

static void print_outcomes(FILE *stream, const struct elf_sums *sums)
{
	const char *separator = " (";
	size_t i;

	fprintf(stream, "%" PRIu64 " changed", sums->outcomes[OUTCOME_CHANGED]);
	if (sums->outcomes[OUTCOME_WOULD_CHANGE])
		fprintf(stream, ", %" PRIu64 " would change", sums->outcomes[OUTCOME_WOULD_CHANGE]);
	fprintf(stream, ", %" PRIu64 " already so, %" PRIu64 " failed, %" PRIu64 " refused",
		sums->outcomes[OUTCOME_ALREADY], sums->outcomes[OUTCOME_FAILED],
		sums->outcomes[OUTCOME_REFUSED]);
	for (i = REFUSAL_NONE + 1; i < REFUSAL_COUNT; i++) {
		if (!sums->refusals[i])
			continue;
		fprintf(stream, "%s%" PRIu64 " %s", separator, sums->refusals[i], refusal_name(i));
		separator = ", ";
	}
	fputs(*separator == ',' ? ")\n" : "\n", stream);
	if (sums->outcomes[OUTCOME_CHANGED])
		fputs("programs that run keep the old files until they start again\n", stream);
	if (sums->packaged)
		fprintf(stream,
			"%" PRIu64 " belong%s to Debian packages: dpkg --verify names them, and "
			"updates undo the change\n",
			sums->packaged, sums->packaged == 1 ? "s" : "");
}

void elf_text_end(FILE *stream, const struct elf_request *request, const struct elf_sums *sums)
{
	print_judged(stream, sums);
	print_others(stream, sums);
	if (request->request != REQUEST_NONE)
		print_outcomes(stream, sums);
	else if (sums->verdicts[LAYOUT_RAISE])
		fprintf(stream, "--set-align auto would have loaders place %" PRIu64 " of them\n",
			sums->verdicts[LAYOUT_RAISE]);
}
