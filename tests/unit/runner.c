/* SPDX-License-Identifier: MIT */
/*
 * runner.c - runs the tests that registered themselves; with criterion, only adds the closing line
 */
#include <stdarg.h>
#include <stdio.h>

#include "unit.h"

#ifdef UNIT_CRITERION

#include <criterion/hooks.h>

ReportHook(POST_ALL)(struct criterion_global_stats *stats)
{
	printf("%zu passed, %zu failed\n", stats->tests_passed,
		stats->tests_failed + stats->tests_crashed);
	fflush(stdout);
}

#else

static struct unit_test *first_test;
static unsigned int failures_of_test;

void unit_register(struct unit_test *test)
{
	test->next = first_test;
	first_test = test;
}

void unit_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	failures_of_test++;
	printf("%s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

int main(void)
{
	unsigned int passed = 0, failed = 0;
	const struct unit_test *test;

	/* A test that crashes must not take the messages before it along. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (test = first_test; test; test = test->next) {
		failures_of_test = 0;
		test->run();
		if (failures_of_test) {
			printf("failed: %s\n", test->name);
			failed++;
		} else {
			passed++;
		}
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed ? 1 : 0;
}

#endif
