/* SPDX-License-Identifier: MIT */
#include "pattern_model.h"

int pattern_model_match(const char *pattern, size_t pattern_bytes, const char *name)
{
	if (!pattern_bytes)
		return !*name;
	if (*pattern == '*')
		return pattern_model_match(pattern + 1, pattern_bytes - 1, name) ||
		       (*name && pattern_model_match(pattern, pattern_bytes, name + 1));
	if (!*name || (*pattern != '?' && *pattern != *name))
		return 0;
	return pattern_model_match(pattern + 1, pattern_bytes - 1, name + 1);
}
