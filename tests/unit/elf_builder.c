/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf_builder.h"

#define KIB ((uint64_t)1024)

void elf_begin(struct elf_file *elf, uint16_t machine)
{
	memset(elf, 0, sizeof(*elf));
	memcpy(elf->ehdr.e_ident, ELFMAG, SELFMAG);
	elf->ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	elf->ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	elf->ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	elf->ehdr.e_type = ET_DYN;
	elf->ehdr.e_machine = machine;
	elf->ehdr.e_version = EV_CURRENT;
	elf->ehdr.e_ehsize = sizeof(Elf64_Ehdr);
	elf->ehdr.e_phentsize = sizeof(Elf64_Phdr);
	elf->ehdr.e_phoff = offsetof(struct elf_file, phdrs);
	elf->file_bytes = offsetof(struct elf_file, file_bytes);
}

Elf64_Phdr *elf_add(struct elf_file *elf, uint32_t type, uint32_t flags, uint64_t vaddr,
	uint64_t offset, uint64_t file_bytes, uint64_t mem_bytes)
{
	Elf64_Phdr *phdr = &elf->phdrs[elf->ehdr.e_phnum++];

	phdr->p_type = type;
	phdr->p_flags = flags;
	phdr->p_vaddr = vaddr;
	phdr->p_paddr = vaddr;
	phdr->p_offset = offset;
	phdr->p_filesz = file_bytes;
	phdr->p_memsz = mem_bytes;
	phdr->p_align = type == PT_LOAD ? 64 * KIB : 8;
	if (elf->file_bytes < offset + file_bytes)
		elf->file_bytes = offset + file_bytes;
	return phdr;
}

void elf_library(struct elf_file *elf, uint16_t machine)
{
	elf_begin(elf, machine);
	elf_add(elf, PT_LOAD, PF_R, 0, 0, 0x4567, 0x4567);
	elf_add(elf, PT_LOAD, PF_R | PF_X, 0x10000, 0x10000, 0x280123, 0x280123);
	elf_add(elf, PT_LOAD, PF_R | PF_W, 0x2a0000, 0x290000, 0x1000, 0x9000);
	elf_add(elf, PT_DYNAMIC, PF_R | PF_W, 0x2a0100, 0x290100, 0x200, 0x200);
	elf_add(elf, PT_TLS, PF_R, 0x2a0400, 0x290400, 0x10, 0x28);
	elf_add(elf, PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0);
}

/* A copy at an odd address that ends where its allocation ends, for tools that watch the bounds. */
static unsigned char *copy_unaligned(const void *bytes, size_t count, void **allocation)
{
	*allocation = malloc(count + 1);
	if (!*allocation)
		abort();
	memcpy((unsigned char *)*allocation + 1, bytes, count);
	return (unsigned char *)*allocation + 1;
}

int elf_parse(
	const struct elf_file *elf, uint16_t machine, uint64_t page_bytes, struct ea_image *image)
{
	struct ea_header header;
	unsigned char *bytes;
	void *allocation;
	int err;

	bytes = copy_unaligned(&elf->ehdr, sizeof(elf->ehdr), &allocation);
	err = ea_header_parse(bytes, sizeof(elf->ehdr), elf->file_bytes, machine, &header);
	free(allocation);
	if (err)
		return err;

	if (header.phdrs_offset > sizeof(*elf) ||
		header.phdrs_bytes > sizeof(*elf) - header.phdrs_offset)
		return -EFAULT;
	bytes = copy_unaligned(
		(const unsigned char *)elf + header.phdrs_offset, header.phdrs_bytes, &allocation);
	err = ea_image_parse(&header, bytes, header.phdrs_bytes, page_bytes, image);
	free(allocation);
	return err;
}
