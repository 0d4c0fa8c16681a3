/* SPDX-License-Identifier: MIT */
/*
 * report_json.c - the report as JSON; docs/report-json.md describes it
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/wait.h>

#include "format.h"
#include "report.h"

#define SCHEMA "execalign-report-1"

static void add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

static void add_bytes(struct json_object *to, const char *key, uint64_t bytes)
{
	add(to, key, json_bytes(bytes));
}

static void add_count(struct json_object *to, const char *key, uint64_t count)
{
	add(to, key, json_object_new_int64((int64_t)count));
}

static void add_text(struct json_object *to, const char *key, const char *text)
{
	add(to, key, text ? json_object_new_string(text) : NULL);
}

static void add_bool(struct json_object *to, const char *key, bool value)
{
	add(to, key, json_object_new_boolean(value));
}

static struct json_object *command_json(const struct report *report)
{
	struct json_object *json, *argv;
	int status = report->command_status;
	bool ended = report->command_ended;
	size_t i;

	if (!report->command)
		return NULL;
	json = json_object_new_object();
	argv = json_object_new_array();
	for (i = 0; report->command[i]; i++)
		json_object_array_add(argv, json_name(report->command[i]));
	add(json, "argv", argv);
	add_bool(json, "ended", ended);
	add(json, "exit_status",
		ended && WIFEXITED(status) ? json_object_new_int(WEXITSTATUS(status)) : NULL);
	add(json, "signal",
		ended && WIFSIGNALED(status) ? json_object_new_int(WTERMSIG(status)) : NULL);
	return json;
}

static struct json_object *text_json(const struct text *text)
{
	struct json_object *json = json_object_new_object();
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, text->start);
	add_text(json, "address", address);
	add_bytes(json, "file_offset_bytes", text->offset);
	add_bytes(json, "text_bytes", text->bytes);
	add_count(json, "vmas", text->vma_count);
	add_bytes(json, "distance_bytes", text->distance_bytes);
	add_bytes(json, "whole_blocks_bytes", text->whole_bytes);
	add_bytes(json, "touched_bytes", text->touched_bytes);
	add_bytes(json, "block_mapped_bytes", text->block_mapped_bytes);
	return json;
}

static struct json_object *reason_json(const struct object *object)
{
	struct json_object *json;

	if (object->reason == REASON_NONE)
		return NULL;
	json = json_object_new_object();
	add_text(json, "code", reason_name(object->reason));
	add_text(json, "text", object->reason_text);
	return json;
}

static const char *role_name(enum role role)
{
	switch (role) {
	case ROLE_EXECUTABLE:
		return "executable";
	case ROLE_INTERPRETER:
		return "loader";
	case ROLE_LIBRARY:
		break;
	}
	return "library";
}

static void add_file(struct json_object *json, const struct object *object)
{
	char device[32];

	snprintf(device, sizeof(device), "%02x:%02x", object->dev_major, object->dev_minor);
	add(json, "path", json_name(object->path));
	add_bool(json, "deleted", object->deleted);
	add_text(json, "device", device);
	add_count(json, "inode", object->inode);
}

static struct json_object *entries_json(const struct entry_counts *counts)
{
	struct json_object *array = json_object_new_array();
	unsigned int order;

	for (order = 0; order < ENTRY_ORDERS; order++) {
		struct json_object *entry;

		if (!counts->of_order[order])
			continue;
		entry = json_object_new_object();
		add_bytes(entry, "entry_bytes", order ? (uint64_t)1 << order : UNKNOWN_BYTES);
		add_count(entry, "samples", counts->of_order[order]);
		json_object_array_add(array, entry);
	}
	return array;
}

static bool samples_known(const struct report *report)
{
	return report->samples && !samples_trouble(report->samples);
}

static struct json_object *samples_json(const struct report *report)
{
	struct json_object *json;
	bool known = samples_known(report);

	if (!report->samples)
		return NULL;
	json = json_object_new_object();
	add_count(json, "interval_ns", SAMPLE_INTERVAL_NS);
	add(json, "count", known ? json_object_new_int64((int64_t)report->sampled.total) : NULL);
	add(json, "lost", known ? json_object_new_int64((int64_t)report->samples->lost) : NULL);
	add(json, "elsewhere",
		known ? json_object_new_int64((int64_t)report->sampled_elsewhere) : NULL);
	add(json, "entries", known ? entries_json(&report->sampled) : NULL);
	add_text(json, "reason", samples_trouble(report->samples));
	return json;
}

static struct json_object *object_samples_json(
	const struct report *report, const struct object *object)
{
	struct json_object *json;

	if (!samples_known(report))
		return NULL;
	json = json_object_new_object();
	add_count(json, "count", object->samples.total);
	add(json, "entries", entries_json(&object->samples));
	return json;
}

static struct json_object *object_json(const struct report *report, const struct object *object)
{
	struct json_object *json = json_object_new_object();
	struct json_object *texts = json_object_new_array();
	uint64_t page_bytes = report->machine->geometry.page_bytes;
	bool eligible = object_eligible(object);
	size_t i;

	add_file(json, object);
	add_text(json, "role", role_name(object->role));
	add_bool(json, "eligible", eligible);
	add_bytes(json, "block_bytes", eligible ? object->block_bytes : UNKNOWN_BYTES);
	add_bytes(json, "text_bytes", object->text_bytes);
	add(json, "congruent", eligible ? json_object_new_boolean(object_congruent(object)) : NULL);
	add_bytes(json, "distance_bytes", eligible ? object->distance_bytes : UNKNOWN_BYTES);
	add_bytes(json, "whole_blocks_bytes", object->whole_bytes);
	add_bytes(json, "touched_bytes", object->touched_bytes);
	add_bytes(json, "block_mapped_bytes", object->block_mapped_bytes);
	add_bytes(json, "present_bytes", object->present.bytes);
	add(json, "folios",
		json_folios(object->folios_known, object->present.folio_bytes, FOLIO_ORDERS,
			page_bytes));
	add(json, "samples", object_samples_json(report, object));
	add(json, "reason", reason_json(object));
	for (i = 0; i < object->text_count; i++)
		json_object_array_add(texts, text_json(&object->texts[i]));
	add(json, "texts", texts);
	return json;
}

static struct json_object *totals_json(const struct totals *totals, uint64_t page_bytes)
{
	struct json_object *json = json_object_new_object();

	add_count(json, "objects", totals->objects);
	add_count(json, "eligible_objects", totals->eligible);
	add_count(json, "congruent_objects", totals->congruent);
	add_bytes(json, "text_bytes", totals->text_bytes);
	add_bytes(json, "eligible_text_bytes", totals->eligible_text_bytes);
	add_bytes(json, "congruent_text_bytes", totals->congruent_text_bytes);
	add_bytes(json, "whole_blocks_bytes", totals->whole_bytes);
	add_bytes(json, "touched_bytes", totals->touched_bytes);
	add_bytes(json, "block_mapped_bytes", totals->block_mapped_bytes);
	add(json, "folios",
		json_folios(totals->folios_known, totals->folio_bytes, FOLIO_ORDERS, page_bytes));
	return json;
}

static const char *shim_name(enum shim_state shim)
{
	switch (shim) {
	case SHIM_AUDITING:
		return "auditing";
	case SHIM_PRELOADED:
		return "preloaded";
	case SHIM_ABSENT:
		break;
	}
	return "absent";
}

static struct json_object *process_json(
	const struct report *report, const struct snapshot *snapshot)
{
	struct json_object *json = json_object_new_object();
	struct json_object *objects = json_object_new_array();
	size_t i;

	add_count(json, "pid", (uint64_t)snapshot->pid);
	add(json, "comm", json_name(snapshot->comm));
	add_text(json, "shim", shim_name(snapshot->shim));
	for (i = 0; i < snapshot->object_count; i++)
		json_object_array_add(objects, object_json(report, &snapshot->objects[i]));
	add(json, "objects", objects);
	add(json, "totals", totals_json(&snapshot->totals, report->machine->geometry.page_bytes));
	return json;
}

static struct json_object *aggregate_json(const struct aggregate *aggregate)
{
	struct json_object *json = json_object_new_object();
	const struct object *object = aggregate->example;
	bool eligible = object_eligible(object);

	add_file(json, object);
	add_count(json, "processes", aggregate->processes);
	add_count(json, "congruent_processes", aggregate->congruent);
	add_bytes(json, "block_bytes", eligible ? object->block_bytes : UNKNOWN_BYTES);
	add_bytes(json, "whole_blocks_bytes", aggregate->whole_bytes);
	add_bytes(json, "touched_bytes", aggregate->touched_bytes);
	add_bytes(json, "block_mapped_bytes", aggregate->block_mapped_bytes);
	add(json, "reason", reason_json(object));
	return json;
}

static struct json_object *skipped_json(const struct skipped *skipped)
{
	struct json_object *json = json_object_new_object();

	add_count(json, "kernel_threads", skipped->kernel_threads);
	add_count(json, "denied", skipped->denied);
	add_count(json, "ended", skipped->ended);
	add_count(json, "failed", skipped->failed);
	return json;
}

static const char *verdict_name(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_YES:
		return "yes";
	case VERDICT_NO:
		return "no";
	case VERDICT_UNKNOWN:
		break;
	}
	return "unknown";
}

static enum verdict report_verdict(const struct report *report)
{
	if (report->totals.verdict == VERDICT_YES &&
		(report->skipped.denied || report->skipped.failed))
		return VERDICT_UNKNOWN;
	return report->totals.verdict;
}

int report_print_json(FILE *stream, const struct report *report)
{
	struct json_object *json = json_object_new_object();
	struct json_object *processes = json_object_new_array();
	uint64_t page_bytes = report->machine->geometry.page_bytes;
	size_t i;

	add_text(json, "schema", SCHEMA);
	add(json, "machine", machine_json(report->machine));
	add(json, "command", command_json(report));
	add(json, "samples", samples_json(report));
	for (i = 0; i < report->count; i++)
		json_object_array_add(processes, process_json(report, &report->snapshots[i]));
	add(json, "processes", processes);
	if (report->all) {
		struct json_object *objects = json_object_new_array();

		for (i = 0; i < report->aggregate_count; i++)
			json_object_array_add(objects, aggregate_json(&report->aggregates[i]));
		add(json, "objects", objects);
		add(json, "skipped", skipped_json(&report->skipped));
	}
	add(json, "totals", totals_json(&report->totals, page_bytes));
	add_text(json, "mapped_large", verdict_name(report_verdict(report)));
	return json_print(stream, json);
}
