/* SPDX-License-Identifier: MIT */
/*
 * test_shim_process.c - shim/process.h: the vectors on the stack, and how far to shift at random;
 * shim/status.h
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "process_block.h"
#include "shim/process.h"
#include "shim/status.h"
#include "shim_double.h"
#include "unit.h"

#define K EA_KIB
#define M EA_MIB

/* linux/personality.h */
#define ADDR_NO_RANDOMIZE 0x0040000

TEST(process, stack)
{
	static char *const strings[] = {"one", "two", "three", NULL};
	static const struct ea_auxv auxv[] = {
		{AT_PAGESZ, 4096}, {AT_IGNORE, 0}, {AT_BASE, 77}, {AT_BASE, 78}, {AT_NULL, 79}};
	struct process_block block;
	size_t argc, envc;

	for (argc = 0; argc <= 3; argc++)
		for (envc = 0; envc <= 3; envc++) {
			struct ea_stack stack = {0};

			process_block_build(&block, strings + 3 - argc, strings + 3 - envc,
				"/bin/x", auxv);
			ea_stack_find(&stack, block.stack.argv, block.stack.envp);
			CHECK(stack.argv == block.stack.argv && stack.envp == block.stack.envp,
				"argc %zu envc %zu", argc, envc);
			CHECK(stack.auxv == block.stack.auxv, "argc %zu envc %zu", argc, envc);
			CHECK_U64(ea_auxv_value(stack.auxv, AT_PAGESZ), 4096, "page");
			CHECK_U64(ea_auxv_value(stack.auxv, AT_EXECFN),
				(uintptr_t)block.execfn, "execfn");
			process_block_free(&block);
		}
}

/* As ld.so leaves a shortened environment behind: with more than one NULL. */
TEST(process, stack_with_a_shortened_environment)
{
	static char *const strings[] = {"one", "two", "three", "four", NULL};
	static const struct ea_auxv auxv[] = {{AT_IGNORE, 0}, {AT_SECURE, 1}, {AT_NULL, 0}};
	struct process_block block;
	size_t kept, i;

	for (kept = 0; kept <= 4; kept++) {
		struct ea_stack stack = {0};

		process_block_build(&block, strings, strings, "/bin/x", auxv);
		for (i = kept; i < 4; i++)
			block.stack.envp[i] = NULL;
		ea_stack_find(&stack, block.stack.argv, block.stack.envp);
		CHECK(stack.auxv == block.stack.auxv, "%zu kept", kept);
		process_block_free(&block);
	}
}

TEST(process, privileged)
{
	static const struct {
		struct ea_auxv auxv[4];
		int expected;
	} rows[] = {
		{{{AT_PAGESZ, 4096}, {AT_SECURE, 0}, {AT_NULL, 0}}, 0},
		{{{AT_SECURE, 0}, {AT_IGNORE, 0}, {AT_PAGESZ, 65536}, {AT_NULL, 0}}, 0},
		{{{AT_PAGESZ, 4096}, {AT_SECURE, 1}, {AT_NULL, 0}}, 1},
		{{{AT_SECURE, 2}, {AT_PAGESZ, 4096}, {AT_NULL, 0}}, 1},
		/* What cannot be told is taken for the worse. */
		{{{AT_PAGESZ, 4096}, {AT_NULL, 0}, {AT_SECURE, 0}}, 1},
		{{{AT_SECURE, 0}, {AT_NULL, 0}, {AT_PAGESZ, 4096}}, 1},
		{{{AT_NULL, 0}, {AT_SECURE, 0}, {AT_PAGESZ, 4096}}, 1},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_stack stack = {.auxv = (struct ea_auxv *)rows[i].auxv};

		CHECK_U64(!!ea_stack_is_privileged(&stack), rows[i].expected, "row %zu", i);
	}
}

TEST(process, status)
{
	static const struct {
		const char *text;
		int expected;
		struct ea_status status;
	} rows[] = {
		{"Name:\tx\nPPid:\t12\nTracerPid:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n", 0,
			{12, 0, 0}},
		{"PPid:\t0\nTracerPid:\t345\nSeccomp:\t2\nSeccomp_filters:\t17\n", 0,
			{0, 345, 17}},
		/* Kernels before 5.9. */
		{"PPid:\t1\nTracerPid:\t0\nSeccomp:\t0\n", 0, {1, 0, 0}},
		{"PPid:\t1\nTracerPid:\t0\nSeccomp:\t2\n", 0, {1, 0, 1}},
		/* A name that looks like a line, as the kernel quotes it. */
		{"Name:\tx\\nTracerPid:\t9\nTracerPid:\t0\nSeccomp:\t0\n", 0, {0, 0, 0}},
		/* Kernels without seccomp. */
		{"PPid:\t1\nTracerPid:\t7\n", 0, {1, 7, 0}},
		/* Not a status file. */
		{"", -ENOENT, {0, 0, 0}},
	};
	struct ea_status status;
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		shim_double_reset();
		shim_double_serve(EA_STATUS_OF_THREAD, rows[i].text, strlen(rows[i].text),
			strlen(rows[i].text));
		status = (struct ea_status){9, 9, 9};
		CHECK_U64(ea_status_read(EA_STATUS_OF_THREAD, &status), rows[i].expected, "row %zu",
			i);
		CHECK_U64(status.parent, rows[i].status.parent, "row %zu", i);
		CHECK_U64(status.tracer, rows[i].status.tracer, "row %zu", i);
		CHECK_U64(status.filters, rows[i].status.filters, "row %zu", i);
	}
	shim_double_reset();
	CHECK_U64(ea_status_read("/nonexistent/status", &status), -ENOENT, "no file");
}

TEST(process, auxv)
{
	struct ea_auxv auxv[] = {{AT_PAGESZ, 4096}, {AT_IGNORE, 0}, {AT_BASE, 77}, {AT_BASE, 78},
		{AT_SECURE, 0}, {AT_NULL, 79}, {AT_EXECFN, 80}};

	CHECK(ea_auxv_find(auxv, AT_PAGESZ) == &auxv[0], "the first");
	CHECK(ea_auxv_find(auxv, AT_BASE) == &auxv[2], "the first of two");
	CHECK(ea_auxv_find(auxv, AT_SECURE) == &auxv[4], "the last");
	CHECK(!ea_auxv_find(auxv, AT_EXECFN), "behind the end");
	CHECK(!ea_auxv_find(auxv, AT_PHDR), "not there");
	CHECK(!ea_auxv_find(auxv, AT_NULL), "the end is no entry");
	CHECK_U64(ea_auxv_value(auxv, AT_BASE), 77, "value");
	CHECK_U64(ea_auxv_value(auxv, AT_EXECFN), 0, "without one");
	CHECK_U64(ea_auxv_value(auxv + 5, AT_BASE), 0, "an empty vector");
}

TEST(process, shift_blocks)
{
	static const uint64_t x86 = 0x7ffc12345678, arm48 = 0xffffd1234567, arm39 = 0x7fd1234567;
	static const struct {
		uint16_t machine;
		uint64_t page_bytes, block_bytes, stack_addr, expected;
	} rows[] = {
		/* x86-64: 28 bits do not fit into a 512th of 128 TiB. */
		{EM_X86_64, 4 * K, 2 * M, x86, 1 << 17},
		{EM_X86_64, 4 * K, 64 * K, x86, 1 << 22},
		{EM_X86_64, 4 * K, 32 * M, x86, 1 << 13},
		/* arm64, 48 bits: the kernel's 18, 16 and 14 bits do. */
		{EM_AARCH64, 4 * K, 64 * K, arm48, 1 << 18},
		{EM_AARCH64, 4 * K, 2 * M, arm48, 1 << 18},
		{EM_AARCH64, 16 * K, 2 * M, arm48, 1 << 16},
		{EM_AARCH64, 16 * K, 32 * M, arm48, 1 << 14},
		{EM_AARCH64, 64 * K, 2 * M, arm48, 1 << 14},
		/* 39 bits of address space leave 1 GiB. */
		{EM_AARCH64, 4 * K, 64 * K, arm39, 1 << 14},
		{EM_AARCH64, 4 * K, 2 * M, arm39, 1 << 9},
		{EM_AARCH64, 16 * K, 32 * M, arm39, 1 << 5},
		/* Where not even one block fits there is no shift. */
		{EM_X86_64, 4 * K, 2 * M, 0x3fffffff, 1},
		{EM_X86_64, 4 * K, 2 * M, 0x1fffffff, 0},
		{EM_X86_64, 4 * K, 2 * M, 0, 0},
	};
	struct ea_geometry geometry = {0};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		shim_double_reset();
		CHECK_U64(ea_geometry(rows[i].machine, rows[i].page_bytes, &geometry), 0, "row %zu",
			i);
		CHECK_U64(ea_process_shift_blocks(&geometry, rows[i].block_bytes,
				  rows[i].stack_addr),
			rows[i].expected, "row %zu", i);
		/* gdb and setarch -R */
		shim_double.personality = ADDR_NO_RANDOMIZE;
		CHECK_U64(ea_process_shift_blocks(&geometry, rows[i].block_bytes,
				  rows[i].stack_addr),
			0, "row %zu without ASLR", i);
	}
}

TEST(process, release_that_cannot_be_told)
{
	struct ea_release release = {9, 9};

	shim_double_reset();
	ea_process_release(&release);
	CHECK(release.major > 0, "no release");
	shim_double.fail_number = SYS_uname;
	shim_double.fail_result = -ENOSYS;
	ea_process_release(&release);
	CHECK(!release.major && !release.minor, "%u.%u from nowhere", release.major, release.minor);
}
