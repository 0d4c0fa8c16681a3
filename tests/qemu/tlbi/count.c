// SPDX-License-Identifier: MIT
/*
 * count.c - a plugin for QEMU that counts the TLBI instructions that an arm64 guest executes
 *
 *	qemu-system-aarch64 -plugin count.so,out=FILE ...
 *
 * A broadcast TLBI invalidates entries in the TLBs of all CPUs: the one that executes it waits until
 * all have done so, and the others are disturbed. A local one concerns its own CPU. The guest marks the
 * beginning and the end of what is to be counted (marks.h). At an end, a line is appended to FILE:
 *
 *	broadcast_all=N broadcast_asid=N broadcast_page=N broadcast_range=N local_all=N ...
 *
 * all: of everything that this exception level translates. asid: of one address space. page: of one
 * address. range: of a range. What is for hypervisors is counted as all.
 *
 * QEMU asks about instructions once, when it translates them; then only what is counted costs anything.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "marks.h"
#include "qemu_plugin.h"

enum { ALL, ASID, PAGE, RANGE, KINDS };
static const char *const kind_names[KINDS] = {"all", "asid", "page", "range"};
static const char *const scope_names[] = {"local", "broadcast"};

static uint64_t counts[2][KINDS];
static FILE *out;

PLUGIN_EXPORT int qemu_plugin_version = PLUGIN_API;

/* A field of bits of an instruction. */
static unsigned int bits(uint32_t instruction, unsigned int low, unsigned int width)
{
	return instruction >> low & ((1U << width) - 1);
}

/*
 * TLBI is SYS with CRn 8, or 9 where FEAT_XS gives each another form. CRm says how far it reaches:
 * 1, 3 and 7 are outer shareable, inner shareable and local; 2, 5 and 6 are the same for ranges.
 */
static bool is_tlbi(uint32_t instruction)
{
	unsigned int crn = bits(instruction, 12, 4);

	return (instruction & 0xfff80000) == 0xd5080000 && (crn == 8 || crn == 9);
}

/* By intermediate physical address, for a hypervisor's stage 2: CRm and op2 mix reach and kind. */
static bool is_stage_2(uint32_t instruction)
{
	unsigned int crm = bits(instruction, 8, 4);

	return bits(instruction, 16, 3) == 4 && (crm == 0 || crm == 4);
}

static bool is_broadcast(uint32_t instruction)
{
	unsigned int crm = bits(instruction, 8, 4), op2 = bits(instruction, 5, 3);

	if (is_stage_2(instruction) && crm == 4)
		return op2 == 0 || op2 == 3 || op2 == 4 || op2 == 7;
	return crm != 6 && crm != 7;
}

static int kind_of(uint32_t instruction)
{
	unsigned int op1 = bits(instruction, 16, 3), crm = bits(instruction, 8, 4);
	unsigned int op2 = bits(instruction, 5, 3);

	if (op1 != 0)
		return ALL;
	if (crm == 2 || crm == 5 || crm == 6)
		return RANGE;
	/* VMALLE1, VAE1, ASIDE1, VAAE1, -, VALE1, -, VAALE1 */
	return op2 == 0 ? ALL : op2 == 2 ? ASID : PAGE;
}

static bool is_hint(uint32_t instruction, unsigned int number)
{
	return instruction == (0xd503201f | number << 5);
}

/* CPUs are threads of QEMU. */
static void count(unsigned int vcpu, void *counter)
{
	__atomic_fetch_add((uint64_t *)counter, 1, __ATOMIC_RELAXED);
}

static void begin(unsigned int vcpu, void *data)
{
	for (int scope = 0; scope < 2; scope++)
		for (int kind = 0; kind < KINDS; kind++)
			__atomic_store_n(&counts[scope][kind], 0, __ATOMIC_RELAXED);
}

static void end(unsigned int vcpu, void *data)
{
	const char *separator = "";

	for (int scope = 1; scope >= 0; scope--) {
		for (int kind = 0; kind < KINDS; kind++) {
			uint64_t value = __atomic_load_n(&counts[scope][kind], __ATOMIC_RELAXED);

			fprintf(out, "%s%s_%s=%llu", separator, scope_names[scope],
				kind_names[kind], (unsigned long long)value);
			separator = " ";
		}
	}
	fputc('\n', out);
	fflush(out);
}

static uint32_t read_instruction(const struct qemu_plugin_insn *instruction)
{
	uint32_t value = 0;

#if PLUGIN_API < 3
	memcpy(&value, qemu_plugin_insn_data(instruction), sizeof(value));
#else
	qemu_plugin_insn_data(instruction, &value, sizeof(value));
#endif
	return value;
}

static void translated(uint64_t id, struct qemu_plugin_tb *block)
{
	size_t length = qemu_plugin_tb_n_insns(block);

	for (size_t i = 0; i < length; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		uint32_t value = read_instruction(instruction);
		void (*executed)(unsigned int vcpu, void *data) = NULL;
		void *data = NULL;

		if (is_tlbi(value)) {
			executed = count;
			data = &counts[is_broadcast(value)][kind_of(value)];
		} else if (is_hint(value, MARK_BEGIN)) {
			executed = begin;
		} else if (is_hint(value, MARK_END)) {
			executed = end;
		}
		if (executed)
			qemu_plugin_register_vcpu_insn_exec_cb(
				instruction, executed, QEMU_PLUGIN_CB_NO_REGS, data);
	}
}

int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc, char **argv)
{
	if (argc != 1 || strncmp(argv[0], "out=", 4) != 0) {
		fprintf(stderr, "count: usage: -plugin count.so,out=FILE\n");
		return 1;
	}
	out = fopen(argv[0] + 4, "ae");
	if (!out) {
		perror(argv[0] + 4);
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
