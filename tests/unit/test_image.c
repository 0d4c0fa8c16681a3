/* SPDX-License-Identifier: MIT */
/*
 * test_image.c - core/image.h on files that are right and on files that lie in one way each
 */
#include <errno.h>
#include <string.h>

#include "core/image.h"
#include "elf_builder.h"
#include "unit.h"

#define PAGE_4K ((uint64_t)4096)
#define PAGE_16K ((uint64_t)16384)
#define PAGE_64K ((uint64_t)65536)

static const uint64_t page_sizes[] = {PAGE_4K, PAGE_16K, PAGE_64K};

TEST(header, reads_what_the_loader_needs)
{
	struct elf_file elf;
	struct ea_header header;

	elf_library(&elf, EM_AARCH64);
	CHECK_U64(ea_header_parse(&elf, EA_HEADER_BYTES, elf.file_bytes, EM_AARCH64, &header), 0,
		"library");
	CHECK_U64(header.type, ET_DYN, "library");
	CHECK_U64(header.machine, EM_AARCH64, "library");
	CHECK_U64(header.phdr_count, 6, "library");
	CHECK_U64(header.phdrs_offset, 64, "library");
	CHECK_U64(header.phdrs_bytes, 6 * 56, "library");
	CHECK_U64(header.file_bytes, elf.file_bytes, "library");
}

TEST(header, accepts_executables_and_any_machine)
{
	static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_RISCV};
	struct elf_file elf;
	struct ea_header header;
	size_t i;

	for (i = 0; i < COUNT_OF(machines); i++) {
		elf_library(&elf, machines[i]);
		elf.ehdr.e_type = ET_EXEC;
		CHECK_U64(
			ea_header_parse(&elf, sizeof(elf), elf.file_bytes, EA_MACHINE_ANY, &header),
			0, "machine %u", machines[i]);
		CHECK_U64(header.type, ET_EXEC, "machine %u", machines[i]);
		CHECK_U64(header.machine, machines[i], "machine %u", machines[i]);
	}
}

TEST(header, refuses_every_truncation)
{
	struct elf_file elf;
	struct ea_header header;
	size_t bytes;

	elf_library(&elf, EM_X86_64);
	for (bytes = 0; bytes < EA_HEADER_BYTES; bytes++) {
		CHECK(ea_header_parse(&elf, bytes, elf.file_bytes, EM_X86_64, &header) == -ENOEXEC,
			"a buffer of %zu bytes was accepted", bytes);
		CHECK(ea_header_parse(&elf, EA_HEADER_BYTES, bytes, EM_X86_64, &header) == -ENOEXEC,
			"a file of %zu bytes was accepted", bytes);
	}
}

TEST(header, leaves_its_output_alone_on_failure)
{
	struct elf_file elf;
	struct ea_header header, before;

	memset(&header, 0xa5, sizeof(header));
	before = header;
	elf_library(&elf, EM_X86_64);
	elf.ehdr.e_phoff = elf.file_bytes;
	CHECK(ea_header_parse(&elf, EA_HEADER_BYTES, elf.file_bytes, EM_X86_64, &header) ==
			-ENOEXEC,
		"program headers beyond the end were accepted");
	CHECK(!memcmp(&header, &before, sizeof(header)), "the output changed");
}

/* struct poke - overwrite one field of the file; bytes == 0 ends a list */
struct poke {
	size_t at;
	size_t bytes;
	uint64_t value;
};

#define EHDR(field, value)                                                                         \
	{                                                                                          \
		offsetof(struct elf_file, ehdr.field), sizeof(((struct elf_file *)0)->ehdr.field), \
			value                                                                      \
	}
#define IDENT(index, value)                                                                        \
	{                                                                                          \
		offsetof(struct elf_file, ehdr.e_ident[index]), 1, value                           \
	}
#define PHDR(index, field, value)                                                                  \
	{                                                                                          \
		offsetof(struct elf_file, phdrs[index].field),                                     \
			sizeof(((struct elf_file *)0)->phdrs[0].field), value                      \
	}
#define FILE_BYTES(value)                                                                          \
	{                                                                                          \
		offsetof(struct elf_file, file_bytes), 8, value                                    \
	}

#define POKES_MAX 4

/* struct poke_case - a change to elf_library() and whether the result may still be accepted */
struct poke_case {
	const char *name;
	int err;
	struct poke pokes[POKES_MAX];
};

static void apply(struct elf_file *elf, const struct poke *pokes)
{
	size_t i;

	for (i = 0; i < POKES_MAX && pokes[i].bytes; i++)
		memcpy((unsigned char *)elf + pokes[i].at, &pokes[i].value, pokes[i].bytes);
}

static void check_header(const struct poke_case *cases, size_t count)
{
	struct ea_header header;
	struct elf_file elf;
	size_t i;

	for (i = 0; i < count; i++) {
		int err;

		elf_library(&elf, EM_X86_64);
		apply(&elf, cases[i].pokes);
		err = ea_header_parse(&elf, EA_HEADER_BYTES, elf.file_bytes, EM_X86_64, &header);
		CHECK(err == cases[i].err, "%s: error %d, not %d", cases[i].name, err,
			cases[i].err);
	}
}

static void check_image(const struct poke_case *cases, size_t count, uint64_t page_bytes)
{
	struct ea_image image;
	struct elf_file elf;
	size_t i;

	for (i = 0; i < count; i++) {
		int err;

		elf_library(&elf, EM_X86_64);
		apply(&elf, cases[i].pokes);
		err = elf_parse(&elf, EM_X86_64, page_bytes, &image);
		CHECK(err == cases[i].err, "%s, %" PRIu64 " byte pages: error %d, not %d",
			cases[i].name, page_bytes, err, cases[i].err);
	}
}

TEST(header, refuses_each_lie)
{
	static const struct poke_case cases[] = {
		{"unchanged", 0, {{0}}},
		{"magic 0", -ENOEXEC, {IDENT(EI_MAG0, 0x7e)}},
		{"magic 1", -ENOEXEC, {IDENT(EI_MAG1, 'e')}},
		{"magic 2", -ENOEXEC, {IDENT(EI_MAG2, 'l')}},
		{"magic 3", -ENOEXEC, {IDENT(EI_MAG3, 'f')}},
		{"32-bit class", -ENOEXEC, {IDENT(EI_CLASS, ELFCLASS32)}},
		{"no class", -ENOEXEC, {IDENT(EI_CLASS, ELFCLASSNONE)}},
		{"big-endian", -ENOEXEC, {IDENT(EI_DATA, ELFDATA2MSB)}},
		{"ident version", -ENOEXEC, {IDENT(EI_VERSION, 2)}},
		{"version", -ENOEXEC, {EHDR(e_version, 0)}},
		{"another OS ABI", 0, {IDENT(EI_OSABI, ELFOSABI_GNU)}},
		{"another machine", -ENOEXEC, {EHDR(e_machine, EM_AARCH64)}},
		{"relocatable", -ENOEXEC, {EHDR(e_type, ET_REL)}},
		{"core dump", -ENOEXEC, {EHDR(e_type, ET_CORE)}},
		{"executable", 0, {EHDR(e_type, ET_EXEC)}},
		{"phdr size 55", -ENOEXEC, {EHDR(e_phentsize, 55)}},
		{"phdr size of 32-bit files", -ENOEXEC, {EHDR(e_phentsize, sizeof(Elf32_Phdr))}},
		{"phdr size 57", -ENOEXEC, {EHDR(e_phentsize, 57)}},
		{"phdr size 0", -ENOEXEC, {EHDR(e_phentsize, 0)}},
		{"no phdr", -ENOEXEC, {EHDR(e_phnum, 0)}},
		{"most phdrs", 0, {EHDR(e_phnum, EA_PHDRS_MAX)}},
		{"a phdr too many", -ENOEXEC, {EHDR(e_phnum, EA_PHDRS_MAX + 1)}},
		{"phdr count elsewhere", -ENOEXEC, {EHDR(e_phnum, PN_XNUM)}},
		{"phdrs at the very end", 0, {FILE_BYTES(0x1000), EHDR(e_phoff, 0x1000 - 6 * 56)}},
		{"phdrs end a byte too far", -ENOEXEC,
			{FILE_BYTES(0x1000), EHDR(e_phoff, 0x1000 - 6 * 56 + 1)}},
		{"phdrs beyond the file", -ENOEXEC, {FILE_BYTES(0x1000), EHDR(e_phoff, 0x1001)}},
		{"end of phdrs overflows to 0", -ENOEXEC,
			{FILE_BYTES(UINT64_MAX), EHDR(e_phoff, 0 - (uint64_t)6 * 56)}},
		{"end of phdrs overflows", -ENOEXEC,
			{FILE_BYTES(UINT64_MAX), EHDR(e_phoff, UINT64_MAX)}},
		{"phdrs in a file shorter than its header", -ENOEXEC,
			{FILE_BYTES(63), EHDR(e_phoff, 0), EHDR(e_phnum, 1)}},
		{"phdrs below the last byte", 0,
			{FILE_BYTES(UINT64_MAX), EHDR(e_phoff, UINT64_MAX - 6 * 56)}},
	};

	check_header(cases, COUNT_OF(cases));
}

TEST(image, reads_a_library)
{
	struct ea_image image;
	struct elf_file elf;
	size_t i;

	for (i = 0; i < COUNT_OF(page_sizes); i++) {
		uint64_t page_bytes = page_sizes[i], start_vaddr = 1;

		elf_library(&elf, EM_AARCH64);
		CHECK_U64(elf_parse(&elf, EM_AARCH64, page_bytes, &image), 0, "page %zu", i);
		CHECK_U64(image.type, ET_DYN, "page %zu", i);
		CHECK_U64(image.machine, EM_AARCH64, "page %zu", i);
		CHECK_U64(image.load_count, 3, "page %zu", i);
		CHECK_U64(image.has_interp, 0, "page %zu", i);
		CHECK_U64(image.has_dynamic, 1, "page %zu", i);
		CHECK_U64(image.dynamic_vaddr, 0x2a0100, "page %zu", i);
		CHECK_U64(image.align_bytes, PAGE_64K, "page %zu", i);
		CHECK_U64(image.tls_bytes, 0x28, "page %zu", i);
		CHECK_U64(image.tls_align_bytes, 8, "page %zu", i);
		CHECK_U64(image.loads[1].vaddr, 0x10000, "page %zu", i);
		CHECK_U64(image.loads[1].offset, 0x10000, "page %zu", i);
		CHECK_U64(image.loads[1].file_bytes, 0x280123, "page %zu", i);
		CHECK_U64(image.loads[1].mem_bytes, 0x280123, "page %zu", i);
		CHECK_U64(image.loads[1].flags, PF_R | PF_X, "page %zu", i);
		CHECK_U64(image.loads[2].offset, 0x290000, "page %zu", i);
		CHECK_U64(image.loads[2].mem_bytes, 0x9000, "page %zu", i);
		CHECK_U64(ea_image_span(&image, page_bytes, &start_vaddr), 0x2a9000, "page %zu", i);
		CHECK_U64(start_vaddr, 0, "page %zu", i);
	}
}

TEST(image, span_starts_at_the_page_of_the_first_load)
{
	struct ea_image image;
	struct elf_file elf;
	uint64_t start_vaddr;

	elf_begin(&elf, EM_X86_64);
	elf.ehdr.e_type = ET_EXEC;
	elf_add(&elf, PT_INTERP, PF_R, 0x400238, 0x238, 28, 28);
	elf_add(&elf, PT_LOAD, PF_R | PF_X, 0x405678, 0x5678, 0x1000, 0x1000);
	elf_add(&elf, PT_LOAD, PF_R | PF_W, 0x600001, 0x10001, 1, 0x12345);
	CHECK_U64(elf_parse(&elf, EM_X86_64, PAGE_4K, &image), 0, "executable");
	CHECK_U64(image.has_interp, 1, "executable");
	CHECK_U64(image.has_dynamic, 0, "executable");
	CHECK_U64(image.dynamic_vaddr, 0, "executable");
	CHECK_U64(image.tls_bytes, 0, "executable");
	CHECK_U64(image.tls_align_bytes, 1, "executable");
	CHECK_U64(
		ea_image_span(&image, PAGE_4K, &start_vaddr), 0x600001 + 0x12345 - 0x405000, "4K");
	CHECK_U64(start_vaddr, 0x405000, "4K");
	CHECK_U64(ea_image_span(&image, PAGE_64K, &start_vaddr), 0x600001 + 0x12345 - 0x400000,
		"64K");
	CHECK_U64(start_vaddr, 0x400000, "64K");
}

TEST(image, refuses_each_lie)
{
	static const struct poke_case cases[] = {
		{"unchanged", 0, {{0}}},
		{"no load", -ENOEXEC,
			{PHDR(LIBRARY_RODATA, p_type, PT_NOTE), PHDR(LIBRARY_TEXT, p_type, PT_NOTE),
				PHDR(LIBRARY_DATA, p_type, PT_NOTE),
				PHDR(LIBRARY_DYNAMIC, p_type, PT_NOTE)}},
		{"loads out of order", -ENOEXEC, {PHDR(LIBRARY_RODATA, p_vaddr, 0x400000)}},
		{"loads at the same address", -ENOEXEC, {PHDR(LIBRARY_TEXT, p_vaddr, 0)}},
		{"loads touch", 0,
			{PHDR(LIBRARY_RODATA, p_filesz, 0x10000),
				PHDR(LIBRARY_RODATA, p_memsz, 0x10000)}},
		{"loads overlap by a byte", -ENOEXEC, {PHDR(LIBRARY_RODATA, p_memsz, 0x10001)}},
		{"zeroes overlap the next load", -ENOEXEC, {PHDR(LIBRARY_TEXT, p_memsz, 0x290001)}},
		{"more in the file than in memory", -ENOEXEC,
			{PHDR(LIBRARY_TEXT, p_memsz, 0x280122)}},
		{"load ends with the file", 0, {FILE_BYTES(0x291000)}},
		{"load ends a byte beyond the file", -ENOEXEC, {FILE_BYTES(0x290fff)}},
		{"text ends beyond the file", -ENOEXEC, {PHDR(LIBRARY_TEXT, p_offset, 0x290000)}},
		{"load begins beyond the file", -ENOEXEC, {PHDR(LIBRARY_DATA, p_offset, 0x2a0000)}},
		{"file end overflows", -ENOEXEC,
			{FILE_BYTES(UINT64_MAX), PHDR(LIBRARY_DATA, p_offset, 0 - 0x10000ull),
				PHDR(LIBRARY_DATA, p_filesz, 0x10000),
				PHDR(LIBRARY_DATA, p_memsz, 0x10000)}},
		{"file end of a load without bytes overflows not", 0,
			{PHDR(LIBRARY_DATA, p_offset, 0 - 0x10000ull),
				PHDR(LIBRARY_DATA, p_filesz, 0),
				PHDR(LIBRARY_DYNAMIC, p_type, PT_NULL),
				PHDR(LIBRARY_TLS, p_type, PT_NULL)}},
		{"memory end overflows", -ENOEXEC,
			{PHDR(LIBRARY_DATA, p_memsz, 0 - 0x2a0000ull + 1)}},
		{"memory ends at 0", -ENOEXEC, {PHDR(LIBRARY_DATA, p_memsz, 0 - 0x2a0000ull)}},
		{"memory ends in the last page", -ENOEXEC,
			{PHDR(LIBRARY_DATA, p_memsz, 0 - 0x2a0000ull - 1)}},
		{"memory ends before the last page", 0,
			{PHDR(LIBRARY_DATA, p_memsz, 0 - 0x2a0000ull - 0x10000)}},
		{"memory all", -ENOEXEC, {PHDR(LIBRARY_DATA, p_memsz, UINT64_MAX)}},
		{"address at the top", -ENOEXEC,
			{PHDR(LIBRARY_DATA, p_vaddr, 0 - 0x10000ull),
				PHDR(LIBRARY_DATA, p_memsz, 0x10000)}},
		{"address is off by a byte", -ENOEXEC, {PHDR(LIBRARY_TEXT, p_vaddr, 0x10001)}},
		{"offset is off by a byte", -ENOEXEC, {PHDR(LIBRARY_TEXT, p_offset, 0xffff)}},
		{"address and offset are off alike", 0,
			{PHDR(LIBRARY_TEXT, p_vaddr, 0x10010),
				PHDR(LIBRARY_TEXT, p_offset, 0x10010)}},
		{"alignment 0", 0, {PHDR(LIBRARY_TEXT, p_align, 0)}},
		{"alignment no power of two", 0, {PHDR(LIBRARY_TEXT, p_align, 0x30000)}},
		{"dynamic section at the last byte of a load", 0,
			{PHDR(LIBRARY_DYNAMIC, p_vaddr, 0x2a8fff)}},
		{"dynamic section behind a load", -ENOEXEC,
			{PHDR(LIBRARY_DYNAMIC, p_vaddr, 0x2a9000)}},
		{"dynamic section between loads", -ENOEXEC,
			{PHDR(LIBRARY_DYNAMIC, p_vaddr, 0x8000)}},
		{"dynamic section far away", -ENOEXEC,
			{PHDR(LIBRARY_DYNAMIC, p_vaddr, UINT64_MAX)}},
		{"TLS: more in the file than in memory", -ENOEXEC,
			{PHDR(LIBRARY_TLS, p_filesz, 0x29)}},
		{"TLS: template beyond the file", -ENOEXEC,
			{PHDR(LIBRARY_TLS, p_offset, 0x290ff1)}},
		{"TLS: file end overflows", -ENOEXEC, {PHDR(LIBRARY_TLS, p_offset, UINT64_MAX)}},
		{"TLS: memory end overflows", -ENOEXEC, {PHDR(LIBRARY_TLS, p_vaddr, UINT64_MAX)}},
		{"TLS: alignment 0", 0, {PHDR(LIBRARY_TLS, p_align, 0)}},
		{"TLS: alignment no power of two", -ENOEXEC, {PHDR(LIBRARY_TLS, p_align, 24)}},
		{"TLS: alignment absurd", -ENOEXEC, {PHDR(LIBRARY_TLS, p_align, 1ull << 32)}},
		{"TLS: alignment beyond the last power", -ENOEXEC,
			{PHDR(LIBRARY_TLS, p_align, UINT64_MAX)}},
		{"TLS: size below 4G", 0, {PHDR(LIBRARY_TLS, p_memsz, UINT32_MAX)}},
		{"TLS: size absurd", -ENOEXEC, {PHDR(LIBRARY_TLS, p_memsz, 1ull << 32)}},
		{"TLS: all memory", -ENOEXEC, {PHDR(LIBRARY_TLS, p_memsz, UINT64_MAX)}},
		{"unknown phdrs are not read", 0,
			{PHDR(LIBRARY_STACK, p_type, PT_LOPROC + 1),
				PHDR(LIBRARY_STACK, p_offset, UINT64_MAX),
				PHDR(LIBRARY_STACK, p_filesz, UINT64_MAX)}},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(page_sizes); i++)
		check_image(cases, COUNT_OF(cases), page_sizes[i]);
}

TEST(image, wants_address_and_offset_congruent_modulo_the_page_in_use)
{
	static const struct {
		uint64_t offset;
		int err[COUNT_OF(page_sizes)];
	} cases[] = {
		{0x10000, {0, 0, 0}},
		{0x14000, {0, 0, -ENOEXEC}},
		{0x11000, {0, -ENOEXEC, -ENOEXEC}},
		{0x10800, {-ENOEXEC, -ENOEXEC, -ENOEXEC}},
	};
	struct ea_image image;
	struct elf_file elf;
	size_t i, j;

	for (i = 0; i < COUNT_OF(cases); i++) {
		elf_begin(&elf, EM_AARCH64);
		elf_add(&elf, PT_LOAD, PF_R | PF_X, 0x20000, cases[i].offset, 0x1000, 0x1000);
		for (j = 0; j < COUNT_OF(page_sizes); j++) {
			int err = elf_parse(&elf, EM_AARCH64, page_sizes[j], &image);

			CHECK(err == cases[i].err[j],
				"offset %#" PRIx64 ", %" PRIu64 " byte pages: error %d",
				cases[i].offset, page_sizes[j], err);
		}
	}
}

TEST(image, takes_the_largest_alignment_that_a_loader_would)
{
	static const struct {
		uint64_t align[2], expected;
	} cases[] = {
		{{0, 0}, 1},
		{{1, 0}, 1},
		{{0x1000, 0x200000}, 0x200000},
		{{0x200000, 0x1000}, 0x200000},
		{{0x1000, 0x300000}, 0x1000},
		{{0x3000, 0x5000}, 1},
		{{0x1000, 1ull << 63}, 1ull << 63},
		{{0x1000, UINT64_MAX}, 0x1000},
	};
	struct ea_image image;
	struct elf_file elf;
	size_t i;

	for (i = 0; i < COUNT_OF(cases); i++) {
		elf_begin(&elf, EM_X86_64);
		elf_add(&elf, PT_LOAD, PF_R, 0, 0, 0x1000, 0x1000)->p_align = cases[i].align[0];
		elf_add(&elf, PT_LOAD, PF_R | PF_X, 0x1000, 0x1000, 0x1000, 0x1000)->p_align =
			cases[i].align[1];
		CHECK_U64(elf_parse(&elf, EM_X86_64, PAGE_4K, &image), 0, "row %zu", i);
		CHECK_U64(image.align_bytes, cases[i].expected, "row %zu", i);
	}
}

TEST(image, limits_the_number_of_loads)
{
	struct ea_image image;
	struct elf_file elf;
	unsigned int count;

	elf_begin(&elf, EM_X86_64);
	for (count = 1; count <= EA_LOADS_MAX + 1; count++) {
		uint64_t at = count * PAGE_64K;

		elf_add(&elf, PT_LOAD, PF_R, at, at, 1, 1);
		if (count > EA_LOADS_MAX) {
			CHECK(elf_parse(&elf, EM_X86_64, PAGE_4K, &image) == -ENOEXEC,
				"%u loads were accepted", count);
			continue;
		}
		CHECK_U64(elf_parse(&elf, EM_X86_64, PAGE_4K, &image), 0, "%u loads", count);
		CHECK_U64(image.load_count, count, "%u loads", count);
	}
}

TEST(image, passes_over_loads_without_memory)
{
	struct ea_image image;
	struct elf_file elf;
	uint64_t start_vaddr;

	elf_begin(&elf, EM_X86_64);
	elf_add(&elf, PT_LOAD, PF_R, 0, 0, 0, 0);
	elf_add(&elf, PT_LOAD, PF_R | PF_X, 0x10000, 0x10000, 0x1000, 0x1000);
	elf_add(&elf, PT_LOAD, PF_R, 0, 0, 0, 0);
	CHECK_U64(elf_parse(&elf, EM_X86_64, PAGE_4K, &image), 0, "two empty loads");
	CHECK_U64(image.load_count, 1, "two empty loads");
	CHECK_U64(ea_image_span(&image, PAGE_4K, &start_vaddr), 0x1000, "two empty loads");
	CHECK_U64(start_vaddr, 0x10000, "two empty loads");

	elf_begin(&elf, EM_X86_64);
	elf_add(&elf, PT_LOAD, PF_R, 0, 0, 0, 0);
	CHECK(elf_parse(&elf, EM_X86_64, PAGE_4K, &image) == -ENOEXEC,
		"a file with nothing to map was accepted");
}

TEST(image, reads_program_headers_from_wherever_they_are)
{
	struct ea_header header;
	struct ea_image image;
	struct elf_file elf;

	elf_library(&elf, EM_X86_64);
	elf.ehdr.e_phoff = 0x290001;
	CHECK_U64(ea_header_parse(&elf, EA_HEADER_BYTES, elf.file_bytes, EM_X86_64, &header), 0,
		"phdrs at the end");
	CHECK_U64(header.phdrs_offset, 0x290001, "phdrs at the end");
	CHECK_U64(ea_image_parse(&header, elf.phdrs, header.phdrs_bytes, PAGE_4K, &image), 0,
		"phdrs at the end");
	CHECK_U64(image.load_count, 3, "phdrs at the end");
}

TEST(image, refuses_a_short_read_of_the_program_headers)
{
	struct ea_header header;
	struct ea_image image, before;
	struct elf_file elf;
	size_t bytes;

	memset(&image, 0x5a, sizeof(image));
	before = image;
	elf_library(&elf, EM_X86_64);
	CHECK_U64(ea_header_parse(&elf, EA_HEADER_BYTES, elf.file_bytes, EM_X86_64, &header), 0,
		"header");
	for (bytes = 0; bytes < header.phdrs_bytes; bytes++)
		CHECK(ea_image_parse(&header, elf.phdrs, bytes, PAGE_4K, &image) == -ENOEXEC,
			"%zu of %" PRIu64 " bytes were accepted", bytes, header.phdrs_bytes);
	CHECK(!memcmp(&image, &before, sizeof(image)), "the output changed");
}

TEST(image, text_is_executable_and_not_writable_and_from_the_file)
{
	uint32_t flags;

	for (flags = 0; flags < 8; flags++) {
		struct ea_segment segment = {.flags = flags, .file_bytes = 1, .mem_bytes = 1};
		int expected = flags == PF_X || flags == (PF_R | PF_X);

		CHECK_U64(ea_segment_is_text(&segment), expected, "flags %u", flags);
		segment.file_bytes = 0;
		CHECK_U64(ea_segment_is_text(&segment), 0, "flags %u, no bytes", flags);
	}
}
