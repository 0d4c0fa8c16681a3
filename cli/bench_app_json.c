/* SPDX-License-Identifier: MIT */
/*
 * bench_app_json.c - what execalign bench app measured, as JSON; docs/bench-app-json.md describes it
 */
#include <json-c/json.h>
#include <string.h>

#include "bench_app.h"
#include "format.h"
#include "statistics_json.h"

#define SCHEMA "execalign-bench-app-1"

static void add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

static const char *shim_word(enum shim_state shim)
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

static struct json_object *text_json(const struct totals *totals)
{
	struct json_object *json = json_object_new_object();

	add(json, "eligible", json_object_new_int64((int64_t)totals->eligible));
	add(json, "congruent", json_object_new_int64((int64_t)totals->congruent));
	add(json, "whole_bytes", json_bytes(totals->whole_bytes));
	add(json, "touched_bytes", json_bytes(totals->touched_bytes));
	add(json, "block_mapped_bytes", json_bytes(totals->block_mapped_bytes));
	return json;
}

static struct json_object *metric_json(
	const struct bench_app *bench, enum app_way way, size_t metric)
{
	const double *values = bench->sides[way].values[metric];
	struct json_object *json, *array;
	uint64_t run;

	if (!bench_app_is_known(bench, way, metric))
		return NULL;
	json = spread_json(values, bench->runs);
	if (!json)
		return NULL;
	array = json_object_new_array();
	for (run = 0; run < bench->runs; run++)
		json_object_array_add(array, decimal_json(values[run]));
	add(json, "values", array);
	return json;
}

static struct json_object *way_json(const struct bench_app *bench, enum app_way way)
{
	const struct app_side *side = &bench->sides[way];
	const struct memory *memory = &side->snapshot.memory;
	struct json_object *json = json_object_new_object();
	struct json_object *metrics = json_object_new_object();
	size_t metric;

	for (metric = 0; metric < bench_app_metric_count(bench); metric++)
		add(metrics, bench_app_key(bench, metric), metric_json(bench, way, metric));
	add(json, "name", json_object_new_string(app_way_name(way)));
	add(json, "shim",
		side->seen ? json_object_new_string(shim_word(side->snapshot.shim)) : NULL);
	add(json, "text", side->seen ? text_json(&side->snapshot.totals) : NULL);
	add(json, "pss_bytes", json_bytes(side->seen ? memory->pss_bytes : UNKNOWN_BYTES));
	add(json, "private_dirty_bytes",
		json_bytes(side->seen ? memory->private_dirty_bytes : UNKNOWN_BYTES));
	add(json, "metrics", metrics);
	return json;
}

static struct json_object *counters_json(const struct bench_app *bench)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < bench->counters.count; i++) {
		const struct counter *counter = &bench->counters.list[i];
		struct json_object *json = json_object_new_object();

		add(json, "name", json_object_new_string(counter->label));
		add(json, "event", json_name(counter->event));
		add(json, "trouble", json_name(counter->trouble[0] ? counter->trouble : NULL));
		json_object_array_add(array, json);
	}
	return array;
}

static struct json_object *comparisons_json(const struct bench_app *bench)
{
	struct json_object *array = json_object_new_array();
	size_t metric;

	for (metric = 0; metric < bench_app_metric_count(bench); metric++) {
		struct json_object *json;
		struct ratio ratio;

		if (bench_app_ratio(bench, metric, &ratio))
			continue;
		json = json_object_new_object();
		add(json, "metric", json_object_new_string(bench_app_key(bench, metric)));
		ratio_json(json, &ratio);
		json_object_array_add(array, json);
	}
	return array;
}

int bench_app_print_json(FILE *stream, const struct bench_app *bench)
{
	struct json_object *json = json_object_new_object();
	struct json_object *command = json_object_new_array();
	struct json_object *ways = json_object_new_array();
	char *const *word;
	unsigned int way;

	for (word = bench->command; *word; word++)
		json_object_array_add(command, json_name(*word));
	for (way = 0; way < APP_WAY_COUNT; way++)
		json_object_array_add(ways, way_json(bench, (enum app_way)way));
	add(json, "schema", json_object_new_string(SCHEMA));
	add(json, "machine", machine_json(&bench->machine));
	add(json, "command", command);
	add(json, "before", json_name(bench->before));
	add(json, "runs", json_object_new_int64((int64_t)bench->runs));
	add(json, "counters", counters_json(bench));
	add(json, "ways", ways);
	add(json, "comparisons", comparisons_json(bench));
	return json_print(stream, json);
}
