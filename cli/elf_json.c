/* SPDX-License-Identifier: MIT */
/*
 * elf_json.c - execalign elf as lines of JSON; docs/elf-json.md describes them
 */
#include <inttypes.h>
#include <json-c/json.h>

#include "elf_file.h"
#include "elf_report.h"
#include "format.h"

#define SCHEMA "execalign-elf-1"

static void add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

static void add_bytes(struct json_object *to, const char *key, uint64_t bytes)
{
	add(to, key, json_bytes(bytes));
}

/* Where 0 is "there is none". */
static void add_bytes_or_null(struct json_object *to, const char *key, uint64_t bytes)
{
	add(to, key, bytes ? json_bytes(bytes) : NULL);
}

static void add_text(struct json_object *to, const char *key, const char *text)
{
	add(to, key, json_name(text && *text ? text : NULL));
}

static void add_bool(struct json_object *to, const char *key, bool value)
{
	add(to, key, json_object_new_boolean(value));
}

/* "0x1f000": JSON numbers are not exact beyond 2^53. */
static void add_address(struct json_object *to, const char *key, uint64_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	add_text(to, key, text);
}

static const char *request_name(enum request request)
{
	switch (request) {
	case REQUEST_RAISE:
		return "set-align";
	case REQUEST_RESTORE:
		return "restore";
	case REQUEST_NONE:
		break;
	}
	return "judge";
}

void elf_json_begin(FILE *stream, const struct elf_request *request)
{
	struct json_object *json = json_object_new_object();

	add_text(json, "type", "request");
	add_text(json, "schema", SCHEMA);
	add_text(json, "request", request_name(request->request));
	add_bytes_or_null(json, "block_bytes", request->block_bytes);
	add_bool(json, "dry_run", request->dry_run);
	json_print_line(stream, json);
}

static struct json_object *granules_json(const struct layout *layout)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < layout->granule_count; i++) {
		const struct granule *granule = &layout->granules[i];
		struct json_object *json = json_object_new_object();
		bool eligible = granule->block_bytes;

		add_bytes(json, "page_bytes", granule->page_bytes);
		add_bool(json, "mappable", granule->mappable);
		add_bytes_or_null(json, "block_bytes", granule->block_bytes);
		add_bytes(json, "whole_blocks_bytes", granule->whole_bytes);
		add(json, "congruent",
			eligible ? json_object_new_boolean(granule->congruent) : NULL);
		json_object_array_add(array, json);
	}
	return array;
}

static struct json_object *text_json(const struct layout *layout)
{
	struct json_object *json;

	if (!layout->text_bytes)
		return NULL;
	json = json_object_new_object();
	add_bytes(json, "file_offset_bytes", layout->offset);
	add_address(json, "address", layout->vaddr);
	add_bytes(json, "text_bytes", layout->segment_bytes);
	add_bytes(json, "align_bytes", layout->align.bytes);
	add_bytes_or_null(json, "original_align_bytes", layout->original_bytes);
	return json;
}

static struct json_object *fault_json(const struct layout *layout)
{
	struct json_object *json;

	if (!layout->fault)
		return NULL;
	json = json_object_new_object();
	add_text(json, "code", layout->fault == EA_FAULT_BASE ? "base" : "offset");
	add_bytes(json, "distance_bytes", layout->distance_bytes);
	add_text(json, "linker", layout->linker);
	return json;
}

static struct json_object *change_json(const struct elf_item *item)
{
	const struct change *change = &item->change;
	struct json_object *json;

	if (change->outcome == OUTCOME_NONE)
		return NULL;
	json = json_object_new_object();
	add_text(json, "outcome", outcome_name(change->outcome));
	add_bytes_or_null(json, "from_align_bytes", change->from_bytes);
	add_bytes_or_null(json, "to_align_bytes", change->to_bytes);
	add_text(json, "refusal", refusal_name(change->refusal));
	add_text(json, "reason", change->text);
	add_text(json, "package", item->package);
	return json;
}

static void add_layout(struct json_object *json, const struct elf_item *item)
{
	const struct layout *layout = &item->layout;
	char remedy[CHANGE_TEXT_MAX];

	layout_remedy(layout, remedy, sizeof(remedy));
	add_text(json, "machine", elf_machine_name(layout->machine));
	add_text(json, "placer", layout_placer_name(layout->placer));
	add_text(json, "libc", layout_libc_name(layout->libc));
	add_bool(json, "eligible", layout_eligible(layout));
	add_text(json, "verdict", layout_verdict_name(layout->verdict));
	add_bytes_or_null(json, "block_bytes", layout->block_bytes);
	add_bytes(json, "align_bytes", layout->align_bytes);
	add_bytes(json, "text_bytes", layout->text_bytes);
	add(json, "text", text_json(layout));
	add(json, "pages", granules_json(layout));
	add(json, "fault", fault_json(layout));
	add_text(json, "remedy", remedy);
	add(json, "change", change_json(item));
}

void elf_json_file(FILE *stream, const struct elf_item *item)
{
	struct json_object *json = json_object_new_object();

	add_text(json, "type", "file");
	add_text(json, "path", item->path);
	add_text(json, "kind", layout_kind_name(item->layout.kind));
	if (item->layout.kind == LAYOUT_JUDGED)
		add_layout(json, item);
	json_print_line(stream, json);
}

static void add_count(struct json_object *to, const char *key, uint64_t count)
{
	add(to, key, json_object_new_int64((int64_t)count));
}

static struct json_object *kinds_json(const struct elf_sums *sums)
{
	struct json_object *json = json_object_new_object();
	size_t i;

	for (i = 0; i < LAYOUT_KIND_COUNT; i++)
		add_count(json, layout_kind_name(i), sums->kinds[i]);
	return json;
}

static struct json_object *verdicts_json(const struct elf_sums *sums)
{
	struct json_object *json = json_object_new_object();
	size_t i;

	for (i = 0; i < LAYOUT_VERDICT_COUNT; i++)
		add_count(json, layout_verdict_name(i), sums->verdicts[i]);
	return json;
}

static struct json_object *outcomes_json(const struct elf_sums *sums)
{
	struct json_object *json = json_object_new_object();
	size_t i;

	for (i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++)
		add_count(json, outcome_name(i), sums->outcomes[i]);
	return json;
}

static struct json_object *refusals_json(const struct elf_sums *sums)
{
	struct json_object *json = json_object_new_object();
	size_t i;

	for (i = REFUSAL_NONE + 1; i < REFUSAL_COUNT; i++)
		add_count(json, refusal_name(i), sums->refusals[i]);
	return json;
}

void elf_json_end(FILE *stream, const struct elf_sums *sums)
{
	struct json_object *json = json_object_new_object();

	add_text(json, "type", "summary");
	add_count(json, "files", sums->files);
	add_count(json, "repeated", sums->repeated);
	add_count(json, "unreadable", sums->unreadable);
	add_count(json, "eligible", sums->eligible);
	add_count(json, "lacking", sums->lacking);
	add(json, "kinds", kinds_json(sums));
	add(json, "verdicts", verdicts_json(sums));
	add(json, "outcomes", outcomes_json(sums));
	add(json, "refusals", refusals_json(sums));
	add_count(json, "packaged", sums->packaged);
	json_print_line(stream, json);
}
