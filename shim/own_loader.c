/* SPDX-License-Identifier: MIT */
#include <linux/auxvec.h>
#include <linux/elf.h>

#include "core/image.h"
#include "core/loader_note.h"
#include "environment.h"
#include "own_loader.h"
#include "sys.h"

/*
 * At AT_BASE the kernel has mapped the loader's first segment, which begins with the ELF header;
 * glibc itself reads it there (elf/rtld.c, rtld_setup_phdr()). No more than its first page is taken
 * for mapped until the program headers, which have to be in that page, say more.
 */
static int find_note(const unsigned char *base, uint64_t page_bytes, struct ea_loader_note *note)
{
	const Elf64_Phdr *phdr;
	struct ea_header header;
	struct ea_image image;
	uint64_t mapped_bytes;

	if (!base || ea_header_parse(base, EA_HEADER_BYTES, page_bytes, SYS_MACHINE, &header) ||
		header.phdrs_offset % sizeof(phdr->p_vaddr))
		return 0;
	phdr = (const Elf64_Phdr *)(base + header.phdrs_offset);
	header.file_bytes = INT64_MAX;
	if (ea_image_parse(&header, phdr, header.phdrs_bytes, page_bytes, &image) ||
		image.loads[0].vaddr || image.loads[0].offset)
		return 0;
	mapped_bytes = image.loads[0].file_bytes;
	for (unsigned int i = 0; i < header.phdr_count; i++, phdr++) {
		if (phdr->p_type == PT_NOTE && phdr->p_vaddr <= mapped_bytes &&
			phdr->p_filesz <= mapped_bytes - phdr->p_vaddr &&
			ea_loader_note_find(base + phdr->p_vaddr, phdr->p_filesz, note))
			return 1;
	}
	return 0;
}

int ea_own_loader_places(const struct ea_stack *stack)
{
	const void *base = (const void *)ea_auxv_value(stack->auxv, AT_BASE);
	struct ea_loader_note note;

	if (!find_note(base, ea_auxv_value(stack->auxv, AT_PAGESZ), &note))
		return 0;
	return ea_loader_is_on(
		&note, ea_tunable_find(ea_env_find(stack->envp, "GLIBC_TUNABLES", NULL),
			       EA_LOADER_TUNABLE "="));
}
