/* SPDX-License-Identifier: MIT */
/*
 * unit.h - unit tests that run under criterion where it exists, and without it elsewhere
 *
 * criterion is built for the native glibc only; musl and the aarch64 cross build use the small
 * runner in runner.c. A test is written once:
 *
 *	TEST(block, distance)
 *	{
 *		CHECK_U64(ea_distance_bytes(addr, offset, block), 0, "row %zu", i);
 *	}
 *
 * A failed check is reported with its file and line, and the test goes on. Either way the program
 * ends with the line "N passed, N failed" and exits 1 if any test failed.
 */
#ifndef UNIT_H
#define UNIT_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#ifdef UNIT_CRITERION

#include <criterion/criterion.h>

#define TEST(suite, name) Test(suite, name)
#define CHECK(condition, ...) cr_expect(condition, __VA_ARGS__)

#else

/* struct unit_test - one test, in the runner's list */
struct unit_test {
	const char *name;
	void (*run)(void);
	struct unit_test *next;
};

/* unit_register - put a test into the list; called by constructors, before main */
void unit_register(struct unit_test *test);

/* unit_fail - note that the running test failed and say where and why */
void unit_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define TEST(suite, name)                                                                          \
	static void suite##_##name(void);                                                          \
	__attribute__((constructor)) static void suite##_##name##_register(void)                   \
	{                                                                                          \
		static struct unit_test test = {#suite "/" #name, suite##_##name, NULL};           \
                                                                                                   \
		unit_register(&test);                                                              \
	}                                                                                          \
	static void suite##_##name(void)

#define CHECK(condition, ...)                                                                      \
	do {                                                                                       \
		if (!(condition))                                                                  \
			unit_fail(__FILE__, __LINE__, __VA_ARGS__);                                \
	} while (0)

#endif

/* CHECK_U64 - two numbers are equal; the format, a literal, names the case */
#define CHECK_U64(actual, expected, format, ...)                                                   \
	do {                                                                                       \
		uint64_t actual_ = (uint64_t)(actual);                                             \
		uint64_t expected_ = (uint64_t)(expected);                                         \
                                                                                                   \
		CHECK(actual_ == expected_, format ": " #actual " is %#" PRIx64 ", not %#" PRIx64, \
			##__VA_ARGS__, actual_, expected_);                                        \
	} while (0)

#endif
