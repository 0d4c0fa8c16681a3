/* SPDX-License-Identifier: MIT */
/*
 * prime_json.c - what came of priming, as JSON; docs/prime-json.md describes it
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "format.h"
#include "object.h"
#include "prime.h"

#define SCHEMA "execalign-prime-1"

static void add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

static void add_count(struct json_object *to, const char *key, uint64_t count)
{
	add(to, key, json_object_new_int64((int64_t)count));
}

static struct json_object *state_json(const struct cache_state *state, uint64_t page_bytes)
{
	struct json_object *json = json_object_new_object();

	add(json, "cached_bytes", json_bytes(state->cached_bytes));
	add(json, "in_block_folios_bytes", json_bytes(state->in_blocks_bytes));
	add(json, "folios",
		json_folios(state->folios_known, state->folio_bytes, FOLIO_ORDERS, page_bytes));
	return json;
}

static struct json_object *mappers_json(const struct primed_file *file)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < file->mapped.count; i++) {
		struct json_object *entry = json_object_new_object();

		add(entry, "pid", json_object_new_int(file->mapped.mappers[i].pid));
		add(entry, "comm", json_name(file->mapped.mappers[i].comm));
		json_object_array_add(array, entry);
	}
	return array;
}

static struct json_object *reason_json(const struct prime *prime, const struct primed_file *file)
{
	struct json_object *json;
	char *text;

	if (file->reason == PRIME_FINE)
		return NULL;
	json = json_object_new_object();
	text = prime_reason_text(prime, file);
	add(json, "code", json_object_new_string(prime_reason_name(file->reason)));
	add(json, "text", json_name(text));
	free(text);
	return json;
}

static const char *answer_name(enum prime_answer answer)
{
	switch (answer) {
	case PRIME_YES:
		return "yes";
	case PRIME_NO:
		return "no";
	case PRIME_UNKNOWN:
		break;
	}
	return "unknown";
}

static struct json_object *file_json(const struct prime *prime, const struct primed_file *file)
{
	uint64_t page_bytes = prime->machine->geometry.page_bytes;
	uint64_t block_bytes = file->cached.block_bytes;
	struct json_object *json = json_object_new_object();

	add(json, "path", json_name(file->path));
	add(json, "text_bytes", json_bytes(file->text_bytes));
	add(json, "block_bytes", json_bytes(block_bytes ? block_bytes : UNKNOWN_BYTES));
	add(json, "whole_blocks_bytes", json_bytes(file->whole_bytes));
	add(json, "need_bytes", json_bytes(file->need_bytes));
	add(json, "read_bytes", json_bytes(prime->dry_run ? UNKNOWN_BYTES : file->read_bytes));
	add(json, "before", state_json(&file->before, page_bytes));
	add(json, "after", prime->dry_run ? NULL : state_json(&file->after, page_bytes));
	add(json, "primed", json_object_new_string(answer_name(prime_answer_of(prime, file))));
	add(json, "reason", reason_json(prime, file));
	add(json, "mapped_by", mappers_json(file));
	return json;
}

static struct json_object *passed_json(const struct prime_passed *passed)
{
	struct json_object *json = json_object_new_object();

	add_count(json, "too_small", passed->too_small);
	add_count(json, "not_elf", passed->not_elf);
	add_count(json, "foreign", passed->foreign);
	add_count(json, "broken", passed->broken);
	add_count(json, "unreadable", passed->unreadable);
	return json;
}

static struct json_object *totals_json(const struct prime *prime)
{
	uint64_t whole_bytes = 0, before_bytes = 0, after_bytes = 0, read_bytes = 0;
	struct json_object *json = json_object_new_object();
	size_t i;

	for (i = 0; i < prime->count; i++) {
		const struct primed_file *file = &prime->files[i];

		whole_bytes += file->whole_bytes;
		add_known(&before_bytes, file->before.in_blocks_bytes);
		add_known(&after_bytes, file->after.in_blocks_bytes);
		add_known(&read_bytes, file->read_bytes);
	}
	add_count(json, "files", prime->count);
	add(json, "whole_blocks_bytes", json_bytes(whole_bytes));
	add(json, "need_bytes", json_bytes(prime->need_bytes));
	add(json, "read_bytes", json_bytes(prime->dry_run ? UNKNOWN_BYTES : read_bytes));
	add(json, "before_in_block_folios_bytes", json_bytes(before_bytes));
	add(json, "after_in_block_folios_bytes",
		json_bytes(prime->dry_run ? UNKNOWN_BYTES : after_bytes));
	return json;
}

int prime_print_json(FILE *stream, const struct prime *prime)
{
	struct json_object *json = json_object_new_object();
	struct json_object *files = json_object_new_array();
	size_t i;

	add(json, "schema", json_object_new_string(SCHEMA));
	add(json, "machine", machine_json(prime->machine));
	add(json, "dry_run", json_object_new_boolean(prime->dry_run));
	add(json, "available_bytes", json_bytes(prime->available_bytes));
	for (i = 0; i < prime->count; i++)
		json_object_array_add(files, file_json(prime, &prime->files[i]));
	add(json, "files", files);
	add(json, "passed_over", passed_json(&prime->passed));
	add_count(json, "unseen_processes", prime->unseen_processes);
	add(json, "totals", totals_json(prime));
	add(json, "primed", json_object_new_string(answer_name(prime_answer(prime))));
	return json_print(stream, json);
}
