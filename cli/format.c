/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/block.h"
#include "format.h"

const char *format_bytes(uint64_t bytes, char *out)
{
	const char *unit = bytes >= EA_MIB ? "MiB" : "KiB";
	uint64_t unit_bytes = bytes >= EA_MIB ? EA_MIB : EA_KIB;

	if (bytes == UNKNOWN_BYTES)
		snprintf(out, FORMAT_BYTES_MAX, "unknown");
	else if (bytes && bytes < EA_KIB)
		snprintf(out, FORMAT_BYTES_MAX, "%" PRIu64 " B", bytes);
	else if (bytes % unit_bytes)
		snprintf(
			out, FORMAT_BYTES_MAX, "%.1f %s", (double)bytes / (double)unit_bytes, unit);
	else
		snprintf(out, FORMAT_BYTES_MAX, "%" PRIu64 " %s", bytes / unit_bytes, unit);
	return out;
}

const char *format_percent(uint64_t part, uint64_t whole, char *out)
{
	if (part == UNKNOWN_BYTES || whole == UNKNOWN_BYTES)
		snprintf(out, FORMAT_BYTES_MAX, "unknown");
	else if (!whole)
		snprintf(out, FORMAT_BYTES_MAX, "-");
	else
		snprintf(
			out, FORMAT_BYTES_MAX, "%d%%", (int)(100.0 * (double)part / (double)whole));
	return out;
}

int parse_size(const char *text, uint64_t *bytes)
{
	uint64_t value, unit_bytes = 1;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || !value)
		return -EINVAL;

	if (*end == 'K' || *end == 'k')
		unit_bytes = EA_KIB;
	else if (*end == 'M' || *end == 'm')
		unit_bytes = EA_MIB;
	else if (*end == 'G' || *end == 'g')
		unit_bytes = EA_MIB << 10;
	if (unit_bytes > 1)
		end += strcmp(end + 1, "iB") ? 1 : 3;
	if (*end || __builtin_mul_overflow(value, unit_bytes, bytes))
		return -EINVAL;
	return 0;
}

int parse_pid(const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno || !isdigit((unsigned char)*text) || *end || pid < 1 || pid > INT_MAX)
		return 0;
	return (int)pid;
}

void print_escaped(FILE *stream, const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < 0x20 || byte == 0x7f)
			fprintf(stream, "\\x%02x", byte);
		else
			fputc(byte, stream);
	}
}

/* Bytes of the UTF-8 sequence at @text (RFC 3629, table in section 4), 0 when it is none. */
static size_t utf8_sequence_bytes(const unsigned char *text)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t bytes, i;

	if (text[0] < 0x80)
		return 1;
	if (text[0] >= 0xc2 && text[0] <= 0xdf)
		bytes = 2;
	else if (text[0] >= 0xe0 && text[0] <= 0xef)
		bytes = 3;
	else if (text[0] >= 0xf0 && text[0] <= 0xf4)
		bytes = 4;
	else
		return 0;
	/* No overlong forms, no surrogates, nothing beyond U+10FFFF. */
	if (text[0] == 0xe0)
		low = 0xa0;
	else if (text[0] == 0xed)
		high = 0x9f;
	else if (text[0] == 0xf0)
		low = 0x90;
	else if (text[0] == 0xf4)
		high = 0x8f;
	if (text[1] < low || text[1] > high)
		return 0;
	for (i = 2; i < bytes; i++)
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	return bytes;
}

struct json_object *json_name(const char *name)
{
	struct json_object *object;
	char *text;
	size_t used = 0;

	if (!name)
		return NULL;
	text = malloc(4 * strlen(name) + 1);
	if (!text)
		abort();
	while (*name) {
		size_t bytes = utf8_sequence_bytes((const unsigned char *)name);

		if (bytes) {
			memcpy(text + used, name, bytes);
			used += bytes;
			name += bytes;
		} else {
			used += (size_t)sprintf(text + used, "\\x%02x", (unsigned char)*name++);
		}
	}
	object = json_object_new_string_len(text, (int)used);
	free(text);
	return object;
}

struct json_object *json_bytes(uint64_t bytes)
{
	return bytes == UNKNOWN_BYTES ? NULL : json_object_new_int64((int64_t)bytes);
}

struct json_object *json_folios(
	bool known, const uint64_t *folio_bytes, unsigned int orders, uint64_t page_bytes)
{
	struct json_object *array;
	unsigned int order;

	if (!known)
		return NULL;
	array = json_object_new_array();
	for (order = 0; order < orders; order++) {
		struct json_object *entry;

		if (!folio_bytes[order])
			continue;
		entry = json_object_new_object();
		json_object_object_add(entry, "folio_bytes", json_bytes(page_bytes << order));
		json_object_object_add(entry, "text_bytes", json_bytes(folio_bytes[order]));
		json_object_array_add(array, entry);
	}
	return array;
}

static int print_as(FILE *stream, struct json_object *object, int flags)
{
	const char *text =
		json_object_to_json_string_ext(object, flags | JSON_C_TO_STRING_NOSLASHESCAPE);
	int failed = !text || fputs(text, stream) == EOF || fputc('\n', stream) == EOF;

	json_object_put(object);
	return failed ? -EIO : 0;
}

int json_print(FILE *stream, struct json_object *object)
{
	return print_as(stream, object, JSON_C_TO_STRING_PRETTY);
}

int json_print_line(FILE *stream, struct json_object *object)
{
	return print_as(stream, object, JSON_C_TO_STRING_PLAIN);
}

const struct style *style_for(FILE *stream)
{
	static const struct style plain = {"", "", "", "", ""};
	static const struct style coloured = {
		"\033[32m", "\033[31m", "\033[33m", "\033[2m", "\033[0m"};
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (!isatty(fileno(stream)) || (no_color && *no_color) || !term || !strcmp(term, "dumb"))
		return &plain;
	return &coloured;
}
