/* SPDX-License-Identifier: MIT */
/*
 * pattern_model.h - patterns defined by recursion: what ea_pattern_match() must agree with
 */
#ifndef PATTERN_MODEL_H
#define PATTERN_MODEL_H

#include <stddef.h>

/*
 * pattern_model_match - does @name match @pattern of @pattern_bytes bytes?
 *
 * A '*' stands for nothing, or for one more byte of the name; a '?' for one byte; every other byte
 * for itself. Takes exponential time: for short names.
 */
int pattern_model_match(const char *pattern, size_t pattern_bytes, const char *name);

#endif
