/* SPDX-License-Identifier: MIT */
/*
 * test_shim_settings.c - shim/settings.h: accepted values, what becomes of others, ALLOW and DENY
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "elf_builder.h"
#include "shim/log.h"
#include "shim/settings.h"
#include "shim_double.h"
#include "unit.h"

#define K EA_KIB
#define M EA_MIB

static void read_settings(struct ea_settings *settings, const char *variable, int complain)
{
	char *const envp[] = {(char *)"PATH=/bin", (char *)variable, NULL};

	shim_double_reset();
	memset(settings, 0xff, sizeof(*settings));
	ea_settings_read(settings, envp, complain);
}

TEST(settings, nothing_is_set)
{
	struct ea_settings settings;

	read_settings(&settings, NULL, 1);
	CHECK(!settings.log && !settings.allow && !settings.deny, "a string from nowhere");
	CHECK_U64(settings.block_bytes, 0, "block");
	CHECK_U64(settings.promote, EA_PROMOTE_AUTO, "promote");
	CHECK_U64(settings.advise, EA_ADVISE_AUTO, "advise");
	CHECK_U64(shim_double.writes, 0, "complaints");
}

/* @expected: of the one variable that the row sets; the complaint is all of stderr */
static const struct {
	const char *variable;
	uint64_t expected;
	const char *complaint;
} choices[] = {
	{"EXECALIGN_BLOCK=auto", 0, ""},
	{"EXECALIGN_BLOCK=64K", 64 * K, ""},
	{"EXECALIGN_BLOCK=2M", 2 * M, ""},
	{"EXECALIGN_BLOCK=32M", 32 * M, ""},
	{"EXECALIGN_BLOCK=", 0, ""},
	{"EXECALIGN_BLOCK=3M", 0,
		"execalign: EXECALIGN_BLOCK=\"3M\": not one of auto, 64K, 2M, 32M; using auto\n"},
	{"EXECALIGN_BLOCK=2m", 0,
		"execalign: EXECALIGN_BLOCK=\"2m\": not one of auto, 64K, 2M, 32M; using auto\n"},
	{"EXECALIGN_BLOCK=2M ", 0,
		"execalign: EXECALIGN_BLOCK=\"2M \": not one of auto, 64K, 2M, 32M; using auto\n"},
	{"EXECALIGN_BLOCK=2", 0,
		"execalign: EXECALIGN_BLOCK=\"2\": not one of auto, 64K, 2M, 32M; using auto\n"},
	{"EXECALIGN_BLOCK=a\nb", 0,
		"execalign: EXECALIGN_BLOCK=\"a\\x0ab\": not one of auto, 64K, 2M, 32M; "
		"using auto\n"},
	{"EXECALIGN_PROMOTE=auto", EA_PROMOTE_AUTO, ""},
	{"EXECALIGN_PROMOTE=always", EA_PROMOTE_ALWAYS, ""},
	{"EXECALIGN_PROMOTE=never", EA_PROMOTE_NEVER, ""},
	{"EXECALIGN_PROMOTE=", EA_PROMOTE_AUTO, ""},
	{"EXECALIGN_PROMOTE=no", EA_PROMOTE_AUTO,
		"execalign: EXECALIGN_PROMOTE=\"no\": not one of auto, always, never; "
		"using auto\n"},
	{"EXECALIGN_ADVISE=auto", EA_ADVISE_AUTO, ""},
	{"EXECALIGN_ADVISE=hugepage", EA_ADVISE_HUGEPAGE, ""},
	{"EXECALIGN_ADVISE=never", EA_ADVISE_NEVER, ""},
	{"EXECALIGN_ADVISE=", EA_ADVISE_AUTO, ""},
	{"EXECALIGN_ADVISE=hugepages", EA_ADVISE_AUTO,
		"execalign: EXECALIGN_ADVISE=\"hugepages\": not one of auto, hugepage, never; "
		"using auto\n"},
};

static uint64_t chosen(const struct ea_settings *settings, const char *variable)
{
	if (strstr(variable, "_BLOCK="))
		return settings->block_bytes;
	return strstr(variable, "_PROMOTE=") ? (uint64_t)settings->promote
					     : (uint64_t)settings->advise;
}

TEST(settings, each_value)
{
	struct ea_settings settings;
	size_t i;

	for (i = 0; i < COUNT_OF(choices); i++) {
		const char *variable = choices[i].variable;

		read_settings(&settings, variable, 1);
		CHECK_U64(chosen(&settings, variable), choices[i].expected, "%s", variable);
		CHECK(!strcmp(shim_double.output, choices[i].complaint), "%s: %s", variable,
			shim_double.output);
		CHECK_U64(shim_double.writes, !!*choices[i].complaint, "%s", variable);

		/* The same without a word: the auditor's copy reads the settings, too. */
		read_settings(&settings, variable, 0);
		CHECK_U64(chosen(&settings, variable), choices[i].expected, "%s", variable);
		CHECK_U64(shim_double.writes, 0, "%s", variable);
	}
}

TEST(settings, a_long_bad_value_makes_one_line)
{
	char variable[4096] = "EXECALIGN_BLOCK=";
	struct ea_settings settings;

	memset(variable + strlen(variable), 'x', sizeof(variable) - 1 - strlen(variable));
	variable[sizeof(variable) - 1] = '\0';
	read_settings(&settings, variable, 1);
	CHECK_U64(settings.block_bytes, 0, "block");
	CHECK_U64(shim_double.writes, 1, "a line is one write");
	CHECK_U64(shim_double.output_bytes, 512, "cut");
	CHECK(strchr(shim_double.output, '\n') == shim_double.output + 511, "not one line");
}

TEST(settings, strings)
{
	static const struct {
		const char *variable, *log, *allow, *deny;
	} rows[] = {
		{"EXECALIGN_LOG=stderr", "stderr", NULL, NULL},
		{"EXECALIGN_LOG=/tmp/a b", "/tmp/a b", NULL, NULL},
		{"EXECALIGN_LOG=", NULL, NULL, NULL},
		{"EXECALIGN_ALLOW=libz*", NULL, "libz*", NULL},
		{"EXECALIGN_ALLOW=", NULL, NULL, NULL},
		{"EXECALIGN_DENY=*", NULL, NULL, "*"},
		{"EXECALIGN_DENY=", NULL, NULL, NULL},
	};
	struct ea_settings settings;
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		const char *actual[3], *expected[3] = {rows[i].log, rows[i].allow, rows[i].deny};
		size_t j;

		read_settings(&settings, rows[i].variable, 1);
		actual[0] = settings.log;
		actual[1] = settings.allow;
		actual[2] = settings.deny;
		for (j = 0; j < 3; j++)
			CHECK(expected[j] ? actual[j] && !strcmp(actual[j], expected[j])
					  : !actual[j],
				"%s: string %zu", rows[i].variable, j);
		CHECK_U64(shim_double.writes, 0, "%s", rows[i].variable);
	}
}

/* Programs that set their title write over their environment. */
TEST(settings, strings_are_copies)
{
	char log[] = "EXECALIGN_LOG=/tmp/log", allow[] = "EXECALIGN_ALLOW=libz*",
	     deny[] = "EXECALIGN_DENY=libx*";
	char *const envp[] = {log, allow, deny, NULL};
	struct ea_settings settings;

	shim_double_reset();
	memset(&settings, 0xff, sizeof(settings));
	ea_settings_read(&settings, envp, 1);
	memset(log, '#', sizeof(log) - 1);
	memset(allow, '#', sizeof(allow) - 1);
	memset(deny, '#', sizeof(deny) - 1);
	CHECK(settings.log && !strcmp(settings.log, "/tmp/log"), "log");
	CHECK(settings.allow && !strcmp(settings.allow, "libz*"), "allow");
	CHECK(settings.deny && !strcmp(settings.deny, "libx*"), "deny");
	CHECK(ea_settings_allow(&settings, "/usr/lib/libz.so"), "libz");
	CHECK(!ea_settings_allow(&settings, "/usr/lib/libx.so"), "libx");
}

static char *put_variable(char *variable, const char *name, size_t bytes)
{
	sprintf(variable, "%s=", name);
	memset(variable + strlen(variable) + 1, '\0', bytes);
	memset(variable + strlen(variable), '*', bytes);
	return variable;
}

/* The texts with their ends fit together, or nothing is allowed and one line says so. */
TEST(settings, long_strings)
{
	static const struct {
		size_t log_bytes, allow_bytes, deny_bytes;
		int fits;
	} rows[] = {
		{0, EA_SETTINGS_TEXT_BYTES - 1, 0, 1},
		{0, EA_SETTINGS_TEXT_BYTES, 0, 0},
		{0, 0, EA_SETTINGS_TEXT_BYTES, 0},
		{0, 10 * EA_SETTINGS_TEXT_BYTES, 0, 0},
		{6, EA_SETTINGS_TEXT_BYTES - 8, 0, 1},
		{6, EA_SETTINGS_TEXT_BYTES - 7, 0, 0},
		{6, 500, EA_SETTINGS_TEXT_BYTES - 509, 1},
		{6, 500, EA_SETTINGS_TEXT_BYTES - 508, 0},
		{6, EA_SETTINGS_TEXT_BYTES, EA_SETTINGS_TEXT_BYTES, 0},
	};
	static char texts[3][11 * EA_SETTINGS_TEXT_BYTES];
	struct ea_settings settings;
	size_t i;
	int complain;

	for (i = 0; i < 2 * COUNT_OF(rows); i++) {
		size_t row = i / 2;
		char *const envp[] = {put_variable(texts[0], "EXECALIGN_LOG", rows[row].log_bytes),
			put_variable(texts[1], "EXECALIGN_ALLOW", rows[row].allow_bytes),
			put_variable(texts[2], "EXECALIGN_DENY", rows[row].deny_bytes), NULL};

		complain = i % 2;
		shim_double_reset();
		memset(&settings, 0xff, sizeof(settings));
		ea_settings_read(&settings, envp, complain);
		CHECK_U64(!settings.allows_nothing, rows[row].fits, "row %zu", row);
		CHECK_U64(ea_settings_allow(&settings, "/usr/lib/libz.so"),
			rows[row].fits && !rows[row].deny_bytes, "row %zu", row);
		CHECK(!rows[row].log_bytes ||
				(settings.log && strlen(settings.log) == rows[row].log_bytes),
			"row %zu: the log", row);
		CHECK_U64(shim_double.writes, complain && !rows[row].fits, "row %zu", row);
		CHECK(!shim_double.writes || strstr(shim_double.output, "too long together"),
			"row %zu: %s", row, shim_double.output);
	}
}

TEST(settings, off)
{
	static const struct {
		const char *variable;
		int expected;
		const char *complaint;
	} rows[] = {
		{NULL, 0, ""},
		{"EXECALIGN=", 0, ""},
		{"EXECALIGN=on", 0, ""},
		{"EXECALIGN=off", 1, ""},
		{"EXECALIGN=maybe", 0,
			"execalign: EXECALIGN=\"maybe\": not one of on, off; using on\n"},
		{"EXECALIGN=0", 0, "execalign: EXECALIGN=\"0\": not one of on, off; using on\n"},
		{"EXECALIGN_OFF=off", 0, ""},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		char *const envp[] = {(char *)rows[i].variable, NULL};

		shim_double_reset();
		CHECK_U64(ea_settings_are_off(envp, 0), rows[i].expected, "row %zu", i);
		CHECK_U64(shim_double.writes, 0, "row %zu", i);
		CHECK_U64(ea_settings_are_off(envp, 1), rows[i].expected, "row %zu", i);
		CHECK(!strcmp(shim_double.output, rows[i].complaint), "row %zu: %s", i,
			shim_double.output);
	}
}

TEST(settings, allow_and_deny)
{
	static const char z[] = "/usr/lib/libz3.so.4", app[] = "/opt/app/lib/libz3.so.4";
	static const struct {
		const char *allow, *deny, *path;
		int expected;
	} rows[] = {
		{NULL, NULL, z, 1},
		{"libz3.so.4", NULL, z, 1},
		{"libz3.so", NULL, z, 0},
		{"libz3*", NULL, z, 1},
		{"z3*", NULL, z, 0},
		{"libx*", NULL, z, 0},
		/* One of several suffices; empty ones match nothing. */
		{"libx*:libz*", NULL, z, 1},
		{"libz*:libx*", NULL, z, 1},
		{"::libz*:", NULL, z, 1},
		{":", NULL, z, 0},
		{NULL, ":", z, 1},
		{NULL, "::libz*", z, 0},
		/* With a slash the whole path counts. */
		{"/opt/*", NULL, z, 0},
		{"/opt/*", NULL, app, 1},
		{"*/lib/*", NULL, z, 1},
		{"lib/*", NULL, z, 0},
		{"/usr/lib", NULL, z, 0},
		/* ... and only for the pattern that has it. */
		{"/opt/*:libz3*", NULL, z, 1},
		{"libz3*:/opt/*", NULL, app, 1},
		/* A pattern without one is not matched against directories. */
		{NULL, "*app*", app, 1},
		{NULL, "*/app/*", app, 0},
		/* DENY wins. */
		{"*", "libz3*", z, 0},
		{"libz3*", "*", z, 0},
		{"libz3*", "/opt/*", z, 1},
		{"libz3*", "/opt/*", app, 0},
		{NULL, "*", z, 0},
		{NULL, "libx*", z, 1},
		{"libz?.so.?", NULL, z, 1},
		{NULL, "libz.so.?", z, 1},
		{NULL, "libz3.so.4", "libz3.so.4", 0},
		/* An empty pattern is none, even where it would match. */
		{NULL, ":", "/usr/lib/", 1},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_settings settings = {.allow = rows[i].allow, .deny = rows[i].deny};

		CHECK_U64(!!ea_settings_allow(&settings, rows[i].path), rows[i].expected,
			"row %zu: %s", i, rows[i].path);
	}
}

TEST(settings, block)
{
	static const struct {
		uint64_t page_bytes, setting_bytes, text_bytes, expected;
	} rows[] = {
		/* The rule, up to its cap of 2M ... */
		{4 * K, 0, 60 * K, 0},
		{4 * K, 0, 64 * K, 64 * K},
		{4 * K, 0, 2 * M, 2 * M},
		{16 * K, 0, 64 * M, 2 * M},
		{64 * K, 0, 2 * M - 64 * K, 0},
		/* ... or the user's, also where it would choose another; or none. */
		{4 * K, 64 * K, 64 * M, 64 * K},
		{4 * K, 2 * M, 2 * M - 4 * K, 0},
		{4 * K, 2 * M, 2 * M, 2 * M},
		{16 * K, 32 * M, 32 * M - 16 * K, 0},
		{16 * K, 32 * M, 32 * M, 32 * M},
	};
	struct ea_geometry geometry = {0};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_settings settings = {.block_bytes = rows[i].setting_bytes};
		struct ea_image image = {.load_count = 2};
		unsigned int text = 99;

		image.loads[1] =
			(struct ea_segment){.file_bytes = rows[i].text_bytes, .flags = PF_R | PF_X};
		CHECK_U64(ea_geometry(EM_AARCH64, rows[i].page_bytes, &geometry), 0, "row %zu", i);
		CHECK_U64(ea_settings_block(&settings, &geometry, &image, &text), rows[i].expected,
			"row %zu", i);
		CHECK_U64(text, rows[i].expected ? 1 : 99, "row %zu", i);
	}
}

TEST(settings, smallest_block)
{
	static const struct {
		uint16_t machine;
		uint64_t page_bytes, setting_bytes, expected;
	} rows[] = {
		{EM_X86_64, 4 * K, 0, 2 * M},
		{EM_X86_64, 4 * K, 64 * K, 64 * K},
		{EM_AARCH64, 4 * K, 0, 64 * K},
		{EM_AARCH64, 4 * K, 2 * M, 2 * M},
		{EM_AARCH64, 16 * K, 0, 2 * M},
		{EM_AARCH64, 16 * K, 32 * M, 32 * M},
		{EM_AARCH64, 64 * K, 0, 2 * M},
	};
	struct ea_geometry geometry = {0};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_settings settings = {.block_bytes = rows[i].setting_bytes};

		CHECK_U64(ea_geometry(rows[i].machine, rows[i].page_bytes, &geometry), 0, "row %zu",
			i);
		CHECK_U64(ea_settings_smallest_block(&settings, &geometry), rows[i].expected,
			"row %zu", i);
	}
}

TEST(log, a_line)
{
	char pid[64];
	struct ea_log log;

	shim_double_reset();
	ea_log_begin(&log, "stderr", "library");
	ea_log_quoted(&log, "path", "/a \"b\"\n");
	ea_log_number(&log, "text_kib", 81234);
	ea_log_word(&log, "result", "congruent");
	ea_log_end(&log);
	CHECK(sscanf(shim_double.output, "execalign pid=%63[0-9]", pid) == 1, "%s",
		shim_double.output);
	CHECK(!strcmp(shim_double.output + strlen("execalign pid=") + strlen(pid),
		      " event=library path=\"/a \\x22b\\x22\\x0a\" text_kib=81234 "
		      "result=congruent\n"),
		"%s", shim_double.output);
	CHECK_U64(shim_double.writes, 1, "a line is one write");
}

TEST(log, a_line_is_cut)
{
	static char path[2 * EA_LOG_LINE_BYTES];
	struct ea_log log;

	shim_double_reset();
	memset(path, '\n', sizeof(path) - 1);
	ea_log_begin(&log, "stderr", "library");
	ea_log_quoted(&log, "path", path);
	ea_log_end(&log);
	CHECK_U64(shim_double.output_bytes, EA_LOG_LINE_BYTES, "cut");
	CHECK(strchr(shim_double.output, '\n') == shim_double.output + EA_LOG_LINE_BYTES - 1,
		"not one line");
}

static int is_pending(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigpending(&set);
	return sigismember(&set, number);
}

/* Nobody reads the pipe, or the file may not grow: the line is lost, and nothing else. */
TEST(log, a_line_that_cannot_be_written)
{
	static const int numbers[] = {SIGPIPE, SIGXFSZ};
	static const struct timespec no_time = {0, 0};
	size_t i;
	int was_pending;

	for (i = 0; i < 2 * COUNT_OF(numbers); i++) {
		int number = numbers[i / 2];
		sigset_t set, old_mask, mask;

		was_pending = i % 2;
		shim_double_reset();
		shim_double.write_signal = number;
		sigemptyset(&set);
		sigaddset(&set, number);
		if (was_pending) {
			sigprocmask(SIG_BLOCK, &set, &old_mask);
			raise(number);
		}
		ea_log_complain("a line");
		CHECK_U64(shim_double.writes, 1, "signal %d", number);
		CHECK_U64(is_pending(number), was_pending, "signal %d: pending", number);
		sigprocmask(SIG_BLOCK, NULL, &mask);
		CHECK_U64(sigismember(&mask, number), was_pending, "signal %d: mask", number);
		if (was_pending) {
			sigtimedwait(&set, NULL, &no_time);
			sigprocmask(SIG_SETMASK, &old_mask, NULL);
		}
	}
}
