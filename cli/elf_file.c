/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "elf_file.h"
#include "io.h"

/* More entries than any linker writes; bounds the search of a file that lies. */
#define DYNAMIC_ENTRIES_MAX 512
#define NOTES_BYTES_MAX 4096

/* struct source - the file behind a descriptor, see elf_file_read() */
struct source {
	int fd;
	uint64_t base;
	uint64_t file_bytes;
};

static int source_read(const struct source *source, void *out, size_t bytes, uint64_t offset)
{
	uint64_t end, position;

	if (__builtin_add_overflow(offset, bytes, &end) || end > source->file_bytes ||
		__builtin_add_overflow(source->base, offset, &position) || position > INT64_MAX)
		return -ENODATA;
	return pread_all(source->fd, out, bytes, position);
}

static void read_interp(const struct source *source, const Elf64_Phdr *phdr, struct elf_file *out)
{
	size_t bytes = phdr->p_filesz;

	if (!bytes || bytes > sizeof(out->interp) ||
		source_read(source, out->interp, bytes, phdr->p_offset)) {
		out->interp[0] = '\0';
		return;
	}
	out->interp[bytes - 1] = '\0';
}

/* File offset of what the image has at @vaddr; false: nothing that comes from the file. */
static bool offset_of(const struct ea_image *image, uint64_t vaddr, uint64_t *offset)
{
	unsigned int i;

	for (i = 0; i < image->load_count; i++) {
		const struct ea_segment *load = &image->loads[i];

		if (vaddr < load->vaddr || vaddr - load->vaddr >= load->file_bytes)
			continue;
		*offset = load->offset + (vaddr - load->vaddr);
		return true;
	}
	return false;
}

static void read_soname(
	const struct source *source, uint64_t strings_vaddr, uint64_t index, struct elf_file *out)
{
	uint64_t vaddr, offset, bytes;

	if (__builtin_add_overflow(strings_vaddr, index, &vaddr) ||
		!offset_of(&out->image, vaddr, &offset) || offset >= source->file_bytes)
		return;
	bytes = source->file_bytes - offset;
	if (bytes > sizeof(out->soname) - 1)
		bytes = sizeof(out->soname) - 1;
	/* What follows it in the table is cut off by its NUL. */
	if (source_read(source, out->soname, bytes, offset))
		out->soname[0] = '\0';
}

static void read_dynamic(const struct source *source, const Elf64_Phdr *phdr, struct elf_file *out)
{
	uint64_t count = phdr->p_filesz / sizeof(Elf64_Dyn);
	uint64_t strings_vaddr = 0, soname_index = 0;
	bool found = false;
	uint64_t i;

	for (i = 0; i < count && i < DYNAMIC_ENTRIES_MAX; i++) {
		Elf64_Dyn entry;
		uint64_t offset;

		if (__builtin_add_overflow(phdr->p_offset, i * sizeof(entry), &offset) ||
			source_read(source, &entry, sizeof(entry), offset) ||
			entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_STRTAB)
			strings_vaddr = entry.d_un.d_ptr;
		if (entry.d_tag == DT_SONAME) {
			soname_index = entry.d_un.d_val;
			found = true;
		}
	}
	if (found)
		read_soname(source, strings_vaddr, soname_index, out);
}

/* Of a segment that is longer than all notes of a loader, the beginning. */
static void read_notes(const struct source *source, const Elf64_Phdr *phdr, struct elf_file *out)
{
	unsigned char notes[NOTES_BYTES_MAX];
	size_t bytes = phdr->p_filesz < sizeof(notes) ? (size_t)phdr->p_filesz : sizeof(notes);

	if (!out->loader.version && !source_read(source, notes, bytes, phdr->p_offset))
		ea_loader_note_find(notes, bytes, &out->loader);
}

static void read_details(const struct source *source, const struct ea_header *header,
	const unsigned char *phdrs, struct elf_file *out)
{
	unsigned int i;

	for (i = 0; i < header->phdr_count; i++) {
		Elf64_Phdr phdr;

		memcpy(&phdr, phdrs + i * sizeof(phdr), sizeof(phdr));
		if (phdr.p_type == PT_INTERP)
			read_interp(source, &phdr, out);
		else if (phdr.p_type == PT_DYNAMIC)
			read_dynamic(source, &phdr, out);
		else if (phdr.p_type == PT_NOTE)
			read_notes(source, &phdr, out);
	}
}

/* Why core/ would not have it, from the first bytes alone. */
static enum elf_kind kind_of(const unsigned char *ident, uint16_t machine, uint16_t ours)
{
	if (ident[EI_CLASS] == ELFCLASS32)
		return ELF_32BIT;
	if (ident[EI_CLASS] != ELFCLASS64)
		return ELF_BROKEN;
	if (ident[EI_DATA] != ELFDATA2LSB || machine != ours)
		return ELF_FOREIGN;
	return ELF_BROKEN;
}

static uint16_t machine_of(const unsigned char *header)
{
	unsigned char low = header[offsetof(Elf64_Ehdr, e_machine)];
	unsigned char high = header[offsetof(Elf64_Ehdr, e_machine) + 1];

	if (header[EI_DATA] == ELFDATA2MSB)
		return (uint16_t)(low << 8 | high);
	return (uint16_t)(high << 8 | low);
}

/* All but the details; @header and @phdrs are filled where the result is of kind ELF_OURS. */
static void read_image(const struct source *source, uint16_t machine, uint64_t page_bytes,
	struct ea_header *header, unsigned char *phdrs, struct elf_file *out)
{
	unsigned char start[EA_HEADER_BYTES] = {0};
	size_t start_bytes =
		source->file_bytes < sizeof(start) ? (size_t)source->file_bytes : sizeof(start);

	memset(out, 0, sizeof(*out));
	out->error = source_read(source, start, start_bytes, 0);
	if (out->error) {
		out->kind = ELF_UNREADABLE;
		return;
	}
	if (start_bytes < SELFMAG || memcmp(start, ELFMAG, SELFMAG)) {
		out->kind = ELF_NOT_ELF;
		return;
	}
	out->machine = machine_of(start);
	out->kind = kind_of(start, out->machine, machine);
	if (ea_header_parse(start, start_bytes, source->file_bytes, machine, header))
		return;
	out->kind = ELF_BROKEN;
	if (source_read(source, phdrs, header->phdrs_bytes, header->phdrs_offset) ||
		ea_image_parse(header, phdrs, header->phdrs_bytes, page_bytes, &out->image))
		return;
	out->kind = ELF_OURS;
}

void elf_file_read(int fd, uint64_t base, uint64_t file_bytes, uint16_t machine,
	uint64_t page_bytes, struct elf_file *out)
{
	struct source source = {.fd = fd, .base = base, .file_bytes = file_bytes};
	unsigned char phdrs[EA_PHDRS_MAX * EA_PHDR_BYTES];
	struct ea_header header;

	read_image(&source, machine, page_bytes, &header, phdrs, out);
	/* In memory, what is behind the headers is not where it is in the file. */
	if (out->kind == ELF_OURS && !base)
		read_details(&source, &header, phdrs, out);
}

void elf_file_read_image(int fd, uint64_t file_bytes, uint16_t machine, uint64_t page_bytes,
	struct elf_file *out)
{
	struct source source = {.fd = fd, .file_bytes = file_bytes};
	unsigned char phdrs[EA_PHDRS_MAX * EA_PHDR_BYTES];
	struct ea_header header;

	read_image(&source, machine, page_bytes, &header, phdrs, out);
}

const char *elf_machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_AARCH64:
		return "arm64";
	case EM_386:
		return "x86";
	case EM_ARM:
		return "arm";
	case EM_RISCV:
		return "RISC-V";
	case EM_PPC64:
		return "POWER";
	case EM_S390:
		return "s390";
	case EM_LOONGARCH:
		return "LoongArch";
	default:
		return NULL;
	}
}
