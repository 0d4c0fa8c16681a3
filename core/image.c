/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>

#include "image.h"

/*
 * No loader can give every thread this much static TLS, and below it no sum over the libraries of a
 * process comes near an overflow.
 */
#define TLS_BYTES_LIMIT ((uint64_t)1 << 32)

_Static_assert(sizeof(Elf64_Ehdr) == EA_HEADER_BYTES, "ELF header size");
_Static_assert(sizeof(Elf64_Phdr) == EA_PHDR_BYTES, "program header size");

static int is_power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

static int ident_is_ours(const unsigned char *ident)
{
	return ident[EI_MAG0] == ELFMAG0 && ident[EI_MAG1] == ELFMAG1 &&
	       ident[EI_MAG2] == ELFMAG2 && ident[EI_MAG3] == ELFMAG3 &&
	       ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == ELFDATA2LSB &&
	       ident[EI_VERSION] == EV_CURRENT;
}

int ea_header_parse(const void *buf, size_t buf_bytes, uint64_t file_bytes, uint16_t machine,
	struct ea_header *out)
{
	Elf64_Ehdr ehdr;
	uint64_t phdrs_bytes, phdrs_end;

	if (buf_bytes < sizeof(ehdr) || file_bytes < sizeof(ehdr))
		return -ENOEXEC;
	__builtin_memcpy(&ehdr, buf, sizeof(ehdr));

	if (!ident_is_ours(ehdr.e_ident) || ehdr.e_version != EV_CURRENT)
		return -ENOEXEC;
	if (ehdr.e_type != ET_DYN && ehdr.e_type != ET_EXEC)
		return -ENOEXEC;
	if (machine != EA_MACHINE_ANY && ehdr.e_machine != machine)
		return -ENOEXEC;
	/* PN_XNUM, which moves the count elsewhere, is beyond the maximum too. */
	if (ehdr.e_phentsize != sizeof(Elf64_Phdr) || !ehdr.e_phnum || ehdr.e_phnum > EA_PHDRS_MAX)
		return -ENOEXEC;

	phdrs_bytes = (uint64_t)ehdr.e_phnum * sizeof(Elf64_Phdr);
	if (__builtin_add_overflow(ehdr.e_phoff, phdrs_bytes, &phdrs_end) || phdrs_end > file_bytes)
		return -ENOEXEC;

	out->type = ehdr.e_type;
	out->machine = ehdr.e_machine;
	out->phdr_count = ehdr.e_phnum;
	out->phdrs_offset = ehdr.e_phoff;
	out->phdrs_bytes = phdrs_bytes;
	out->file_bytes = file_bytes;
	return 0;
}

/* Is [p_offset, p_offset + p_filesz) in the file and p_vaddr + p_memsz, rounded up, an address? */
static int ranges_are_sane(const Elf64_Phdr *phdr, uint64_t file_bytes, uint64_t page_bytes)
{
	uint64_t end;

	if (phdr->p_filesz > phdr->p_memsz)
		return 0;
	if (__builtin_add_overflow(phdr->p_vaddr, phdr->p_memsz, &end) ||
		__builtin_add_overflow(end, page_bytes - 1, &end))
		return 0;
	if (__builtin_add_overflow(phdr->p_offset, phdr->p_filesz, &end))
		return 0;
	/* Linkers may place a segment of zeroes only beyond the end of the file. */
	return !phdr->p_filesz || end <= file_bytes;
}

static uint64_t segment_end(const struct ea_segment *segment)
{
	return segment->vaddr + segment->mem_bytes;
}

static int add_load(
	struct ea_image *image, const Elf64_Phdr *phdr, uint64_t file_bytes, uint64_t page_bytes)
{
	struct ea_segment *load = &image->loads[image->load_count];

	if (!ranges_are_sane(phdr, file_bytes, page_bytes) ||
		(phdr->p_vaddr - phdr->p_offset) & (page_bytes - 1))
		return -ENOEXEC;
	/* glibc heeds p_align where it is a power of two and ignores it elsewhere (dl-load.c). */
	if (is_power_of_two(phdr->p_align) && phdr->p_align > image->align_bytes)
		image->align_bytes = phdr->p_align;
	/* Nothing to map; objcopy leaves such segments behind. */
	if (!phdr->p_memsz)
		return 0;
	if (image->load_count == EA_LOADS_MAX ||
		(image->load_count && phdr->p_vaddr < segment_end(load - 1)))
		return -ENOEXEC;

	load->vaddr = phdr->p_vaddr;
	load->offset = phdr->p_offset;
	load->file_bytes = phdr->p_filesz;
	load->mem_bytes = phdr->p_memsz;
	load->flags = phdr->p_flags;
	image->load_count++;
	return 0;
}

static int set_tls(
	struct ea_image *image, const Elf64_Phdr *phdr, uint64_t file_bytes, uint64_t page_bytes)
{
	uint64_t align_bytes = phdr->p_align ? phdr->p_align : 1;

	if (!ranges_are_sane(phdr, file_bytes, page_bytes) || !is_power_of_two(align_bytes))
		return -ENOEXEC;
	if (phdr->p_memsz >= TLS_BYTES_LIMIT || align_bytes >= TLS_BYTES_LIMIT)
		return -ENOEXEC;
	image->tls_bytes = phdr->p_memsz;
	image->tls_align_bytes = align_bytes;
	return 0;
}

static int add_phdr(
	struct ea_image *image, const Elf64_Phdr *phdr, uint64_t file_bytes, uint64_t page_bytes)
{
	switch (phdr->p_type) {
	case PT_LOAD:
		return add_load(image, phdr, file_bytes, page_bytes);
	case PT_TLS:
		return set_tls(image, phdr, file_bytes, page_bytes);
	case PT_DYNAMIC:
		image->has_dynamic = 1;
		image->dynamic_vaddr = phdr->p_vaddr;
		return 0;
	case PT_INTERP:
		image->has_interp = 1;
		return 0;
	default:
		return 0;
	}
}

/* The loader reads the dynamic section where PT_DYNAMIC says it is: that must be mapped. */
static int dynamic_is_loaded(const struct ea_image *image)
{
	unsigned int i;

	for (i = 0; i < image->load_count; i++) {
		const struct ea_segment *load = &image->loads[i];

		if (image->dynamic_vaddr >= load->vaddr && image->dynamic_vaddr < segment_end(load))
			return 1;
	}
	return 0;
}

int ea_image_parse(const struct ea_header *header, const void *phdrs, size_t phdrs_bytes,
	uint64_t page_bytes, struct ea_image *out)
{
	const unsigned char *bytes = phdrs;
	struct ea_image image = {
		.type = header->type,
		.machine = header->machine,
		.align_bytes = 1,
		.tls_align_bytes = 1,
	};
	unsigned int i;

	if (phdrs_bytes < header->phdrs_bytes)
		return -ENOEXEC;

	for (i = 0; i < header->phdr_count; i++) {
		Elf64_Phdr phdr;
		int err;

		__builtin_memcpy(&phdr, bytes + (size_t)i * sizeof(phdr), sizeof(phdr));
		err = add_phdr(&image, &phdr, header->file_bytes, page_bytes);
		if (err)
			return err;
	}
	if (!image.load_count || (image.has_dynamic && !dynamic_is_loaded(&image)))
		return -ENOEXEC;
	*out = image;
	return 0;
}

uint64_t ea_image_span(const struct ea_image *image, uint64_t page_bytes, uint64_t *start_vaddr)
{
	*start_vaddr = image->loads[0].vaddr & ~(page_bytes - 1);
	return segment_end(&image->loads[image->load_count - 1]) - *start_vaddr;
}

int ea_segment_is_text(const struct ea_segment *segment)
{
	return (segment->flags & (PF_X | PF_W)) == PF_X && segment->file_bytes;
}
