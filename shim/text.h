/* SPDX-License-Identifier: MIT */
/*
 * text.h - strings and bounded text building without a libc
 */
#ifndef EA_SHIM_TEXT_H
#define EA_SHIM_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* gcc and clang emit calls to these even in freestanding code (gcc manual, "Standards"). */
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

size_t ea_strlen(const char *text);
int ea_streq(const char *a, const char *b);

/* ea_after_prefix - the rest of @text behind @prefix, or NULL when it does not begin with it */
const char *ea_after_prefix(const char *text, const char *prefix);

/* ea_basename - what follows the last '/' */
const char *ea_basename(const char *path);

/*
 * ea_pattern_match - does @name match @pattern, in which '*' stands for any text and '?' for one byte?
 * @pattern, @pattern_bytes: need not be terminated
 * Linear in practice: one backtracking point, no recursion.
 */
int ea_pattern_match(const char *pattern, size_t pattern_bytes, const char *name);

/*
 * ea_parse_number - read a decimal number
 * @end: receives where it stopped; may be NULL
 * Returns the number; UINT64_MAX when there is no digit or it does not fit.
 */
uint64_t ea_parse_number(const char *text, const char **end);

/* ea_parse_c_number - the same for a number as C writes it: 0x1f, 037, 31 */
uint64_t ea_parse_c_number(const char *text);

/* struct ea_text - a bounded buffer; what does not fit is cut, never written beyond the end */
struct ea_text {
	char *buf;
	size_t size;
	size_t length;
};

void ea_text_add(struct ea_text *text, const char *string);
void ea_text_add_number(struct ea_text *text, uint64_t number);
/* In double quotes; control bytes, '"' and '\' as \xNN, so that a line stays one line. */
void ea_text_add_quoted(struct ea_text *text, const char *string);

#endif
