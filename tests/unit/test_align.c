/* SPDX-License-Identifier: MIT */
/*
 * test_align.c - core/align.h: what p_align could do for a text, and what it was
 */
#include <errno.h>
#include <string.h>

#include "core/align.h"
#include "core/block.h"
#include "elf_builder.h"
#include "unit.h"

#define K EA_KIB
#define M EA_MIB

/* struct fault_case - a file whose first segment is at @base, and its text */
struct fault_case {
	uint16_t type;
	uint64_t base, vaddr, offset, block_bytes;
	enum ea_fault fault;
	uint64_t distance_bytes;
};

static const struct fault_case faults[] = {
	{ET_DYN, 0, 0x1000, 0x1000, 2 * M, EA_FAULT_NONE, 0},
	{ET_DYN, 0, 0x201000, 0x1000, 2 * M, EA_FAULT_NONE, 0},
	/* lld with its default of 4K pages. */
	{ET_DYN, 0, 0x2000, 0x1000, 2 * M, EA_FAULT_OFFSET, 0x1000},
	{ET_DYN, 0, 0x1000, 0x2000, 2 * M, EA_FAULT_OFFSET, 2 * M - 0x1000},
	/* The same, but enough for a smaller block. */
	{ET_DYN, 0, 0x30000, 0x10000, 64 * K, EA_FAULT_NONE, 0},
	{ET_DYN, 0, 0x30000, 0x10000, 2 * M, EA_FAULT_OFFSET, 0x20000},
	/* Linked to an address. */
	{ET_DYN, 0x20000000, 0x20001000, 0x1000, 2 * M, EA_FAULT_NONE, 0},
	{ET_DYN, 0x20001000, 0x20002000, 0x1000, 2 * M, EA_FAULT_BASE, 0x1000},
	{ET_DYN, 0x20001000, 0x20003000, 0x1000, 2 * M, EA_FAULT_OFFSET, 0x1000},
	/* An aligned start would not do here, though address and offset agree. */
	{ET_DYN, 0x20001000, 0x20203000, 0x3000, 2 * M, EA_FAULT_OFFSET, 2 * M - 0x1000},
	/* The start is rounded down to a page. */
	{ET_DYN, 0x20000123, 0x20001000, 0x1000, 2 * M, EA_FAULT_NONE, 0},
	{ET_EXEC, 0x400000, 0x401000, 0x1000, 2 * M, EA_FAULT_NONE, 0},
	{ET_EXEC, 0x401000, 0x402000, 0x2000, 2 * M, EA_FAULT_NONE, 0},
	{ET_EXEC, 0x401000, 0x402000, 0x1000, 2 * M, EA_FAULT_BASE, 0x1000},
};

TEST(align, fault)
{
	size_t i;

	for (i = 0; i < COUNT_OF(faults); i++) {
		const struct fault_case *row = &faults[i];
		struct ea_image image = {.type = row->type, .load_count = 2};
		uint64_t distance_bytes = 1;
		enum ea_fault fault;

		image.loads[0] = (struct ea_segment){.vaddr = row->base, .mem_bytes = 0x100};
		image.loads[1] = (struct ea_segment){.vaddr = row->vaddr, .offset = row->offset};
		fault = ea_align_fault(&image, 1, 4 * K, row->block_bytes, &distance_bytes);
		/* What is fixed has one condition only, whatever it is called. */
		CHECK_U64(!fault, !row->fault, "row %zu", i);
		if (row->type == ET_DYN)
			CHECK_U64(fault, row->fault, "row %zu", i);
		CHECK_U64(distance_bytes, row->distance_bytes, "row %zu", i);
	}
}

/* The file's bytes, and its header as a reader has it. */
static void parse_library(struct elf_file *elf, struct ea_header *header)
{
	CHECK_U64(ea_header_parse(elf, EA_HEADER_BYTES, elf->file_bytes, EM_X86_64, header), 0,
		"library");
}

TEST(align, is_found_where_it_is)
{
	struct elf_file elf;
	struct ea_header header;
	struct ea_align align;
	uint64_t vaddr, value;

	elf_library(&elf, EM_X86_64);
	vaddr = elf.phdrs[LIBRARY_TEXT].p_vaddr;
	elf.phdrs[LIBRARY_TEXT].p_align = 0x123456;
	parse_library(&elf, &header);
	CHECK_U64(ea_align_find(&header, elf.phdrs, vaddr, &align), 0, "library");
	memcpy(&value, (const char *)&elf + align.field_offset, sizeof(value));
	CHECK_U64(value, 0x123456, "field");
	CHECK_U64(align.bytes, 0x123456, "value");
	CHECK_U64(align.others_bytes, 64 * K, "others");
	CHECK_U64(ea_align_find(&header, elf.phdrs, vaddr + 1, &align), -ENOEXEC, "elsewhere");
}

/* struct before_case - p_align of the text, of the data and of the constants */
struct before_case {
	uint64_t text, data, rodata, before;
};

static const struct before_case befores[] = {
	{2 * M, 4 * K, 4 * K, 4 * K},
	{2 * M, 64 * K, 64 * K, 64 * K},
	{64 * K, 4 * K, 4 * K, 4 * K},
	/* Not raised. */
	{4 * K, 4 * K, 4 * K, 0},
	{4 * K, 2 * M, 2 * M, 0},
	/* It cannot be told. */
	{2 * M, 4 * K, 64 * K, 0},
	{2 * M, 64 * K, 4 * K, 0},
	{2 * M, 0, 0, 0},
};

TEST(align, before)
{
	struct elf_file elf;
	struct ea_header header;
	struct ea_align align;
	size_t i;

	for (i = 0; i < COUNT_OF(befores); i++) {
		elf_library(&elf, EM_X86_64);
		elf.phdrs[LIBRARY_TEXT].p_align = befores[i].text;
		elf.phdrs[LIBRARY_DATA].p_align = befores[i].data;
		elf.phdrs[LIBRARY_RODATA].p_align = befores[i].rodata;
		parse_library(&elf, &header);
		CHECK_U64(
			ea_align_find(&header, elf.phdrs, elf.phdrs[LIBRARY_TEXT].p_vaddr, &align),
			0, "row %zu", i);
		CHECK_U64(ea_align_before(&align), befores[i].before, "row %zu", i);
	}
}

TEST(align, before_of_a_single_segment_is_unknown)
{
	struct elf_file elf;
	struct ea_header header;
	struct ea_align align;

	elf_begin(&elf, EM_X86_64);
	elf_add(&elf, PT_LOAD, PF_R | PF_X, 0, 0, 4 * M, 4 * M)->p_align = 2 * M;
	parse_library(&elf, &header);
	CHECK_U64(ea_align_find(&header, elf.phdrs, 0, &align), 0, "single");
	CHECK_U64(align.others_bytes, 0, "single");
	CHECK_U64(ea_align_before(&align), 0, "single");
}
