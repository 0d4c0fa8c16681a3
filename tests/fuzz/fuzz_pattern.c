/* SPDX-License-Identifier: MIT */
/*
 * fuzz_pattern.c - EXECALIGN_ALLOW's patterns against the definition of what they match
 *
 * The first byte is the length of the pattern, and the name follows it. The definition takes
 * exponential time: what it is compared on is short.
 */
#include <stdlib.h>
#include <string.h>

#include "invariants.h"
#include "shim/text.h"
#include "tests/unit/pattern_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATTERN_BYTES_MAX 12
#define NAME_BYTES_MAX 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t pattern_bytes, name_bytes;
	char *pattern, *name;
	int matches;

	if (!size || data[0] > size - 1)
		return 0;
	pattern_bytes = data[0];
	pattern = malloc(pattern_bytes ? pattern_bytes : 1);
	name_bytes = size - 1 - pattern_bytes;
	name = malloc(name_bytes + 1);
	if (!pattern || !name)
		__builtin_trap();
	memcpy(pattern, data + 1, pattern_bytes);
	memcpy(name, data + 1 + pattern_bytes, name_bytes);
	name[name_bytes] = '\0';

	matches = ea_pattern_match(pattern, pattern_bytes, name);
	if (pattern_bytes <= PATTERN_BYTES_MAX && strlen(name) <= NAME_BYTES_MAX)
		REQUIRE(!matches == !pattern_model_match(pattern, pattern_bytes, name));
	free(pattern);
	free(name);
	return 0;
}
