/* SPDX-License-Identifier: MIT */
/*
 * test_shim_promotion.c - shim/promotion.h: there and back again
 *
 * ea_promotion_try() runs on the initial stack of a process made by hand, and its execve is caught.
 * From what it was given, the stack of the process after the exec is made, and
 * ea_promotion_finish() run on that: it must read as the first one did.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "elf_builder.h"
#include "process_block.h"
#include "shim/promotion.h"
#include "shim/startup.h"
#include "shim/status.h"
#include "shim_double.h"
#include "unit.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define SHIM "/nonexistent/libexecalign.so"
#define TUNABLE "glibc.rtld.optional_static_tls="
#define EXECFN "./bin/program with \"quotes\":1"
#define VARIABLES 12

static char *const arguments[] = {"program", "", "glibc.rtld.optional_static_tls=7", "last", NULL};

/* struct original - an environment that a program is started with, and what is in it under way */
struct original {
	const char *envp[VARIABLES];
	const char *audit, *tunables;
	unsigned int added; /* variables, with the marker and the padding */
};

static const struct original originals[] = {
	{{NULL}, "LD_AUDIT=" SHIM, "GLIBC_TUNABLES=" TUNABLE "512", 4},
	{{"A=1"}, "LD_AUDIT=" SHIM, "GLIBC_TUNABLES=" TUNABLE "512", 4},
	{{"LD_PRELOAD=" SHIM, "PATH=/bin", "A="}, "LD_AUDIT=" SHIM, "GLIBC_TUNABLES=" TUNABLE "512",
		4},
	/* The user's own go on, wherever they stand. */
	{{"LD_AUDIT=/a.so", "A=1"}, "LD_AUDIT=/a.so:" SHIM, "GLIBC_TUNABLES=" TUNABLE "512", 2},
	{{"A=1", "LD_AUDIT=/a.so:/b.so"}, "LD_AUDIT=/a.so:/b.so:" SHIM,
		"GLIBC_TUNABLES=" TUNABLE "512", 2},
	{{"A=1", "GLIBC_TUNABLES=glibc.malloc.check=3", "B=2"}, "LD_AUDIT=" SHIM,
		"GLIBC_TUNABLES=glibc.malloc.check=3:" TUNABLE "512", 2},
	{{"LD_AUDIT=/a.so", "A=1", "GLIBC_TUNABLES=glibc.malloc.check=3:glibc.malloc.perturb=1"},
		"LD_AUDIT=/a.so:" SHIM,
		"GLIBC_TUNABLES=glibc.malloc.check=3:glibc.malloc.perturb=1:" TUNABLE "512", 2},
	/* Ours comes on top of the user's, of which the last counts. */
	{{"GLIBC_TUNABLES=" TUNABLE "2000", "Z=26"}, "LD_AUDIT=" SHIM,
		"GLIBC_TUNABLES=" TUNABLE "2000:" TUNABLE "2000", 2},
	{{"GLIBC_TUNABLES=" TUNABLE "9:" TUNABLE "3:glibc.malloc.check=1"}, "LD_AUDIT=" SHIM,
		"GLIBC_TUNABLES=" TUNABLE "9:" TUNABLE "3:glibc.malloc.check=1:" TUNABLE "3", 2},
	/* An empty variable is another thing than none. */
	{{"LD_AUDIT=", "A=1"}, "LD_AUDIT=:" SHIM, "GLIBC_TUNABLES=" TUNABLE "512", 2},
	/* The first of several. */
	{{"LD_AUDIT=/a.so", "LD_AUDIT=/b.so"}, "LD_AUDIT=/a.so:" SHIM,
		"GLIBC_TUNABLES=" TUNABLE "512", 2},
	/* Names that only begin like ours, and entries that are no variables. */
	{{"LD_AUDIT_=x", "LD_AUDIT", "GLIBC_TUNABLES2=y", "EXECALIGN_PADDINGS=1",
		 "EXECALIGN_PROMOTE=always", "EXECALIGN_PADDING", "EXECALIGN_PROMOTED",
		 "EXECALIGN_PROMOTED2=0:0:", "=", "EXECALIGN_LOG=stderr"},
		"LD_AUDIT=" SHIM, "GLIBC_TUNABLES=" TUNABLE "512", 4},
};

/* What only looks like ours goes before the exec: then the freed slots make pairs. */
static const struct original originals_with_foreign_markers[] = {
	{{"EXECALIGN_PADDING=", "A=1"}, "LD_AUDIT=" SHIM, "GLIBC_TUNABLES=" TUNABLE "512", 4},
	{{"EXECALIGN_PADDING=1", "A=1", "EXECALIGN_PADDING=2", "EXECALIGN_PADDING="},
		"LD_AUDIT=" SHIM, "GLIBC_TUNABLES=" TUNABLE "512", 4},
	{{"A=1", "EXECALIGN_PROMOTED=", "B=2"}, "LD_AUDIT=" SHIM, "GLIBC_TUNABLES=" TUNABLE "512",
		4},
	{{"EXECALIGN_PROMOTED=x", "LD_AUDIT=/a.so", "EXECALIGN_PADDING="}, "LD_AUDIT=/a.so:" SHIM,
		"GLIBC_TUNABLES=" TUNABLE "512", 2},
	{{"EXECALIGN_PADDING=", "LD_AUDIT=/a.so", "GLIBC_TUNABLES=glibc.malloc.check=3",
		 "EXECALIGN_PROMOTED=x", "EXECALIGN_PROMOTED=0:0:"},
		"LD_AUDIT=/a.so:" SHIM, "GLIBC_TUNABLES=glibc.malloc.check=3:" TUNABLE "512", 2},
	{{"EXECALIGN_PADDING=", "EXECALIGN_PADDINGS=", "EXECALIGN_PROMOTED2="}, "LD_AUDIT=" SHIM,
		"GLIBC_TUNABLES=" TUNABLE "512", 4},
};

/* What glibc up to 2.38 would not find again in the kernel's block: see copy_tunables(). */
static const struct original originals_of_new_glibc[] = {
	{{"GLIBC_TUNABLES=", "A=1"}, "LD_AUDIT=" SHIM, "GLIBC_TUNABLES=:" TUNABLE "512", 2},
	{{"GLIBC_TUNABLES=other.x=1", "A=1"}, "LD_AUDIT=" SHIM,
		"GLIBC_TUNABLES=other.x=1:" TUNABLE "512", 2},
};

/* The first page of ld.so: its headers. One that places text has a note behind them. */
static union {
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdrs[2];
		uint32_t note[8];
	};
	unsigned char page[4096];
} loader __attribute__((aligned(4096)));

/* Enough of a stack for a promotion: the program headers are this program's. */
static void fill_auxv(struct ea_auxv *auxv)
{
	const struct ea_auxv entries[] = {
		{AT_SYSINFO_EHDR, 0x7fff00001000},
		{AT_PAGESZ, 4096},
		{AT_PHDR, getauxval(AT_PHDR)},
		{AT_PHNUM, getauxval(AT_PHNUM)},
		{AT_BASE, (uintptr_t)&loader},
		{AT_SECURE, 0},
		{AT_NULL, 0},
	};

	memcpy(auxv, entries, sizeof(entries));
}

#define AUXV_ENTRIES 7

/* The process after the exec; the environment that it was given is gone by then. */
static struct process_block promoted;
static size_t promoted_count;

static void start_promoted(const char *path, char *const *argv, char *const *envp)
{
	struct ea_auxv auxv[AUXV_ENTRIES];

	CHECK(!strcmp(path, "/proc/self/exe"), "%s is executed", path);
	fill_auxv(auxv);
	process_block_build(&promoted, argv, envp, path, auxv);
	for (promoted_count = 0; envp[promoted_count];)
		promoted_count++;
}

/* ld.so's list of this program and the shim, whose file has no TLS. */
static struct link_map maps[2];

static void load_shim(void)
{
	struct elf_file elf;

	memset(maps, 0, sizeof(maps));
	maps[0].l_name = (char *)"";
	maps[0].l_next = &maps[1];
	maps[1].l_name = (char *)SHIM;
	maps[1].l_ld = shim__DYNAMIC;
	shim__r_debug.r_map = maps;

	elf_begin(&elf, MACHINE);
	elf_add(&elf, PT_LOAD, PF_R, 0, 0, 0x1000, 0x1000);
	shim_double_serve(SHIM, &elf, sizeof(elf), elf.file_bytes);
}

/* struct process - a process before the promotion */
struct process {
	struct process_block block;
	struct ea_settings settings;
};

static void process_start(struct process *process, const char *const *envp, const char *execfn)
{
	struct ea_auxv auxv[AUXV_ENTRIES];

	shim_double_reset();
	shim_double.on_exec = start_promoted;
	fill_auxv(auxv);
	process_block_build(&process->block, arguments, (char *const *)envp, execfn, auxv);
	process->settings = (struct ea_settings){.log = "stderr", .promote = EA_PROMOTE_ALWAYS};
	load_shim();
}

static void process_end(struct process *process)
{
	process_block_free(&process->block);
}

static int has_entry(char *const *envp, const char *entry)
{
	for (; *envp; envp++)
		if (!strcmp(*envp, entry))
			return 1;
	return 0;
}

static void check_environment(char *const *actual, const char *const *expected, const char *what)
{
	size_t i;

	for (i = 0; expected[i] && actual[i]; i++)
		CHECK(!strcmp(actual[i], expected[i]), "%s: %s, not %s", what, actual[i],
			expected[i]);
	CHECK(!expected[i], "%s: %s is missing", what, expected[i]);
	CHECK(!actual[i], "%s: %s is too much", what, actual[i]);
}

static int is_marker(const char *entry)
{
	return !strncmp(entry, "EXECALIGN_PROMOTED=", strlen("EXECALIGN_PROMOTED=")) ||
	       !strncmp(entry, "EXECALIGN_PADDING=", strlen("EXECALIGN_PADDING="));
}

/* The same without what looks like a marker. */
static struct original without_markers(const struct original *original)
{
	struct original kept = *original;
	size_t count = 0, i;

	for (i = 0; original->envp[i]; i++)
		if (!is_marker(original->envp[i]))
			kept.envp[count++] = original->envp[i];
	kept.envp[count] = NULL;
	return kept;
}

/* As a program does that has only envp: the vector begins behind its NULL. */
static void check_auxv(const struct ea_stack *stack, const char *execfn, const char *what)
{
	char *const *slot = stack->envp;
	const struct ea_auxv *entry;
	struct ea_auxv expected[AUXV_ENTRIES];
	size_t i;

	while (*slot)
		slot++;
	entry = (const struct ea_auxv *)(slot + 1);
	fill_auxv(expected);
	for (i = 0; expected[i].type != AT_NULL; i++, entry++) {
		while (entry->type == AT_IGNORE && !entry->value)
			entry++;
		CHECK_U64(entry->type, expected[i].type, "%s: entry %zu", what, i);
		CHECK_U64(entry->value, expected[i].value, "%s: entry %zu", what, i);
		/* What ld.so has noted before stays right. */
		CHECK_U64(stack->auxv[i].type, expected[i].type, "%s: entry %zu moved", what, i);
		if (entry->type != expected[i].type)
			return;
	}
	if (execfn) {
		CHECK_U64(entry->type, AT_EXECFN, "%s", what);
		if (entry->type != AT_EXECFN)
			return;
		CHECK(!strcmp((const char *)(uintptr_t)entry->value, execfn), "%s: AT_EXECFN is %s",
			what, (const char *)(uintptr_t)entry->value);
		entry++;
	}
	CHECK_U64(entry->type, AT_NULL, "%s: the end", what);
}

/* struct pieces - the strings between two addresses, empty ones left out */
struct pieces {
	const char *at, *end;
};

static const char *next_piece(struct pieces *pieces)
{
	const char *piece;

	while (pieces->at < pieces->end && !*pieces->at)
		pieces->at++;
	if (pieces->at == pieces->end)
		return NULL;
	piece = pieces->at;
	pieces->at += strlen(piece);
	return piece;
}

static int is_tunables(const char *entry)
{
	return !strncmp(entry, "GLIBC_TUNABLES=", strlen("GLIBC_TUNABLES="));
}

/*
 * glibc up to 2.38: the variable moves into memory of ld.so's own, and in the kernel's block the
 * value of every tunable that exists is terminated (elf/dl-tunables.c, parse_tunables()).
 */
static void cut_tunables(char *string)
{
	char *item = string + strlen("GLIBC_TUNABLES=");

	while ((item = strchr(item, ':')))
		*item++ = '\0';
}

static void copy_tunables(char **envp, char copies[2][1024])
{
	size_t used = 0;

	for (; *envp; envp++) {
		if (!is_tunables(*envp) || used == 2)
			continue;
		strcpy(copies[used], *envp);
		cut_tunables(*envp);
		*envp = copies[used++];
	}
}

/* /proc/PID/environ shows what @envp had, and then @execfn (the end of the marker), if any. */
static void check_visible(const struct process_block *block, const char *const *envp,
	const char *execfn, int is_cut, const char *what)
{
	struct pieces actual = {block->environ_start, block->environ_end};
	const char *piece;

	for (; *envp; envp++) {
		char expected[1024] = "";
		struct pieces rest = {expected, expected + strlen(*envp)};

		strcpy(expected, *envp);
		if (is_cut && is_tunables(*envp))
			cut_tunables(expected);
		while ((piece = next_piece(&rest))) {
			const char *visible = next_piece(&actual);

			CHECK(visible && !strcmp(visible, piece), "%s: %s is visible, not %s", what,
				visible ? visible : "nothing", piece);
			if (!visible)
				return;
		}
	}
	piece = next_piece(&actual);
	CHECK(execfn && *execfn ? piece && !strcmp(piece, execfn) : !piece,
		"%s: %s is visible at the end", what, piece ? piece : "nothing");
	piece = piece ? next_piece(&actual) : NULL;
	CHECK(!piece, "%s: %s remains", what, piece);
}

static void check_arguments(const struct process_block *block, const char *what)
{
	size_t i;

	for (i = 0; i < COUNT_OF(arguments) - 1; i++)
		CHECK(block->stack.argv[i] && !strcmp(block->stack.argv[i], arguments[i]),
			"%s: argument %zu changed", what, i);
	CHECK(!block->stack.argv[i], "%s: more arguments", what);
}

/*
 * Run ea_promotion_finish() in a process that was started with more than @original, and look at
 * what is left. @execfn: what AT_EXECFN must be; @marked_execfn: what the marker had of it
 */
static void check_finish(struct process_block *block, const struct original *original,
	const char *execfn, const char *marked_execfn, int is_cut)
{
	struct ea_promotion_marker marker;
	char copies[2][1024];
	char what[64];

	snprintf(what, sizeof(what), "%s, tunables %s",
		original->envp[0] ? original->envp[0] : "no variable", is_cut ? "cut" : "whole");
	if (is_cut)
		copy_tunables(block->stack.envp, copies);
	CHECK_U64(ea_promotion_finish(&block->stack, &marker), 1, "%s", what);
	check_environment(block->stack.envp, original->envp, what);
	check_auxv(&block->stack, execfn, what);
	check_visible(block, original->envp, marked_execfn, is_cut, what);
	check_arguments(block, what);
	CHECK_U64(ea_promotion_finish(&block->stack, &marker), 0, "%s, again", what);
	check_environment(block->stack.envp, original->envp, what);
}

/* The program's variables in their order, ours in place of its own or behind. */
static void check_promoted(const struct original *original)
{
	size_t count = 0, i;

	for (i = 0; original->envp[i]; i++)
		count++;
	CHECK(has_entry(promoted.stack.envp, original->audit), "%s is missing", original->audit);
	CHECK(has_entry(promoted.stack.envp, original->tunables), "%s is missing",
		original->tunables);
	CHECK_U64(promoted_count - count, original->added, "%s: added",
		count ? original->envp[0] : "no variable");
	CHECK(original->added % 2 == 0, "an odd number leaves a hole in the auxiliary vector");
	check_arguments(&promoted, "promoted");
}

/* @expected_execfn: what AT_EXECFN is in the end */
static void promote(const struct original *original, const char *execfn,
	const char *expected_execfn, int is_cut)
{
	const struct original kept = without_markers(original);
	struct process process;

	process_start(&process, original->envp, execfn);
	ea_promotion_try(&process.block.stack, &process.settings);
	CHECK_U64(shim_double.execs, 1, "not promoted: %s", shim_double.output);
	if (shim_double.execs) {
		check_promoted(&kept);
		check_finish(&promoted, &kept, expected_execfn, execfn, is_cut);
		process_block_free(&promoted);
	}
	process_end(&process);
}

TEST(promotion, there_and_back)
{
	size_t i;

	for (i = 0; i < COUNT_OF(originals); i++) {
		promote(&originals[i], EXECFN, EXECFN, 0);
		promote(&originals[i], EXECFN, EXECFN, 1);
	}
	for (i = 0; i < COUNT_OF(originals_with_foreign_markers); i++) {
		promote(&originals_with_foreign_markers[i], EXECFN, EXECFN, 0);
		promote(&originals_with_foreign_markers[i], EXECFN, EXECFN, 1);
	}
	for (i = 0; i < COUNT_OF(originals_of_new_glibc); i++)
		promote(&originals_of_new_glibc[i], EXECFN, EXECFN, 0);
}

TEST(promotion, file_name_of_the_program)
{
	static char path[4096];
	const char *const execfns[] = {"x", "12:3:x", "EXECALIGN_PADDING=", "LD_AUDIT=", path};
	size_t i;

	memset(path, '/', sizeof(path) - 1);
	for (i = 0; i < COUNT_OF(execfns); i++) {
		promote(&originals[2], execfns[i], execfns[i], 0);
		promote(&originals[2], execfns[i], execfns[i], 1);
	}
	/* A kernel that tells none. */
	promote(&originals[2], NULL, "/proc/self/exe", 0);
}

TEST(promotion, name_of_the_process)
{
	static const char *const names[] = {
		"x", "with:colons:1", "15-bytes-long-x", "a b\n", "12", "EXECALIGN_PADDI"};
	char before[16] = "", name[16] = "";
	size_t i;

	prctl(PR_GET_NAME, before);
	for (i = 0; i < COUNT_OF(names); i++) {
		struct process process;

		process_start(&process, originals[1].envp, EXECFN);
		prctl(PR_SET_NAME, names[i]);
		ea_promotion_try(&process.block.stack, &process.settings);
		process_end(&process);
		CHECK_U64(shim_double.execs, 1, "not promoted: %s", shim_double.output);
		if (!shim_double.execs)
			break;
		/* As the exec does. */
		prctl(PR_SET_NAME, "exe");
		check_finish(&promoted, &originals[1], EXECFN, EXECFN, 0);
		prctl(PR_GET_NAME, name);
		CHECK(!strcmp(name, names[i]), "%s, not %s", name, names[i]);
		process_block_free(&promoted);
	}
	prctl(PR_SET_NAME, before);
}

/* As `execalign run` does with setenv (cli/audited_start.c), without an exec of /proc/self/exe. */
static void build_audited(
	struct process_block *block, const struct original *original, const char *execfn)
{
	static const char *const marker[] = {"EXECALIGN_PROMOTED=u:0:", "EXECALIGN_PADDING="};
	const char *envp[VARIABLES + 5] = {NULL};
	struct ea_auxv auxv[AUXV_ENTRIES];
	const char *audit = original->audit, *tunables = original->tunables;
	size_t count, added = 1;

	for (count = 0; original->envp[count]; count++) {
		const char *entry = original->envp[count];

		envp[count] = entry;
		if (tunables && is_tunables(entry)) {
			envp[count] = tunables;
			tunables = NULL;
		} else if (audit && !strncmp(entry, "LD_AUDIT=", strlen("LD_AUDIT="))) {
			envp[count] = audit;
			audit = NULL;
		}
	}
	if (tunables)
		envp[count++] = tunables;
	if (audit)
		envp[count++] = audit;
	added += !!tunables + !!audit;
	envp[count++] = marker[0];
	if (added % 2)
		envp[count++] = marker[1];
	fill_auxv(auxv);
	process_block_build(block, arguments, (char *const *)envp, execfn, auxv);
}

static void finish_audited(const struct original *original, const char *execfn, int is_cut)
{
	struct process_block block;

	build_audited(&block, original, execfn);
	check_finish(&block, original, execfn, NULL, is_cut);
	CHECK(!execfn || ea_auxv_value(block.stack.auxv, AT_EXECFN) == (uintptr_t)block.execfn,
		"AT_EXECFN moved");
	process_block_free(&block);
}

TEST(promotion, back_from_an_audited_start)
{
	char before[16] = "", after[16] = "";
	size_t i;

	shim_double_reset();
	load_shim();
	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "audited");
	for (i = 0; i < COUNT_OF(originals); i++) {
		finish_audited(&originals[i], EXECFN, 0);
		finish_audited(&originals[i], EXECFN, 1);
		finish_audited(&originals[i], NULL, 0);
	}
	for (i = 0; i < COUNT_OF(originals_of_new_glibc); i++)
		finish_audited(&originals_of_new_glibc[i], EXECFN, 0);
	prctl(PR_GET_NAME, after);
	CHECK(!strcmp(after, "audited"), "the process's name became %s", after);
	prctl(PR_SET_NAME, before);
}

TEST(promotion, without_arguments)
{
	static char *const envp[] = {"LD_AUDIT=" SHIM, "GLIBC_TUNABLES=" TUNABLE "512", "A=1",
		"EXECALIGN_PROMOTED=0:0:", "EXECALIGN_PADDING=", NULL};
	static const char *const expected[] = {"A=1", NULL};
	struct ea_promotion_marker found;
	struct ea_auxv auxv[AUXV_ENTRIES];
	struct process_block block;

	shim_double_reset();
	load_shim();
	fill_auxv(auxv);
	process_block_build(&block, envp + 5, envp, EXECFN, auxv);
	CHECK_U64(ea_promotion_finish(&block.stack, &found), 1, "finish");
	check_environment(block.stack.envp, expected, "no arguments");
	check_auxv(&block.stack, EXECFN, "no arguments");
	check_visible(&block, expected, NULL, 0, "no arguments");
	process_block_free(&block);
}

/* Whatever there is: all markers go, and a list is only cut where its last item is ours. */
TEST(promotion, what_is_not_ours_stays)
{
	static const struct {
		char *const envp[VARIABLES];
		const char *expected[VARIABLES];
	} rows[] = {
		{{"LD_AUDIT=/a.so", "GLIBC_TUNABLES=glibc.malloc.check=3",
			 "EXECALIGN_PADDING=", "EXECALIGN_PROMOTED=0:0:"},
			{"LD_AUDIT=/a.so", "GLIBC_TUNABLES=glibc.malloc.check=3"}},
		{{"LD_AUDIT=" SHIM ":/b.so", "GLIBC_TUNABLES=" TUNABLE "512:glibc.malloc.check=3",
			 "EXECALIGN_PADDING=", "EXECALIGN_PROMOTED=u:0:"},
			{"LD_AUDIT=" SHIM ":/b.so",
				"GLIBC_TUNABLES=" TUNABLE "512:glibc.malloc.check=3"}},
		{{"LD_AUDIT=/a.so:/b.so", "GLIBC_TUNABLES=glibc.malloc.check=3:" TUNABLE "512",
			 "EXECALIGN_PADDING=", "EXECALIGN_PROMOTED=0:0:"},
			{"LD_AUDIT=/a.so:/b.so", "GLIBC_TUNABLES=glibc.malloc.check=3"}},
		{{"LD_AUDIT=/a.so:" SHIM,
			 "GLIBC_TUNABLES=", "EXECALIGN_PADDING=", "EXECALIGN_PROMOTED=0:0:"},
			{"LD_AUDIT=/a.so", "GLIBC_TUNABLES="}},
		{{"LD_AUDIT=", "EXECALIGN_PADDING=", "EXECALIGN_PROMOTED=0:0:"}, {"LD_AUDIT="}},
		{{"EXECALIGN_PROMOTED=0:0:", "A=1", "EXECALIGN_PADDING=1", "EXECALIGN_PROMOTED=x",
			 "LD_AUDIT=" SHIM, "B=2", "EXECALIGN_PADDING=2", "EXECALIGN_PADDING="},
			{"A=1", "B=2"}},
	};
	struct ea_auxv auxv[AUXV_ENTRIES];
	size_t i;

	shim_double_reset();
	load_shim();
	fill_auxv(auxv);
	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_promotion_marker found;
		struct process_block block;
		char what[32];

		snprintf(what, sizeof(what), "row %zu", i);
		process_block_build(&block, arguments, rows[i].envp, EXECFN, auxv);
		CHECK_U64(ea_promotion_finish(&block.stack, &found), 1, "%s", what);
		check_environment(block.stack.envp, rows[i].expected, what);
		check_auxv(&block.stack, EXECFN, what);
		check_visible(&block, rows[i].expected, NULL, 0, what);
		process_block_free(&block);
	}
}

TEST(promotion, a_marker_that_is_none_changes_nothing)
{
	static const char *const markers[] = {
		"A=1",
		"EXECALIGN_PROMOTED",
		"EXECALIGN_PROMOTED=",
		"EXECALIGN_PROMOTED=0",
		"EXECALIGN_PROMOTED=0:",
		"EXECALIGN_PROMOTED=0:0",
		"EXECALIGN_PROMOTED=0::x",
		"EXECALIGN_PROMOTED=x:0:",
		"EXECALIGN_PROMOTED=0:1:",
		"EXECALIGN_PROMOTED=0:5:name",
		"EXECALIGN_PROMOTED=0:16:0123456789abcdef/bin/x",
		"EXECALIGN_PROMOTED=0:-1:/bin/x",
		"EXECALIGN_PROMOTED=0:18446744073709551615:/bin/x",
		"EXECALIGN_PROMOTED=0:18446744073709551616:/bin/x",
		"EXECALIGN_PROMOTED=0:99999999999999999999:/bin/x",
		"EXECALIGN_PROMOTED=99999999999999999999:0:/bin/x",
		"EXECALIGN_PROMOTED=u",
		"EXECALIGN_PROMOTED=u:",
		"EXECALIGN_PROMOTED=u:0",
		"EXECALIGN_PROMOTED=u0:0:",
		"EXECALIGN_PROMOTED=uu:0:",
		"EXECALIGN_PROMOTED2=0:0:",
	};
	struct ea_auxv auxv[AUXV_ENTRIES];
	size_t i;

	fill_auxv(auxv);
	for (i = 0; i < COUNT_OF(markers); i++) {
		char *const envp[] = {"LD_AUDIT=/a.so:" SHIM, "GLIBC_TUNABLES=" TUNABLE "512",
			(char *)markers[i], NULL};
		struct ea_promotion_marker found = {77, 77, 77};
		struct process_block block;
		char *before;

		process_block_build(&block, arguments, envp, EXECFN, auxv);
		before = malloc(block.bytes);
		memcpy(before, block.memory, block.bytes);
		ea_promotion_find(block.stack.envp, &found);
		CHECK(!found.is_set && !found.seccomp_filters && !found.has_loaded, "%s",
			markers[i]);
		found = (struct ea_promotion_marker){77, 77, 77};
		CHECK_U64(ea_promotion_finish(&block.stack, &found), 0, "%s", markers[i]);
		CHECK(!memcmp(before, block.memory, block.bytes), "%s changed the stack",
			markers[i]);
		CHECK(!found.is_set && !found.seccomp_filters && !found.has_loaded, "%s",
			markers[i]);
		free(before);
		process_block_free(&block);
	}
}

TEST(promotion, marker)
{
	static const struct {
		const char *marker;
		int filters, has_loaded;
	} rows[] = {
		{"EXECALIGN_PROMOTED=0:0:", 0, 0},
		{"EXECALIGN_PROMOTED=3:0:/bin/x", 3, 0},
		{"EXECALIGN_PROMOTED=12:4:name", 12, 1},
		{"EXECALIGN_PROMOTED=1:15:0123456789abcde/bin/x", 1, 1},
		/* `execalign run` has not tried the calls. */
		{"EXECALIGN_PROMOTED=u:0:", -1, 0},
		{"EXECALIGN_PROMOTED=u:4:name/bin/x", -1, 1},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		char *const envp[] = {"A=1", (char *)rows[i].marker, NULL};
		struct ea_promotion_marker found = {77, 77, 77};

		ea_promotion_find(envp, &found);
		CHECK_U64(found.is_set, 1, "%s", rows[i].marker);
		CHECK_U64(found.seccomp_filters, rows[i].filters, "%s", rows[i].marker);
		/* Only a process that was there before the exec has a name to hand on. */
		CHECK_U64(found.has_loaded, rows[i].has_loaded, "%s", rows[i].marker);
	}
}

TEST(promotion, marker_tells_the_filters)
{
	struct ea_promotion_marker found = {77, 77, 77};
	struct process process;

	process_start(&process, originals[0].envp, EXECFN);
	shim_double.seccomp_filters = 5;
	ea_promotion_try(&process.block.stack, &process.settings);
	process_end(&process);
	CHECK_U64(shim_double.execs, 1, "not promoted: %s", shim_double.output);
	if (!shim_double.execs)
		return;
	CHECK_U64(shim_double.seccomp_must_try, 1, "EXECALIGN_PROMOTE=always");
	ea_promotion_find(promoted.stack.envp, &found);
	CHECK_U64(found.is_set, 1, "no marker");
	CHECK_U64(found.seccomp_filters, 5, "filters");
	found = (struct ea_promotion_marker){77, 77, 77};
	CHECK_U64(ea_promotion_finish(&promoted.stack, &found), 1, "finish");
	CHECK_U64(found.is_set, 1, "finish");
	CHECK_U64(found.seccomp_filters, 5, "filters");
	process_block_free(&promoted);
}

/* The static TLS of a start-up library, and what its alignment may cost, is asked for. */
TEST(promotion, static_tls)
{
	/* 40 bytes and twice 7 on top. */
	static const char *const tunables[] = {"GLIBC_TUNABLES=" TUNABLE "566",
		"GLIBC_TUNABLES=" TUNABLE "1000:" TUNABLE "1054",
		"GLIBC_TUNABLES=" TUNABLE "0x3e8:" TUNABLE "1054",
		"GLIBC_TUNABLES=" TUNABLE "01750:" TUNABLE "1054",
		"GLIBC_TUNABLES=" TUNABLE "no:" TUNABLE "566"};
	char *const rows[][2] = {{NULL}, {"GLIBC_TUNABLES=" TUNABLE "1000", NULL},
		{"GLIBC_TUNABLES=" TUNABLE "0x3e8", NULL},
		{"GLIBC_TUNABLES=" TUNABLE "01750", NULL}, {"GLIBC_TUNABLES=" TUNABLE "no", NULL}};
	char path[] = "/tmp/execalign-unit-XXXXXX";
	int fd = mkstemp(path);
	struct elf_file elf;
	size_t i;

	/* 40 bytes, aligned to 8. */
	elf_library(&elf, MACHINE);
	CHECK(fd >= 0 && write(fd, &elf, sizeof(elf)) == sizeof(elf), "no temporary file");
	CHECK(fd >= 0 && !ftruncate(fd, (off_t)elf.file_bytes), "no temporary file");
	for (i = 0; fd >= 0 && i < COUNT_OF(rows); i++) {
		struct link_map library = {.l_name = path};
		struct process process;

		process_start(&process, (const char *const *)rows[i], EXECFN);
		maps[1].l_next = &library;
		/* Not ld.so's and not misplaced; whether it is makes no difference here. */
		ea_promotion_try(&process.block.stack, &process.settings);
		process_end(&process);
		CHECK_U64(shim_double.execs, 1, "not promoted: %s", shim_double.output);
		if (!shim_double.execs)
			break;
		CHECK(has_entry(promoted.stack.envp, tunables[i]), "no %s", tunables[i]);
		process_block_free(&promoted);
	}
	close(fd);
	unlink(path);
}

#if defined(__x86_64__)
#define TCB_ALIGN_BYTES 64
#else
#define TCB_ALIGN_BYTES 16
#endif

/* glibc starts no library under an auditor that is aligned beyond the thread pointer and main. */
TEST(promotion, alignment_of_static_tls)
{
	static const struct {
		uint64_t main_align_bytes, align_bytes;
		uint64_t expected_bytes; /* UINT64_MAX: none, a reason */
	} rows[] = {
		{0, 0, 40},
		{0, 1, 40},
		{1, 8, 54},
		{0, TCB_ALIGN_BYTES, 40 + 2 * (TCB_ALIGN_BYTES - 1)},
		{0, 2 * TCB_ALIGN_BYTES, UINT64_MAX},
		{TCB_ALIGN_BYTES / 2, 2 * TCB_ALIGN_BYTES, UINT64_MAX},
		{4096, 4096, 40 + 2 * 4095},
		{4096, 64, 40 + 2 * 63},
		{4096, 8192, UINT64_MAX},
	};
	struct link_map vdso = {.l_name = (char *)"linux-vdso.so.1"};
	struct link_map library = {.l_name = (char *)"/nonexistent/libtls.so"};
	struct ea_startup startup = {.main_map = maps};
	struct elf_file elf;
	uint64_t bytes;
	size_t i;

	CHECK_U64(ea_geometry(MACHINE, 4096, &startup.geometry), 0, "geometry");
	for (i = 0; i < COUNT_OF(rows); i++) {
		const char *reason;

		shim_double_reset();
		load_shim();
		maps[1].l_next = &vdso;
		vdso.l_next = &library;
		elf_library(&elf, MACHINE);
		elf.phdrs[LIBRARY_TLS].p_align = rows[i].align_bytes;
		shim_double_serve(library.l_name, &elf, sizeof(elf), elf.file_bytes);
		reason = ea_startup_tls(&startup, rows[i].main_align_bytes, &bytes);
		CHECK_U64(!reason, rows[i].expected_bytes != UINT64_MAX, "row %zu", i);
		if (!reason)
			CHECK_U64(bytes, rows[i].expected_bytes, "row %zu", i);
	}
	/* Headers that cannot be read. */
	shim_double_reset();
	load_shim();
	CHECK(!ea_startup_tls(&startup, 0, &bytes), "the vdso has no file");
	maps[1].l_next = &library;
	library.l_next = NULL;
	CHECK(ea_startup_tls(&startup, 0, &bytes), "no file");
	shim_double_serve(library.l_name, "#!/bin/sh", 9, 4096);
	CHECK(ea_startup_tls(&startup, 0, &bytes), "no ELF file");
}

/* A tracer would meet an exec that it does not expect, unless the user wants it. */
TEST(promotion, traced)
{
	static const struct {
		enum ea_promote promote;
		const char *status;
		const char *logged;
	} rows[] = {
		{EA_PROMOTE_AUTO, "TracerPid:\t0\nSeccomp:\t0\n", "exec was refused"},
		{EA_PROMOTE_AUTO, "TracerPid:\t77\nSeccomp:\t0\n", "the process is being traced"},
		{EA_PROMOTE_ALWAYS, "TracerPid:\t77\nSeccomp:\t0\n", "exec was refused"},
		/* What /proc does not tell is not held against it. */
		{EA_PROMOTE_AUTO, "", "exec was refused"},
	};
	struct link_map library = {.l_name = (char *)"/nonexistent/library.so", .l_addr = 0x1000};
	struct elf_file elf;
	size_t i;

	elf_library(&elf, MACHINE);
	for (i = 0; i < COUNT_OF(rows); i++) {
		struct process process;

		process_start(&process, originals[1].envp, EXECFN);
		shim_double.on_exec = NULL;
		/* Misplaced, so that there is something to gain. */
		shim_double_serve(library.l_name, &elf, sizeof(elf), elf.file_bytes);
		maps[1].l_next = &library;
		shim_double_serve(EA_STATUS_OF_THREAD, rows[i].status, strlen(rows[i].status),
			strlen(rows[i].status));
		process.settings.promote = rows[i].promote;
		process.settings.block_bytes = 64 * EA_KIB;
		ea_promotion_try(&process.block.stack, &process.settings);
		process_end(&process);
		CHECK(strstr(shim_double.output, rows[i].logged), "row %zu: %s", i,
			shim_double.output);
		CHECK_U64(shim_double.execs, !strcmp(rows[i].logged, "exec was refused"), "row %zu",
			i);
		CHECK_U64(shim_double.seccomp_must_try, rows[i].promote == EA_PROMOTE_ALWAYS,
			"row %zu", i);
	}
}

/* glibc from 2.39 on ignores all of a malformed string. */
TEST(promotion, malformed_tunables)
{
	static const struct {
		const char *variable;
		int is_malformed;
	} rows[] = {
		{"GLIBC_TUNABLES=", 0},
		{"GLIBC_TUNABLES=a.b=1", 0},
		{"GLIBC_TUNABLES=a.b=1:c.d=2", 0},
		{"GLIBC_TUNABLES=a.b=", 0},
		/* With ours behind them, glibc passes over these. */
		{"GLIBC_TUNABLES=a.b", 0},
		{"GLIBC_TUNABLES=a.b=1:c.d", 0},
		{"GLIBC_TUNABLES=a.b=1:", 0},
		{"GLIBC_TUNABLES=a.b=1=2", 1},
		{"GLIBC_TUNABLES=a.b:c.d=2", 1},
		{"GLIBC_TUNABLES=a.b=1=2:c.d=3", 1},
		{"GLIBC_TUNABLES=a.b=1:c.d=2=3", 1},
		{"GLIBC_TUNABLES=a.b=1::c.d=2", 1},
		{"GLIBC_TUNABLES=:a.b=1", 1},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		const char *const envp[] = {rows[i].variable, NULL};
		struct process process;

		process_start(&process, envp, EXECFN);
		shim_double.on_exec = NULL;
		ea_promotion_try(&process.block.stack, &process.settings);
		process_end(&process);
		CHECK_U64(shim_double.execs, !rows[i].is_malformed, "%s", rows[i].variable);
		CHECK(!rows[i].is_malformed ||
				strstr(shim_double.output, "\"GLIBC_TUNABLES is malformed\""),
			"%s: %s", rows[i].variable, shim_double.output);
	}
}

/* struct obstacle - a change to a process that could be promoted, and what is then logged */
struct obstacle {
	const char *name, *logged;
	void (*put)(struct process *process);
};

static void put_never(struct process *process)
{
	process->settings.promote = EA_PROMOTE_NEVER;
}

static void put_auto(struct process *process)
{
	process->settings.promote = EA_PROMOTE_AUTO;
}

static void put_odd_page_size(struct process *process)
{
	ea_auxv_find(process->block.stack.auxv, AT_PAGESZ)->value = 8192;
}

static void put_auditor(struct process *process)
{
	process->block.stack.envp[0] = (char *)"LD_AUDIT=/a.so:" SHIM ":/b.so";
}

static void put_path_with_colon(struct process *process)
{
	maps[1].l_name = (char *)"/opt/a:b/libexecalign.so";
}

static void put_bare_name(struct process *process)
{
	maps[1].l_name = (char *)"libexecalign.so";
}

static void put_filter(struct process *process)
{
	shim_double.seccomp_reason = "a filter of the program's own";
}

static void put_other_headers(struct process *process)
{
	/* Some bytes that are no program headers of this program. */
	ea_auxv_find(process->block.stack.auxv, AT_PHDR)->value = (uintptr_t)originals;
}

static void put_other_count(struct process *process)
{
	ea_auxv_find(process->block.stack.auxv, AT_PHNUM)->value++;
}

static void put_no_shim(struct process *process)
{
	maps[1].l_ld = NULL;
}

static void put_unreadable_library(struct process *process)
{
	static struct link_map library = {.l_name = (char *)"/nonexistent/library.so"};

	maps[1].l_next = &library;
}

static void put_no_memory(struct process *process)
{
	shim_double.fail_number = SYS_mmap;
	shim_double.fail_result = -ENOMEM;
}

static void put_nothing(struct process *process)
{
}

static const struct obstacle obstacles[] = {
	{"never", "result=declined reason=\"EXECALIGN_PROMOTE=never\"\n", put_never},
	{"auto", "result=declined reason=\"nothing to gain\"\n", put_auto},
	{"page size", "result=declined reason=\"unknown base page size\"\n", put_odd_page_size},
	{"auditor", "result=declined reason=\"LD_AUDIT has the auditor already\"\n", put_auditor},
	{"colon", "result=declined reason=\"the shim's path cannot be named in LD_AUDIT\"\n",
		put_path_with_colon},
	{"bare name", "result=declined reason=\"the shim's path cannot be named in LD_AUDIT\"\n",
		put_bare_name},
	{"filter", "result=declined reason=\"a filter of the program's own\"\n", put_filter},
	{"headers",
		"result=declined reason=\"/proc/self/exe is not this program: started as ld.so "
		"PROGRAM, or emulated\"\n",
		put_other_headers},
	{"count of headers",
		"result=declined reason=\"/proc/self/exe is not this program: started as ld.so "
		"PROGRAM, or emulated\"\n",
		put_other_count},
	{"unreadable library",
		"result=declined reason=\"cannot tell the static TLS of a library\"\n",
		put_unreadable_library},
	{"not in the list",
		"result=declined reason=\"the shim's path cannot be named in LD_AUDIT\"\n",
		put_no_shim},
	{"memory", "result=failed reason=\"no memory for the environment\"\n", put_no_memory},
	{"exec", "result=failed reason=\"exec was refused\" errno=1\n", put_nothing},
};

/* Whatever stands in the way: the program goes on with the stack that it has, and it is logged. */
TEST(promotion, nothing_changes_when_there_is_none)
{
	static const char *const envp[] = {"A=1", "LD_AUDIT=/a.so", "B=2", NULL};
	size_t i;

	for (i = 0; i < COUNT_OF(obstacles); i++) {
		const struct obstacle *obstacle = &obstacles[i];
		struct process process;
		const char *logged;
		char *before;

		process_start(&process, envp, EXECFN);
		shim_double.on_exec = NULL;
		obstacle->put(&process);
		before = malloc(process.block.bytes);
		memcpy(before, process.block.memory, process.block.bytes);
		ea_promotion_try(&process.block.stack, &process.settings);

		CHECK(!memcmp(before, process.block.memory, process.block.bytes),
			"%s: the stack changed", obstacle->name);
		CHECK_U64(shim_double.execs, obstacle->put == put_nothing, "%s", obstacle->name);
		CHECK_U64(shim_double.mmaps, shim_double.munmaps, "%s: memory", obstacle->name);
		logged = strstr(shim_double.output, "result=");
		CHECK(!strcmp(logged ? logged : "", obstacle->logged), "%s: %s", obstacle->name,
			shim_double.output);
		CHECK(!logged || strstr(shim_double.output, " event=promotion "), "%s: %s",
			obstacle->name, shim_double.output);
		free(before);
		process_end(&process);
	}
}

TEST(promotion, no_log_without_a_target)
{
	struct process process;

	process_start(&process, originals[0].envp, EXECFN);
	shim_double.on_exec = NULL;
	process.settings.log = NULL;
	ea_promotion_try(&process.block.stack, &process.settings);
	CHECK_U64(shim_double.execs, 1, "not tried");
	CHECK_U64(shim_double.writes, 0, "%s", shim_double.output);
	process_end(&process);
}

/* As loader-patch/ builds it. */
static void make_loader_place(void)
{
	static const uint32_t note[] = {10, 8, 1, 0x63657865, 0x67696c61, 0x6e, 1, 1};
	struct elf_file elf;

	elf_begin(&elf, MACHINE);
	elf_add(&elf, PT_LOAD, PF_R, 0, 0, sizeof(loader), sizeof(loader));
	elf_add(&elf, PT_NOTE, PF_R, offsetof(__typeof__(loader), note),
		offsetof(__typeof__(loader), note), sizeof(note), sizeof(note));
	memcpy(&loader, &elf, sizeof(elf.ehdr) + 2 * sizeof(elf.phdrs[0]));
	memcpy(loader.note, note, sizeof(note));
}

TEST(promotion, loader_that_places)
{
	static const char *const switched_off[] = {
		"GLIBC_TUNABLES=glibc.elf.exec_align=0", "A=1", NULL};
	struct process process;

	make_loader_place();
	process_start(&process, originals[1].envp, EXECFN);
	ea_promotion_try(&process.block.stack, &process.settings);
	CHECK_U64(shim_double.execs, 0, "promoted for nothing");
	CHECK(strstr(shim_double.output, "result=declined") &&
			strstr(shim_double.output, "the loader places text by itself"),
		"the log: %s", shim_double.output);
	process_end(&process);

	process_start(&process, switched_off, EXECFN);
	ea_promotion_try(&process.block.stack, &process.settings);
	CHECK_U64(shim_double.execs, 1, "not promoted: %s", shim_double.output);
	if (shim_double.execs)
		process_block_free(&promoted);
	process_end(&process);
	memset(&loader, 0, sizeof(loader));
}
