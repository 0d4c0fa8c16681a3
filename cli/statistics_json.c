/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "statistics_json.h"

struct json_object *decimal_json(double value)
{
	char text[40];

	/* Large counts keep all their digits, and small ratios some. */
	snprintf(text, sizeof(text), value < 1e6 ? "%.6g" : "%.0f", value);
	return json_object_new_double_s(value, text);
}

struct json_object *spread_json(const double *values, size_t count)
{
	struct json_object *json;
	struct spread spread;

	if (spread_of(values, count, &spread))
		return NULL;
	json = json_object_new_object();
	json_object_object_add(json, "median", decimal_json(spread.median));
	json_object_object_add(json, "p10", decimal_json(spread.p10));
	json_object_object_add(json, "p90", decimal_json(spread.p90));
	return json;
}

void ratio_json(struct json_object *to, const struct ratio *ratio)
{
	json_object_object_add(to, "ratio", decimal_json(ratio->median));
	json_object_object_add(to, "low", decimal_json(ratio->low));
	json_object_object_add(to, "high", decimal_json(ratio->high));
	json_object_object_add(to, "inside_noise", json_object_new_boolean(ratio_is_noise(ratio)));
}
