/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>

#include "align.h"
#include "block.h"

enum ea_fault ea_align_fault(const struct ea_image *image, unsigned int text, uint64_t page_bytes,
	uint64_t block_bytes, uint64_t *distance_bytes)
{
	const struct ea_segment *load = &image->loads[text];
	uint64_t start_vaddr = 0;

	if (image->type == ET_DYN)
		ea_image_span(image, page_bytes, &start_vaddr);
	*distance_bytes = ea_distance_bytes(load->vaddr - start_vaddr, load->offset, block_bytes);
	if (*distance_bytes)
		return EA_FAULT_OFFSET;
	*distance_bytes = ea_distance_bytes(load->vaddr, load->offset, block_bytes);
	return *distance_bytes ? EA_FAULT_BASE : EA_FAULT_NONE;
}

int ea_align_find(
	const struct ea_header *header, const void *phdrs, uint64_t vaddr, struct ea_align *out)
{
	const unsigned char *bytes = phdrs;
	struct ea_align align = {0};
	int others = 0;
	unsigned int i;

	for (i = 0; i < header->phdr_count; i++) {
		size_t at = (size_t)i * EA_PHDR_BYTES;
		Elf64_Phdr phdr;

		__builtin_memcpy(&phdr, bytes + at, sizeof(phdr));
		if (phdr.p_type != PT_LOAD)
			continue;
		if (!align.field_offset && phdr.p_memsz && phdr.p_vaddr == vaddr) {
			align.field_offset =
				header->phdrs_offset + at + offsetof(Elf64_Phdr, p_align);
			align.bytes = phdr.p_align;
			continue;
		}
		if (!others++)
			align.others_bytes = phdr.p_align;
		else if (phdr.p_align != align.others_bytes)
			align.others_bytes = 0;
	}
	if (!align.field_offset)
		return -ENOEXEC;
	*out = align;
	return 0;
}

uint64_t ea_align_before(const struct ea_align *align)
{
	return align->others_bytes < align->bytes ? align->others_bytes : 0;
}
