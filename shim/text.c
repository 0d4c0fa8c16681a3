/* SPDX-License-Identifier: MIT */
#include "text.h"

void *memcpy(void *to, const void *from, size_t bytes)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	while (bytes--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	unsigned char *t = to;

	while (bytes--)
		*t++ = (unsigned char)value;
	return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const unsigned char *x = a;
	const unsigned char *y = b;

	for (; bytes; bytes--, x++, y++) {
		if (*x != *y)
			return *x < *y ? -1 : 1;
	}
	return 0;
}

size_t ea_strlen(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}

int ea_streq(const char *a, const char *b)
{
	const char *rest = ea_after_prefix(a, b);

	return rest && !*rest;
}

const char *ea_after_prefix(const char *text, const char *prefix)
{
	while (*prefix) {
		if (*text++ != *prefix++)
			return NULL;
	}
	return text;
}

const char *ea_basename(const char *path)
{
	const char *name = path;

	for (; *path; path++) {
		if (*path == '/')
			name = path + 1;
	}
	return name;
}

int ea_pattern_match(const char *pattern, size_t pattern_bytes, const char *name)
{
	const char *end = pattern + pattern_bytes;
	const char *star = NULL;  /* behind the last '*' seen ... */
	const char *retry = NULL; /* ... and where its text ends so far */

	while (*name) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			retry = name;
		} else if (pattern < end && (*pattern == '?' || *pattern == *name)) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++retry;
		} else {
			return 0;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

/* The value of a digit, 16 and more for what is none. */
static unsigned int digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return (unsigned int)(digit - '0');
	digit |= 0x20;
	return digit >= 'a' && digit <= 'f' ? (unsigned int)(digit - 'a' + 10) : 16;
}

static uint64_t parse_base(const char *text, unsigned int base, const char **end)
{
	const char *start = text;
	uint64_t number = 0;

	for (; digit_value(*text) < base; text++) {
		if (__builtin_mul_overflow(number, base, &number) ||
			__builtin_add_overflow(number, digit_value(*text), &number))
			return UINT64_MAX;
	}
	if (end)
		*end = text;
	return text == start ? UINT64_MAX : number;
}

uint64_t ea_parse_number(const char *text, const char **end)
{
	return parse_base(text, 10, end);
}

uint64_t ea_parse_c_number(const char *text)
{
	if (text[0] == '0' && (text[1] | 0x20) == 'x')
		return parse_base(text + 2, 16, NULL);
	return parse_base(text, text[0] == '0' ? 8 : 10, NULL);
}

static void add_byte(struct ea_text *text, char byte)
{
	if (text->length < text->size)
		text->buf[text->length++] = byte;
}

void ea_text_add(struct ea_text *text, const char *string)
{
	while (*string)
		add_byte(text, *string++);
}

void ea_text_add_number(struct ea_text *text, uint64_t number)
{
	char digits[20];
	int count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count)
		add_byte(text, digits[--count]);
}

void ea_text_add_quoted(struct ea_text *text, const char *string)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char byte;

	add_byte(text, '"');
	for (; *string; string++) {
		byte = (unsigned char)*string;
		if (byte >= 0x20 && byte != 0x7f && byte != '"' && byte != '\\') {
			add_byte(text, *string);
			continue;
		}
		add_byte(text, '\\');
		add_byte(text, 'x');
		add_byte(text, hex[byte >> 4]);
		add_byte(text, hex[byte & 15]);
	}
	add_byte(text, '"');
}
