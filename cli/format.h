/* SPDX-License-Identifier: MIT */
/*
 * format.h - sizes, names and tables for people, and what json-c leaves to us
 */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A value that could not be read. Printed as "unknown", null in JSON, never as 0. */
#define UNKNOWN_BYTES UINT64_MAX

/* Room for any size that format_bytes() writes. */
#define FORMAT_BYTES_MAX 32

/*
 * format_bytes - "64 KiB", "2 MiB", "81.3 MiB", "512 B" or "unknown"
 * @out: at least FORMAT_BYTES_MAX bytes
 *
 * Returns @out. Any context.
 */
const char *format_bytes(uint64_t bytes, char *out);

/*
 * format_percent - "98%" of @whole, "-" of nothing, "unknown" when either is unknown
 * @out: at least FORMAT_BYTES_MAX bytes
 *
 * Rounds down: only all of it is 100%. Returns @out. Any context.
 */
const char *format_percent(uint64_t part, uint64_t whole, char *out);

/*
 * parse_size - read "64K", "2M", "2MiB", "1G", "65536"
 *
 * Returns 0, or -EINVAL for anything else, and for 0. Any context.
 */
int parse_size(const char *text, uint64_t *bytes);

/* parse_pid - read a process ID; 0 for anything else */
int parse_pid(const char *text);

/* print_escaped - print @text with control characters as \xNN */
void print_escaped(FILE *stream, const char *text);

/*
 * json_name - a JSON string of a file name, which may hold any byte
 *
 * JSON is UTF-8; bytes that are not are written as \xNN (four characters). NULL gives null.
 * Returns a new reference. Any context.
 */
struct json_object *json_name(const char *name);

/* json_bytes - a JSON number, null for UNKNOWN_BYTES; a new reference */
struct json_object *json_bytes(uint64_t bytes);

/*
 * json_folios - how much is in folios of which size
 * @known: false gives null
 * @folio_bytes: sums by the order of the folio, for @orders orders
 *
 * Returns a new reference to an array of {"folio_bytes", "text_bytes"}, the smallest folio first.
 */
struct json_object *json_folios(
	bool known, const uint64_t *folio_bytes, unsigned int orders, uint64_t page_bytes);

/*
 * json_print - write @object to @stream, indented, with a newline
 *
 * Returns 0 or -EIO. Releases the reference.
 */
int json_print(FILE *stream, struct json_object *object);

/* json_print_line - the same on one line, as one of many */
int json_print_line(FILE *stream, struct json_object *object);

/* struct style - escape sequences for a terminal, empty strings elsewhere */
struct style {
	const char *good;
	const char *bad;
	const char *doubt;
	const char *dim;
	const char *off;
};

/* style_for - colours if @stream is a terminal that wants them (NO_COLOR, TERM=dumb) */
const struct style *style_for(FILE *stream);

#endif
