/* SPDX-License-Identifier: MIT */
/*
 * test_shim_own_loader.c - shim/own_loader.h: a loader in memory, as the kernel maps it
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "elf_builder.h"
#include "shim/own_loader.h"
#include "unit.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define PAGE_BYTES 4096
#define MAPPED_BYTES (2 * PAGE_BYTES)
#define NOTE_OFFSET (PAGE_BYTES + 0x100)

static const uint32_t note[] = {10, 8, 1, 0x63657865, 0x67696c61, 0x6e, 1, 1};
static const uint32_t note_off[] = {10, 8, 1, 0x63657865, 0x67696c61, 0x6e, 1, 0};
static const uint32_t note_newer[] = {10, 8, 1, 0x63657865, 0x67696c61, 0x6e, 2, 1};
static const uint32_t note_void[] = {10, 8, 1, 0x63657865, 0x67696c61, 0x6e, 0, 1};

/* A loader with one segment of headers and notes, one of text; the second note is ours. */
static void make_loader(struct elf_file *elf)
{
	elf_begin(elf, MACHINE);
	elf_add(elf, PT_LOAD, PF_R, 0, 0, MAPPED_BYTES, MAPPED_BYTES);
	elf_add(elf, PT_LOAD, PF_R | PF_X, 0x10000, 0x10000, 0x5000, 0x5000);
	elf_add(elf, PT_NOTE, PF_R, NOTE_OFFSET - 0x80, NOTE_OFFSET - 0x80, 0x20, 0x20);
	elf_add(elf, PT_NOTE, PF_R, NOTE_OFFSET, NOTE_OFFSET, sizeof(note), sizeof(note));
}

static int ask(const void *base, const char *variable)
{
	struct ea_auxv auxv[] = {{AT_BASE, (uintptr_t)base}, {AT_PAGESZ, PAGE_BYTES}, {AT_NULL, 0}};
	char *envp[] = {(char *)"A=1", (char *)variable, NULL};
	struct ea_stack stack = {NULL, envp, auxv};

	return ea_own_loader_places(&stack);
}

/* Nothing lies behind what is mapped, for tools that watch the bounds. */
static int places(const struct elf_file *elf, const uint32_t *words, const char *variable)
{
	unsigned char *base = aligned_alloc(PAGE_BYTES, MAPPED_BYTES);
	int answer;

	if (!base)
		abort();
	memset(base, 0, MAPPED_BYTES);
	memcpy(base, elf, sizeof(elf->ehdr) + sizeof(elf->phdrs[0]) * 8);
	memcpy(base + NOTE_OFFSET, words, sizeof(note));
	/* The last that is mapped. */
	memcpy(base + MAPPED_BYTES - sizeof(note), words, sizeof(note));
	answer = ask(base, variable);
	free(base);
	return answer;
}

TEST(own_loader, switch)
{
	static const struct {
		const uint32_t *words;
		const char *variable;
		int expected;
	} rows[] = {
		{note, NULL, 1},
		{note, "GLIBC_TUNABLES=glibc.elf.exec_align=0", 0},
		{note, "GLIBC_TUNABLES=glibc.elf.exec_align=1", 1},
		{note, "GLIBC_TUNABLES=glibc.malloc.check=0:glibc.elf.exec_align=65536", 1},
		{note, "GLIBC_TUNABLES=glibc.elf.exec_align=0:glibc.malloc.check=1", 0},
		{note, "GLIBC_TUNABLES=glibc.elf.exec_align=0:glibc.elf.exec_align=1", 1},
		{note, "GLIBC_TUNABLES=glibc.elf.thp=0", 1},
		/* musl's. */
		{note, "LD_EXEC_ALIGN=0", 1},
		{note_off, NULL, 0},
		{note_off, "GLIBC_TUNABLES=glibc.elf.exec_align=1", 1},
		{note_newer, NULL, 1},
		{note_newer, "GLIBC_TUNABLES=glibc.elf.exec_align=0", 0},
		{note_void, NULL, 0},
	};
	struct elf_file elf;
	size_t i;

	make_loader(&elf);
	for (i = 0; i < COUNT_OF(rows); i++)
		CHECK_U64(places(&elf, rows[i].words, rows[i].variable), rows[i].expected,
			"row %zu", i);
}

TEST(own_loader, none)
{
	CHECK_U64(ask(NULL, NULL), 0, "started as ld.so PROGRAM");
}

TEST(own_loader, at_the_very_end)
{
	struct elf_file elf;

	make_loader(&elf);
	elf.phdrs[3].p_vaddr = MAPPED_BYTES - sizeof(note);
	CHECK_U64(places(&elf, note, NULL), 1, "the last bytes of the segment");
	elf.phdrs[3].p_vaddr += 4;
	CHECK_U64(places(&elf, note, NULL), 0, "beyond the segment");
}

/* Each lies about one thing. Nothing is found, and nothing read that is not mapped. */
TEST(own_loader, lies)
{
	struct elf_file good, bad;

	make_loader(&good);
#define LIE(what)                                                                                  \
	do {                                                                                       \
		bad = good;                                                                        \
		bad.what;                                                                          \
		CHECK_U64(places(&bad, note, NULL), 0, "%s", #what);                               \
	} while (0)
	LIE(ehdr.e_ident[0] = 0);
	LIE(ehdr.e_machine = EM_386);
	LIE(ehdr.e_phoff = PAGE_BYTES);
	LIE(ehdr.e_phoff = PAGE_BYTES - 2 * sizeof(Elf64_Phdr));
	LIE(ehdr.e_phoff = UINT64_MAX - 8);
	LIE(ehdr.e_phoff += 1);
	LIE(ehdr.e_phnum = 0);
	LIE(ehdr.e_phnum = 3);
	LIE(ehdr.e_phnum = 0xffff);
	LIE(phdrs[0].p_type = PT_NULL);
	LIE(phdrs[0].p_filesz = NOTE_OFFSET);
	LIE(phdrs[0].p_filesz = UINT64_MAX);
	LIE(phdrs[0].p_vaddr = 0x8000);
	LIE(phdrs[3].p_type = PT_NULL);
	LIE(phdrs[3].p_vaddr = 0x10000);
	LIE(phdrs[3].p_vaddr = UINT64_MAX);
	LIE(phdrs[3].p_vaddr = -(uint64_t)NOTE_OFFSET);
	LIE(phdrs[3].p_filesz = 0);
	LIE(phdrs[3].p_filesz = sizeof(note) - 1);
	LIE(phdrs[3].p_filesz = MAPPED_BYTES);
	LIE(phdrs[3].p_filesz = UINT64_MAX - NOTE_OFFSET);
#undef LIE
}
