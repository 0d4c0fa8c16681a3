/* SPDX-License-Identifier: MIT */
/*
 * statistics_json.h - what repeated measurements say, as JSON, the same in every benchmark
 */
#ifndef CLI_STATISTICS_JSON_H
#define CLI_STATISTICS_JSON_H

#include <json-c/json.h>
#include <stddef.h>

#include "statistics.h"

/*
 * spread_json - {"median", "p10", "p90"}
 * @values: @count of them, at least one
 *
 * Returns a new reference, or NULL, which is JSON's null, without memory.
 */
struct json_object *spread_json(const double *values, size_t count);

/* ratio_json - add "ratio", "low", "high" and "inside_noise" to an object */
void ratio_json(struct json_object *to, const struct ratio *ratio);

/* decimal_json - a number with as many digits as a clock is good for; a new reference */
struct json_object *decimal_json(double value);

#endif
