/* SPDX-License-Identifier: MIT */
/*
 * bench_exec_json.c - what execalign bench exec measured, as JSON; docs/bench-exec-json.md describes it
 */
#include <json-c/json.h>
#include <string.h>

#include "bench_exec.h"
#include "format.h"
#include "statistics_json.h"

#define SCHEMA "execalign-bench-exec-1"

static const char *const metric_names[METRIC_COUNT] = {
	[METRIC_COLD] = "cold_ms",
	[METRIC_RANDOM] = "random_ns",
};

static void add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

static struct json_object *variant_json(
	const struct bench_exec *bench, const struct measured *measured)
{
	struct json_object *json = json_object_new_object();
	bool measured_at_all = !measured->error;
	unsigned int metric;

	add(json, "name", json_object_new_string(way_name(measured->way)));
	add(json, "error",
		measured_at_all ? NULL : json_object_new_string(strerror(-measured->error)));
	add(json, "mapped_large_bytes",
		json_bytes(measured_at_all ? measured->large_bytes : UNKNOWN_BYTES));
	add(json, "as_claimed",
		measured_at_all && measured->large_bytes != UNKNOWN_BYTES
			? json_object_new_boolean(bench_exec_is_as_claimed(bench, measured))
			: NULL);
	add(json, "left_cached_bytes",
		json_bytes(measured_at_all ? measured->left_bytes : UNKNOWN_BYTES));
	for (metric = 0; metric < METRIC_COUNT; metric++)
		add(json, metric_names[metric],
			bench_exec_is_known(bench, measured, (enum metric)metric)
				? spread_json(measured->values[metric], bench->rounds)
				: NULL);
	return json;
}

/* Adds one comparison, if both were measured. */
static void compare(struct json_object *to, const struct bench_exec *bench, enum way way,
	enum way against, enum metric metric)
{
	const struct measured *measured = &bench->ways[way], *base = &bench->ways[against];
	struct json_object *json;
	struct ratio ratio;

	if (!bench_exec_is_known(bench, measured, metric) ||
		!bench_exec_is_known(bench, base, metric) ||
		ratio_of(measured->values[metric], base->values[metric], bench->rounds, &ratio))
		return;
	json = json_object_new_object();
	add(json, "variant", json_object_new_string(way_name(way)));
	add(json, "against", json_object_new_string(way_name(against)));
	add(json, "metric", json_object_new_string(metric_names[metric]));
	ratio_json(json, &ratio);
	json_object_array_add(to, json);
}

int bench_exec_print_json(FILE *stream, const struct bench_exec *bench)
{
	struct json_object *json = json_object_new_object();
	struct json_object *variants = json_object_new_array();
	struct json_object *comparisons = json_object_new_array();
	unsigned int way, metric;

	for (way = 0; way < WAY_COUNT; way++)
		json_object_array_add(variants, variant_json(bench, &bench->ways[way]));
	for (metric = 0; metric < METRIC_COUNT; metric++) {
		for (way = WAY_MISPLACED + 1; way < WAY_COUNT; way++)
			compare(comparisons, bench, (enum way)way, WAY_MISPLACED,
				(enum metric)metric);
		compare(comparisons, bench, WAY_ADVISED, WAY_ANONYMOUS, (enum metric)metric);
	}
	add(json, "schema", json_object_new_string(SCHEMA));
	add(json, "machine", machine_json(&bench->machine));
	add(json, "filesystem", json_name(*bench->fs_type ? bench->fs_type : NULL));
	add(json, "size_bytes", json_bytes(bench->bytes));
	add(json, "block_bytes", json_bytes(bench->block_bytes));
	add(json, "rounds", json_object_new_int64((int64_t)bench->rounds));
	add(json, "calls", json_object_new_int64((int64_t)bench->calls));
	add(json, "variants", variants);
	add(json, "comparisons", comparisons);
	return json_print(stream, json);
}
