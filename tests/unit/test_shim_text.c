/* SPDX-License-Identifier: MIT */
/*
 * test_shim_text.c - shim/text.h: patterns, numbers, and lines that stay one line
 */
#include <stdlib.h>
#include <string.h>

#include "pattern_model.h"
#include "prng.h"
#include "shim/text.h"
#include "unit.h"

/* The bytes that text.c gives the compiler; tests.mk renames them. */
void *shim_memcpy(void *to, const void *from, size_t bytes);
void *shim_memset(void *to, int value, size_t bytes);
int shim_memcmp(const void *a, const void *b, size_t bytes);

TEST(text, bytes)
{
	unsigned char buf[8] = "abcdefg";

	CHECK(shim_memcpy(buf + 1, "XY", 2) == buf + 1, "memcpy returns its target");
	CHECK(!memcmp(buf, "aXYdefg", 8), "memcpy: %s", buf);
	CHECK(shim_memset(buf + 2, 0x1ff, 3) == buf + 2, "memset returns its target");
	CHECK(!memcmp(buf, "aX\xff\xff\xff" "fg", 8), "memset: %s", buf);
	CHECK(shim_memcmp("ab\0c", "ab\0c", 4) == 0, "equal");
	CHECK(shim_memcmp("ab\0c", "ab\0d", 4) < 0, "behind a zero");
	CHECK(shim_memcmp("\x80", "\x7f", 1) > 0, "bytes are unsigned");
	CHECK(shim_memcmp("a", "b", 0) == 0, "no bytes");
}

TEST(text, comparisons)
{
	static const struct {
		const char *text, *other;
		int is_equal;
		const char *after_prefix; /* of @text behind @other */
	} rows[] = {
		{"", "", 1, ""},
		{"abc", "", 0, "abc"},
		{"", "abc", 0, NULL},
		{"abc", "abc", 1, ""},
		{"abc", "ab", 0, "c"},
		{"ab", "abc", 0, NULL},
		{"abc", "abd", 0, NULL},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		const char *rest = ea_after_prefix(rows[i].text, rows[i].other);

		CHECK_U64(!!ea_streq(rows[i].text, rows[i].other), rows[i].is_equal, "row %zu", i);
		CHECK(rows[i].after_prefix ? rest && !strcmp(rest, rows[i].after_prefix) : !rest,
			"row %zu: the rest is %s", i, rest ? rest : "none");
		CHECK_U64(ea_strlen(rows[i].text), strlen(rows[i].text), "row %zu", i);
	}
}

TEST(text, basename)
{
	static const char *const rows[][2] = {
		{"/usr/lib/libz.so", "libz.so"},
		{"libz.so", "libz.so"},
		{"./libz.so", "libz.so"},
		{"/usr/lib/", ""},
		{"/", ""},
		{"", ""},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++)
		CHECK(!strcmp(ea_basename(rows[i][0]), rows[i][1]), "%s: %s", rows[i][0],
			ea_basename(rows[i][0]));
}

TEST(text, pattern)
{
	static const struct {
		const char *pattern, *name;
		int matches;
	} rows[] = {
		{"", "", 1},
		{"", "a", 0},
		{"*", "", 1},
		{"**", "", 1},
		{"*", "libz.so", 1},
		{"?", "", 0},
		{"?", "a", 1},
		{"?", "ab", 0},
		{"*?", "a", 1},
		{"?*?", "a", 0},
		{"libz.so", "libz.so", 1},
		{"libz.so", "libz.so.1", 0},
		{"libz.so", "libz.s", 0},
		{"libz.so*", "libz.so", 1},
		{"libz.so*", "libz.so.1", 1},
		{"libLLVM-??.so*", "libLLVM-14.so.1", 1},
		{"libLLVM-??.so*", "libLLVM-4.so.1", 0},
		{"*.so", "a.so.so", 1},
		{"*.so", "a.so.", 0},
		{"*a*b*c*", "xxaxxbxxcxx", 1},
		{"*a*b*c*", "xxaxxcxxbxx", 0},
		{"a*ab", "aab", 1},
		{"a*ab", "ab", 0},
		/* No byte of a name is special, and '*' crosses a slash. */
		{"/usr/*/libz.so", "/usr/lib/x86_64-linux-gnu/libz.so", 1},
		{"[a-z]", "b", 0},
		{"[a-z]", "[a-z]", 1},
		{"\\*", "*", 0},
		{"\\*", "\\x", 1},
		{"?", "*", 1},
		{"a", "*", 0},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		size_t bytes = strlen(rows[i].pattern);

		CHECK_U64(!!ea_pattern_match(rows[i].pattern, bytes, rows[i].name), rows[i].matches,
			"'%s' on '%s'", rows[i].pattern, rows[i].name);
		CHECK_U64(!!pattern_model_match(rows[i].pattern, bytes, rows[i].name),
			rows[i].matches, "the model, '%s' on '%s'", rows[i].pattern, rows[i].name);
	}
}

TEST(text, pattern_ends_where_it_is_said_to)
{
	CHECK(ea_pattern_match("ab*", 2, "ab"), "the star is not part of it");
	CHECK(!ea_pattern_match("ab*", 2, "abc"), "the star is not part of it");
	CHECK(!ea_pattern_match("abc", 2, "abc"), "the c is not part of it");
	CHECK(ea_pattern_match("*:b", 1, "anything"), "only the star is");
}

static char random_letter(struct prng *prng, const char *letters)
{
	return letters[prng_below(prng, strlen(letters))];
}

/* Few letters, so that there are many near matches. */
TEST(text, pattern_as_defined)
{
	struct prng prng = {1};
	unsigned int matches = 0;
	unsigned int round;

	for (round = 0; round < 40000; round++) {
		size_t pattern_bytes = prng_below(&prng, 9), name_bytes = prng_below(&prng, 11), i;
		/* Of the exact size: a sanitizer sees a read beyond the pattern. */
		char *pattern = malloc(pattern_bytes ? pattern_bytes : 1);
		char name[12] = "";
		int expected;

		for (i = 0; i < pattern_bytes; i++)
			pattern[i] = random_letter(&prng, "ab*?");
		for (i = 0; i < name_bytes; i++)
			name[i] = random_letter(&prng, "aab");
		expected = pattern_model_match(pattern, pattern_bytes, name);
		matches += (unsigned int)expected;
		CHECK_U64(!!ea_pattern_match(pattern, pattern_bytes, name), expected,
			"'%.*s' on '%s'", (int)pattern_bytes, pattern, name);
		free(pattern);
	}
	CHECK(matches > 4000 && matches < 36000, "%u of 40000 match: that says little", matches);
}

TEST(text, pattern_takes_no_exponential_time)
{
	static const char pattern[] = "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b";
	char name[4096];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CHECK(!ea_pattern_match(pattern, sizeof(pattern) - 1, name), "no b in the name");
}

TEST(text, number)
{
	static const struct {
		const char *text;
		uint64_t expected;
		size_t digits;
	} rows[] = {
		{"0", 0, 1},
		{"7:", 7, 1},
		{"512", 512, 3},
		{"00012x", 12, 5},
		{"4294967296 ", 4294967296, 10},
		{"18446744073709551614", UINT64_MAX - 1, 20},
		{"0000000000000000000000018446744073709551614", UINT64_MAX - 1, 43},
		/* No digit: not even a sign or a blank. */
		{"", UINT64_MAX, 0},
		{":", UINT64_MAX, 0},
		{"-1", UINT64_MAX, 0},
		{"+1", UINT64_MAX, 0},
		{" 1", UINT64_MAX, 0},
		{"x1", UINT64_MAX, 0},
		{"/", UINT64_MAX, 0},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		const char *end = NULL;

		CHECK_U64(ea_parse_number(rows[i].text, &end), rows[i].expected, "'%s'",
			rows[i].text);
		CHECK(end == rows[i].text + rows[i].digits, "'%s': the end is wrong", rows[i].text);
		CHECK_U64(ea_parse_number(rows[i].text, NULL), rows[i].expected, "'%s'",
			rows[i].text);
	}
}

TEST(text, number_that_does_not_fit)
{
	static const char *const texts[] = {
		"18446744073709551615", /* the failure value itself */
		"18446744073709551616",
		"18446744073709551620",
		"18446744073709551625",
		"20000000000000000000",
		"99999999999999999999",
		"184467440737095516150",
		/* What is 5 modulo 2^64. */
		"18446744073709551621",
		"340282366920938463463374607431768211461",
	};
	size_t i;

	for (i = 0; i < COUNT_OF(texts); i++)
		CHECK_U64(ea_parse_number(texts[i], NULL), UINT64_MAX, "%s", texts[i]);
}

TEST(text, number_as_c_writes_it)
{
	static const struct {
		const char *text;
		uint64_t expected;
	} rows[] = {
		{"0", 0},
		{"31", 31},
		{"0x1f", 31},
		{"0X1F", 31},
		{"0xDeadBeef", 0xdeadbeef},
		{"037", 31},
		{"00", 0},
		{"0x0", 0},
		{"1000:rest", 1000},
		{"0x3e8:rest", 1000},
		{"01750:rest", 1000},
		/* The first that is no digit ends it. */
		{"0x1g", 1},
		{"0189", 1},
		{"08", 0},
		{"12a", 12},
		{"1x2", 1},
		{"18446744073709551614", UINT64_MAX - 1},
		{"0xfffffffffffffffe", UINT64_MAX - 1},
		{"01777777777777777777776", UINT64_MAX - 1},
		/* None, or too large. */
		{"", UINT64_MAX},
		{"x1f", UINT64_MAX},
		{"0x", UINT64_MAX},
		{"0xg", UINT64_MAX},
		{"-1", UINT64_MAX},
		{" 1", UINT64_MAX},
		{"a", UINT64_MAX},
		{"18446744073709551616", UINT64_MAX},
		{"0x10000000000000000", UINT64_MAX},
		{"02000000000000000000000", UINT64_MAX},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++)
		CHECK_U64(ea_parse_c_number(rows[i].text), rows[i].expected, "'%s'", rows[i].text);
}

TEST(text, numbers_survive_a_round_trip)
{
	struct prng prng = {2};
	char buf[32] = "";
	unsigned int round;

	for (round = 0; round < 2000; round++) {
		uint64_t number = round < 2 ? round * (UINT64_MAX - 1)
					    : prng_next(&prng) >> prng_below(&prng, 64);
		struct ea_text text = {buf, sizeof(buf), 0};

		ea_text_add_number(&text, number);
		buf[text.length] = '\0';
		CHECK_U64(strtoull(buf, NULL, 10), number, "written as %s", buf);
		CHECK_U64(ea_parse_number(buf, NULL), number, "read from %s", buf);
		CHECK(buf[0] != '0' || !buf[1], "%s has a leading zero", buf);
	}
}

TEST(text, quoted)
{
	static const char *const rows[][2] = {
		{"", "\"\""},
		{"/usr/lib/libz.so", "\"/usr/lib/libz.so\""},
		{"a b", "\"a b\""},
		{"say \"x\"", "\"say \\x22x\\x22\""},
		{"a\\b", "\"a\\x5cb\""},
		{"a\nb\tc\x1f\x7f", "\"a\\x0ab\\x09c\\x1f\\x7f\""},
		{"\xc3\xa9\xff~", "\"\xc3\xa9\xff~\""},
	};
	char buf[64];
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_text text = {buf, sizeof(buf) - 1, 0};

		ea_text_add_quoted(&text, rows[i][0]);
		buf[text.length] = '\0';
		CHECK(!strcmp(buf, rows[i][1]), "row %zu: %s, not %s", i, buf, rows[i][1]);
	}
}

/* Undo the quoting: the text between the quotes. Returns 0 when that is not how it was quoted. */
static int unquote(const char *quoted, size_t bytes, char *out)
{
	const char *end = quoted + bytes - 1;

	if (bytes < 2 || *quoted != '"' || *end != '"')
		return 0;
	for (quoted++; quoted < end; quoted++) {
		char hex[3] = "";

		if (*quoted == '"')
			return 0;
		if (*quoted != '\\') {
			*out++ = *quoted;
			continue;
		}
		if (end - quoted < 4 || quoted[1] != 'x')
			return 0;
		memcpy(hex, quoted + 2, 2);
		*out++ = (char)strtoul(hex, NULL, 16);
		quoted += 3;
	}
	*out = '\0';
	return 1;
}

static int is_printable(const char *text, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return 0;
	return 1;
}

static void random_string(struct prng *prng, char *string, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		string[i] = prng_one_in(prng, 3) ? random_letter(prng, "\"\\\n\r\x7fx")
						 : (char)(1 + prng_below(prng, 255));
	string[bytes] = '\0';
}

TEST(text, quoting_survives_a_round_trip)
{
	struct prng prng = {3};
	unsigned int round;

	for (round = 0; round < 5000; round++) {
		char string[33], quoted[4 * 32 + 2], back[sizeof(quoted)] = "";
		struct ea_text text = {quoted, sizeof(quoted), 0};

		random_string(&prng, string, prng_below(&prng, 33));
		ea_text_add_quoted(&text, string);
		CHECK(is_printable(quoted, text.length), "round %u: no line", round);
		CHECK(unquote(quoted, text.length, back), "round %u: not quoted", round);
		CHECK(!strcmp(back, string), "round %u: another string came back", round);
	}
}

/* Whatever the buffer's size: the beginning of what would be written is, and nothing else. */
TEST(text, is_cut_at_the_end_of_the_buffer)
{
	static const char expected[] = "pid=18446744073709551615 \"a\\x0ab\\x22\"";
	size_t size;

	for (size = 0; size <= sizeof(expected) + 2; size++) {
		size_t length = size < sizeof(expected) - 1 ? size : sizeof(expected) - 1;
		char *buf = malloc(size + 1);
		struct ea_text text = {buf, size, 0};

		memset(buf, '#', size + 1);
		ea_text_add(&text, "pid=");
		ea_text_add_number(&text, UINT64_MAX);
		ea_text_add(&text, " ");
		ea_text_add_quoted(&text, "a\nb\"");
		CHECK_U64(text.length, length, "size %zu", size);
		CHECK(!memcmp(buf, expected, length), "size %zu: %.*s", size, (int)length, buf);
		CHECK(buf[length] == '#', "size %zu: written beyond the end", size);
		free(buf);
	}
}
