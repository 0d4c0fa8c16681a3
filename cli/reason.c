/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/block.h"
#include "core/kernel.h"
#include "format.h"
#include "loader.h"
#include "reason.h"

#define SHIM_NAME "libexecalign.so"

static const char *const reason_names[] = {
	[REASON_NONE] = NULL,
	[REASON_TOO_SMALL] = "too-small",
	[REASON_WRONG_CLASS] = "wrong-class",
	[REASON_EXECUTABLE] = "main-executable",
	[REASON_INTERPRETER] = "loader-itself",
	[REASON_FILE_OFFSET] = "file-offset",
	[REASON_POLICY] = "policy",
	[REASON_BASE] = "base",
	[REASON_NOT_TOUCHED] = "not-touched",
	[REASON_REPLACED] = "not-from-file",
	[REASON_VMA_END] = "vma-end",
	[REASON_THP_DISABLED] = "thp-disabled",
	[REASON_FILESYSTEM] = "filesystem",
	[REASON_OLD_KERNEL] = "old-kernel",
	[REASON_SMALL_FOLIOS] = "small-folios",
	[REASON_SMALL_ENTRIES] = "small-entries",
	[REASON_NOT_ADVISED] = "not-advised",
	[REASON_UNKNOWN] = "unknown",
};

const char *reason_name(enum reason reason)
{
	return reason_names[reason];
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

enum shim_state shim_state_of(
	const struct process *process, const struct object *objects, size_t count)
{
	const char *auditors = process_variable(process, "LD_AUDIT");
	size_t i, copies = 0;

	for (i = 0; i < count; i++)
		if (!strcmp(base_name(objects[i].path), SHIM_NAME))
			copies += objects[i].text_count;
	if (!copies)
		return SHIM_ABSENT;
	if (copies > 1 || (auditors && strstr(auditors, SHIM_NAME)))
		return SHIM_AUDITING;
	return SHIM_PRELOADED;
}

static void set_reason(struct object *object, enum reason reason, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void set_reason(struct object *object, enum reason reason, const char *format, ...)
{
	va_list args;

	object->reason = reason;
	va_start(args, format);
	vsnprintf(object->reason_text, sizeof(object->reason_text), format, args);
	va_end(args);
}

/* Does @text match @pattern, of @pattern_bytes, where * stands for any text and ? for a byte? */
static bool matches(const char *pattern, size_t pattern_bytes, const char *text)
{
	const char *end = pattern + pattern_bytes, *retry = NULL, *retry_text = NULL;

	for (;;) {
		if (pattern < end && *pattern == '*') {
			retry = ++pattern;
			retry_text = text;
		} else if (*text && pattern < end && (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (!*text && pattern == end) {
			return true;
		} else if (retry && *retry_text) {
			pattern = retry;
			text = ++retry_text;
		} else {
			return false;
		}
	}
}

/*
 * Patterns with a slash are matched against the whole path, others against the file's name. The
 * loader opened the library by the name that others link it with, as a rule its soname, while the
 * kernel shows the file that this led to.
 */
static bool list_matches(const char *list, const char *path, const char *soname)
{
	while (*list) {
		size_t bytes = strcspn(list, ":");
		bool whole_path = memchr(list, '/', bytes);

		if (bytes && matches(list, bytes, whole_path ? path : base_name(path)))
			return true;
		if (bytes && !whole_path && *soname && matches(list, bytes, soname))
			return true;
		list += bytes;
		list += *list == ':';
	}
	return false;
}

bool shim_is_off(const char *value)
{
	return value && !strcmp(value, "off");
}

static bool find_policy(struct object *object, const struct evidence *evidence)
{
	const struct process *process = evidence->process;
	const char *soname = evidence->elf.soname;
	const char *off = process_variable(process, "EXECALIGN");
	const char *allow = process_variable(process, "EXECALIGN_ALLOW");
	const char *deny = process_variable(process, "EXECALIGN_DENY");

	if (shim_is_off(off))
		set_reason(object, REASON_POLICY, "policy: EXECALIGN=%s", off);
	else if (deny && list_matches(deny, object->path, soname))
		set_reason(object, REASON_POLICY, "policy: EXECALIGN_DENY names it");
	else if (allow && *allow && !list_matches(allow, object->path, soname))
		set_reason(object, REASON_POLICY, "policy: EXECALIGN_ALLOW does not name it");
	else
		return false;
	return true;
}

/* The first text that is misplaced. */
static const struct text *misplaced_text(const struct object *object)
{
	size_t i;

	for (i = 0; i < object->text_count; i++)
		if (object->texts[i].whole_bytes && object->texts[i].distance_bytes)
			return &object->texts[i];
	return NULL;
}

/* How far the file itself puts text from congruent: (p_vaddr - p_offset) mod block. */
static uint64_t layout_distance_bytes(
	const struct elf_file *elf, const struct text *text, uint64_t block_bytes)
{
	unsigned int i;

	if (elf->kind != ELF_OURS)
		return 0;
	for (i = 0; i < elf->image.load_count; i++) {
		const struct ea_segment *load = &elf->image.loads[i];

		if (ea_segment_is_text(load) && load->offset == text->offset)
			return ea_distance_bytes(load->vaddr, load->offset, block_bytes);
	}
	return 0;
}

static void explain_executable(struct object *object, const struct elf_file *elf)
{
	char align[FORMAT_BYTES_MAX], block[FORMAT_BYTES_MAX], off[FORMAT_BYTES_MAX];

	format_bytes(object->block_bytes, block);
	format_bytes(object->distance_bytes, off);
	if (elf->kind == ELF_OURS && elf->image.type == ET_EXEC)
		set_reason(object, REASON_EXECUTABLE,
			"main executable with fixed addresses, %s off; link it with "
			"-z max-page-size=%" PRIu64,
			off, object->block_bytes);
	else if (elf->kind == ELF_OURS)
		set_reason(object, REASON_EXECUTABLE,
			"main executable, %s off: the kernel placed it by its p_align of %s; "
			"link it with -z max-page-size=%" PRIu64,
			off, format_bytes(elf->image.align_bytes, align), object->block_bytes);
	else
		set_reason(object, REASON_EXECUTABLE,
			"main executable, %s off: the kernel placed it by its p_align", off);
}

/* Who put it there, as far as it can be told. */
static void describe_placement(
	const struct evidence *evidence, const struct object *object, char *out, size_t out_bytes)
{
	const struct ea_geometry *geometry = &evidence->machine->geometry;
	const struct filesystem *filesystem = &evidence->filesystem;
	const struct ea_image *image = &evidence->elf.image;
	bool parsed = evidence->elf.kind == ELF_OURS;
	char size[FORMAT_BYTES_MAX];
	uint64_t first;

	if (parsed && image->align_bytes > geometry->page_bytes)
		snprintf(out, out_bytes, "ld.so placed it by its p_align of %s",
			format_bytes(image->align_bytes, size));
	else if (!filesystem->known)
		snprintf(out, out_bytes, "its filesystem could not be asked");
	else if (filesystem->aligns_mmap < 0)
		snprintf(out, out_bytes, "whether %s aligns mappings is not known",
			filesystem->type);
	else if (!filesystem->aligns_mmap)
		snprintf(out, out_bytes, "%s does not align mappings", filesystem->type);
	else if (object->block_bytes < geometry->pmd_bytes)
		snprintf(out, out_bytes, "%s aligns mappings to %s only", filesystem->type,
			format_bytes(geometry->pmd_bytes, size));
	else if (parsed && ea_image_span(image, geometry->page_bytes, &first) < geometry->pmd_bytes)
		snprintf(out, out_bytes, "%s aligns only mappings of %s and more", filesystem->type,
			format_bytes(geometry->pmd_bytes, size));
	else
		snprintf(out, out_bytes, "%s aligns mappings, but not the part with this text",
			filesystem->type);
}

/*
 * With a loader that places text by itself: what it says of that, or NULL where it is for the shim, there
 * already, to explain.
 */
static const char *explain_patched(const struct evidence *evidence, enum shim_state shim)
{
	const struct process *process = evidence->process;

	if (!evidence->loader.version)
		return NULL;
	if (loader_is_on(&evidence->loader, evidence->musl,
		    process_variable(process, "GLIBC_TUNABLES"),
		    process_variable(process, EA_LOADER_VARIABLE)))
		return "its loader places text by itself, but found no place for it";
	if (!evidence->musl && shim != SHIM_ABSENT)
		return NULL;
	return evidence->musl ? "its loader would place it with " EA_LOADER_VARIABLE "=1"
			      : "its loader would place it with "
				"GLIBC_TUNABLES=" EA_LOADER_TUNABLE "=1";
}

static void explain_base(
	struct object *object, const struct evidence *evidence, enum shim_state shim)
{
	static const char *const remedies[] = {
		[SHIM_ABSENT] = "start the program with 'execalign run'",
		[SHIM_PRELOADED] = "the shim is not its auditor, EXECALIGN_LOG says why",
		[SHIM_AUDITING] = "the auditor could not place it, EXECALIGN_LOG says why",
	};
	char placement[160], off[FORMAT_BYTES_MAX];
	const char *patched = explain_patched(evidence, shim);

	if (evidence->musl && patched) {
		set_reason(object, REASON_BASE, "base is %s off: %s",
			format_bytes(object->distance_bytes, off), patched);
		return;
	}
	if (evidence->musl) {
		set_reason(object, REASON_BASE,
			"base is %s off: musl's loader placed it, which has no audit interface for "
			"the shim; it takes a patched loader",
			format_bytes(object->distance_bytes, off));
		return;
	}
	describe_placement(evidence, object, placement, sizeof(placement));
	set_reason(object, REASON_BASE, "base is %s off: %s; %s",
		format_bytes(object->distance_bytes, off), placement,
		patched ? patched : remedies[shim]);
}

static void explain_misplaced(
	struct object *object, const struct evidence *evidence, enum shim_state shim)
{
	const struct text *text = misplaced_text(object);
	char off[FORMAT_BYTES_MAX];

	format_bytes(object->distance_bytes, off);
	if (object->role == ROLE_EXECUTABLE)
		explain_executable(object, &evidence->elf);
	else if (object->role == ROLE_INTERPRETER)
		set_reason(object, REASON_INTERPRETER,
			"the loader itself, %s off: the kernel placed it by its p_align", off);
	else if (shim != SHIM_ABSENT && find_policy(object, evidence))
		return;
	else if (layout_distance_bytes(&evidence->elf, text, object->block_bytes) ==
		 object->distance_bytes)
		set_reason(object, REASON_FILE_OFFSET,
			"file offset: text's address and offset differ by %s in the file "
			"(linker layout), and the base is aligned as if they did not",
			off);
	else
		explain_base(object, evidence, shim);
}

/* Sums over the texts of what keeps whole blocks from being mapped large. */
struct shortage {
	uint64_t split_bytes;
	uint64_t replaced_bytes;
	uint64_t small_folio_bytes;
	unsigned int small_order_max;
	bool advised;
	bool refused;
};

static struct shortage sum_shortage(const struct object *object)
{
	struct shortage sum = {.advised = true};
	size_t i;

	for (i = 0; i < object->text_count; i++) {
		const struct text *text = &object->texts[i];

		if (!text->whole_bytes)
			continue;
		sum.split_bytes += text->split_bytes;
		sum.replaced_bytes += text->replaced_bytes;
		sum.small_folio_bytes += text->small_folio_bytes;
		if (text->small_order_max > sum.small_order_max)
			sum.small_order_max = text->small_order_max;
		sum.advised = sum.advised && text->advised;
		sum.refused = sum.refused || text->refused;
	}
	return sum;
}

static void explain_small_folios(
	struct object *object, const struct shortage *shortage, const struct evidence *evidence)
{
	char bytes[FORMAT_BYTES_MAX], folio[FORMAT_BYTES_MAX];

	set_reason(object, REASON_SMALL_FOLIOS,
		"pages cached in small folios: %s in folios of order %u (%s) and less; %s",
		format_bytes(shortage->small_folio_bytes, bytes), shortage->small_order_max,
		format_bytes(
			evidence->machine->geometry.page_bytes << shortage->small_order_max, folio),
		shortage->advised ? "they were read before the advice: evict the file, start again"
				  : "it was read without advice");
}

/* Folios of a block cannot be had here, whatever is done. */
static bool explain_impossible(struct object *object, const struct evidence *evidence)
{
	const struct machine *machine = evidence->machine;
	const struct filesystem *filesystem = &evidence->filesystem;
	char block[FORMAT_BYTES_MAX], folio[FORMAT_BYTES_MAX];
	uint64_t folio_bytes = filesystem->folio_bytes_max;
	enum ea_advice advice;

	if (!filesystem->known)
		return false;
	format_bytes(object->block_bytes, block);
	if (folio_bytes != EA_FS_FOLIO_UNKNOWN && folio_bytes < object->block_bytes) {
		if (folio_bytes)
			set_reason(object, REASON_FILESYSTEM,
				"filesystem: folios of %s are of at most %s",
				filesystem_cache_type(filesystem),
				format_bytes(folio_bytes, folio));
		else
			set_reason(object, REASON_FILESYSTEM,
				"filesystem: %s has no large folios in Linux %u.%u",
				filesystem_cache_type(filesystem), machine->release.major,
				machine->release.minor);
		return true;
	}
	advice = ea_advice_for_block(&machine->geometry, object->block_bytes, &machine->release,
		filesystem->folio_magic);
	if (advice != EA_ADVICE_OLD_KERNEL && advice != EA_ADVICE_READS_TOO_MUCH)
		return false;
	set_reason(object, REASON_OLD_KERNEL, "kernel: Linux %u.%u does not read folios of %s here",
		machine->release.major, machine->release.minor, block);
	return true;
}

static void explain_not_block_mapped(struct object *object, const struct evidence *evidence)
{
	struct shortage shortage = sum_shortage(object);
	char bytes[FORMAT_BYTES_MAX], block[FORMAT_BYTES_MAX];

	format_bytes(object->block_bytes, block);
	if (shortage.replaced_bytes)
		set_reason(object, REASON_REPLACED,
			"%s of its whole blocks are not mapped from "
			"the file, or not executable any more",
			format_bytes(shortage.replaced_bytes, bytes));
	else if (shortage.split_bytes)
		set_reason(object, REASON_VMA_END,
			"VMA ends inside: %s are in blocks of more than one mapping",
			format_bytes(shortage.split_bytes, bytes));
	else if (evidence->process->thp_disabled || shortage.refused)
		set_reason(object, REASON_THP_DISABLED, "huge pages are disabled for this %s (%s)",
			shortage.refused ? "mapping" : "process",
			shortage.refused ? "MADV_NOHUGEPAGE" : "PR_SET_THP_DISABLE");
	else if (explain_impossible(object, evidence))
		return;
	else if (shortage.small_folio_bytes)
		explain_small_folios(object, &shortage, evidence);
	else if (object->folios_known)
		set_reason(object, REASON_SMALL_ENTRIES,
			"folios are large enough, but were mapped page by page; start the program "
			"again");
	else if (!shortage.advised)
		set_reason(object, REASON_NOT_ADVISED,
			"not advised (MADV_HUGEPAGE), so read in small folios; the folio sizes "
			"need CAP_SYS_ADMIN");
	else
		set_reason(object, REASON_UNKNOWN,
			"advised, but not mapped by %s; the folio sizes need CAP_SYS_ADMIN", block);
}

static void explain_unknown(struct object *object)
{
	if (object->touched_bytes == UNKNOWN_BYTES)
		set_reason(object, REASON_UNKNOWN,
			"cannot tell what is touched: "
			"/proc/PID/pagemap is not readable");
	else
		set_reason(object, REASON_UNKNOWN,
			"cannot tell whether it is mapped large: needs CAP_SYS_ADMIN, for "
			"/proc/PID/pagemap and /proc/kpageflags");
}

static void explain_ineligible(struct object *object, const struct elf_file *elf)
{
	if (elf->kind == ELF_32BIT)
		set_reason(object, REASON_WRONG_CLASS, "a 32-bit file: no blocks");
	else
		set_reason(object, REASON_TOO_SMALL, "too small: its text holds no whole block");
}

void reason_find(struct object *object, const struct evidence *evidence, enum shim_state shim)
{
	object->reason = REASON_NONE;
	object->reason_text[0] = '\0';
	if (!object_eligible(object))
		explain_ineligible(object, &evidence->elf);
	else if (!object_congruent(object))
		explain_misplaced(object, evidence, shim);
	else if (!object->touched_bytes)
		set_reason(object, REASON_NOT_TOUCHED, "not touched yet");
	else if (object_verdict(object) == VERDICT_UNKNOWN)
		explain_unknown(object);
	else if (object_verdict(object) == VERDICT_NO)
		explain_not_block_mapped(object, evidence);
}
