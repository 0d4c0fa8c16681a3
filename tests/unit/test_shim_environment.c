/* SPDX-License-Identifier: MIT */
/*
 * test_shim_environment.c - shim/environment.h: finding variables and editing lists in place
 */
#include <stdlib.h>
#include <string.h>

#include "shim/environment.h"
#include "unit.h"

TEST(environment, find)
{
	static char *const envp[] = {"AB=long", "A=", "A=second", "B", "LD_AUDIT_X=no", "=", "",
		"LD_AUDIT=a:b=c", "Z=last", NULL};
	static const struct {
		const char *name, *value;
		size_t index;
	} rows[] = {
		/* The first of several, although empty; not one that begins with the name. */
		{"A", "", 1},
		{"AB", "long", 0},
		{"LD_AUDIT", "a:b=c", 7},
		{"Z", "last", 8},
		/* Without '=' there is no value. */
		{"B", NULL, 0},
		{"LD_AUDI", NULL, 0},
		{"LD_AUDIT_", NULL, 0},
		{"LD_AUDIT_X_", NULL, 0},
		{"C", NULL, 0},
		{"a", NULL, 0},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		size_t index = 99;
		const char *value = ea_env_find(envp, rows[i].name, &index);

		CHECK(rows[i].value ? value && !strcmp(value, rows[i].value) : !value,
			"%s is %s", rows[i].name, value ? value : "not there");
		CHECK_U64(index, rows[i].value ? rows[i].index : 99, "%s", rows[i].name);
		CHECK(ea_env_find(envp, rows[i].name, NULL) == value, "%s without index",
			rows[i].name);
	}
	CHECK_U64(ea_env_count(envp), 9, "nine entries");
	CHECK_U64(ea_env_count(envp + 9), 0, "no entry");
	CHECK(!ea_env_find(envp + 9, "A", NULL), "found in an empty environment");
}

TEST(environment, list_has)
{
	static const struct {
		const char *list, *item;
		int expected;
	} rows[] = {
		{"", "a", 0},
		{"a", "a", 1},
		{"ab", "a", 0},
		{"a", "ab", 0},
		{"ba", "a", 0},
		{"b:a", "a", 1},
		{"b a", "a", 1},
		{"a:b", "a", 1},
		{"a b", "a", 1},
		{"b:a:c", "a", 1},
		{"b a:c", "a", 1},
		{"ab:ba", "a", 0},
		{"ab:ba:a", "a", 1},
		{":", "a", 0},
		{"::a", "a", 1},
		{" : a : ", "a", 1},
		{"a:", "a", 1},
		{"/opt/lib.so:/usr/lib.so", "/usr/lib.so", 1},
		{"/opt/usr/lib.so", "/usr/lib.so", 0},
		{"/usr/lib.so.1", "/usr/lib.so", 0},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++)
		CHECK_U64(!!ea_env_list_has(rows[i].list, rows[i].item), rows[i].expected,
			"'%s' in '%s'", rows[i].item, rows[i].list);
}

TEST(environment, cut_last_item)
{
	static const struct {
		const char *value, *left;
		int expected;
	} rows[] = {
		{"/a.so:/b.so", "/a.so", 1},
		{"/a.so:/b.so:/c.so", "/a.so:/b.so", 1},
		/* What was an empty variable before is one again. */
		{":/b.so", "", 1},
		{"/a.so::/b.so", "/a.so:", 1},
		{"/a.so:", "/a.so", 1},
		{":", "", 1},
		/* The only item is left to the caller, who removes the variable. */
		{"/b.so", "/b.so", 0},
		{"", "", 0},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		size_t bytes = strlen(rows[i].value) + 1;
		char expected[64] = "", value[64];

		strcpy(expected, rows[i].left);
		strcpy(value, rows[i].value);
		value[bytes] = '#';
		expected[bytes] = '#';
		CHECK_U64(ea_env_cut_last_item(value), rows[i].expected, "row %zu", i);
		/* Every freed byte is zero, and the string behind is not touched. */
		CHECK(!memcmp(value, expected, bytes + 1), "row %zu: '%s' is left, or remains", i,
			value);
	}
}
