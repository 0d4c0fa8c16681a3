/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "elf_file.h"
#include "format.h"
#include "io.h"
#include "layout.h"
#include "loader.h"

/* More entries than any linker writes; bounds the search of a file that lies. */
#define SECTIONS_MAX 65536
#define DYNAMIC_ENTRIES_MAX 512

static const uint64_t page_sizes[] = {4 * EA_KIB, 16 * EA_KIB, 64 * EA_KIB};

#define PAGE_SIZES (sizeof(page_sizes) / sizeof(page_sizes[0]))

/* struct reading - one file while it is read */
struct reading {
	Elf *elf;
	struct ea_header header;
	const Elf64_Phdr *phdrs;
	struct ea_image image; /* for the smallest page that can map it */
	uint64_t page_bytes;   /* that one */
	unsigned int text;     /* index of the text that decides: with the most whole blocks */
};

/* From the first bytes alone, so that the many files of a tree that are no ELF cost one read. */
static enum layout_kind kind_of(const unsigned char *start, size_t bytes)
{
	if (bytes < SELFMAG || memcmp(start, ELFMAG, SELFMAG))
		return LAYOUT_NOT_ELF;
	if (bytes < EA_HEADER_BYTES)
		return LAYOUT_TRUNCATED;
	if (start[EI_CLASS] == ELFCLASS32)
		return LAYOUT_32BIT;
	if (start[EI_DATA] == ELFDATA2MSB)
		return LAYOUT_BIG_ENDIAN;
	return LAYOUT_JUDGED;
}

static enum layout_kind header_kind(const Elf64_Ehdr *ehdr, uint64_t file_bytes)
{
	struct ea_geometry geometry;
	uint64_t phdrs_end;

	if (ehdr->e_type != ET_DYN && ehdr->e_type != ET_EXEC)
		return LAYOUT_NOT_LOADABLE;
	if (ea_geometry(ehdr->e_machine, page_sizes[0], &geometry))
		return LAYOUT_OTHER_MACHINE;
	if (__builtin_add_overflow(
		    ehdr->e_phoff, (uint64_t)ehdr->e_phnum * EA_PHDR_BYTES, &phdrs_end) ||
		phdrs_end > file_bytes)
		return LAYOUT_TRUNCATED;
	return LAYOUT_JUDGED;
}

/* Is it only that a segment reaches beyond the end, as after a download that broke off? */
static bool ends_early(const struct reading *reading, uint64_t file_bytes)
{
	unsigned int i;

	for (i = 0; i < reading->header.phdr_count; i++) {
		const Elf64_Phdr *phdr = &reading->phdrs[i];
		uint64_t end;

		if (phdr->p_type == PT_LOAD && phdr->p_filesz &&
			!__builtin_add_overflow(phdr->p_offset, phdr->p_filesz, &end) &&
			end > file_bytes)
			return true;
	}
	return false;
}

/* Files of 4K pages alone cannot be mapped where pages are larger: each size is tried. */
static void read_granule(struct reading *reading, struct layout *out, uint64_t page_bytes)
{
	struct granule *granule = &out->granules[out->granule_count];
	struct ea_geometry geometry;
	struct ea_image image;
	unsigned int text;
	uint64_t distance_bytes;

	if (ea_geometry(out->machine, page_bytes, &geometry))
		return;
	out->granule_count++;
	granule->page_bytes = page_bytes;
	if (ea_image_parse(&reading->header, reading->phdrs, reading->header.phdrs_bytes,
		    page_bytes, &image))
		return;
	granule->mappable = true;
	if (!reading->page_bytes) {
		reading->image = image;
		reading->page_bytes = page_bytes;
	}
	granule->block_bytes = ea_block_choose(&geometry, &image, EA_BLOCK_CAP_BYTES, &text);
	if (!granule->block_bytes)
		return;
	granule->whole_bytes = ea_whole_blocks_bytes(image.loads[text].offset,
		image.loads[text].file_bytes, page_bytes, granule->block_bytes, NULL);
	granule->congruent =
		!ea_align_fault(&image, text, page_bytes, granule->block_bytes, &distance_bytes);
	if (granule->block_bytes > out->block_bytes) {
		out->block_bytes = granule->block_bytes;
		reading->text = text;
	}
}

/* A block of the caller's choice, instead of the largest that a machine would choose. */
static void force_block(struct reading *reading, struct layout *out, uint64_t block_bytes)
{
	out->block_bytes = 0;
	if (block_bytes >= reading->page_bytes &&
		ea_block_fits(&reading->image, reading->page_bytes, block_bytes, &reading->text))
		out->block_bytes = block_bytes;
}

static void read_loads(struct reading *reading, struct layout *out)
{
	unsigned int i;

	for (i = reading->image.load_count; i-- > 0;) {
		if (!ea_segment_is_text(&reading->image.loads[i]))
			continue;
		out->text_bytes += reading->image.loads[i].file_bytes;
		if (!out->block_bytes)
			reading->text = i;
	}
	out->align_bytes = reading->image.align_bytes;
	out->base_vaddr = reading->image.loads[0].vaddr;
}

static void read_needed(const char *name, struct layout *out)
{
	if (!strcmp(name, "libc.so.6"))
		out->libc = LIBC_GLIBC;
	else if (loader_is_musl(name))
		out->libc = LIBC_MUSL;
}

static void read_dynamic(Elf *elf, Elf_Scn *section, const GElf_Shdr *shdr, struct layout *out)
{
	Elf_Data *data = elf_getdata(section, NULL);
	int i;

	for (i = 0; data && i < DYNAMIC_ENTRIES_MAX; i++) {
		GElf_Dyn entry;
		const char *name;

		if (!gelf_getdyn(data, i, &entry) || entry.d_tag == DT_NULL)
			return;
		if (entry.d_tag == DT_FLAGS_1 && entry.d_un.d_val & DF_1_PIE &&
			out->placer == PLACER_LOADER)
			out->placer = PLACER_KERNEL_STATIC;
		/* libc.so.6 has an interpreter, too: it prints its version. */
		if (entry.d_tag == DT_SONAME && out->placer == PLACER_KERNEL)
			out->placer = PLACER_LOADER;
		if (entry.d_tag != DT_NEEDED)
			continue;
		name = elf_strptr(elf, shdr->sh_link, entry.d_un.d_val);
		if (name)
			read_needed(name, out);
	}
}

/* lld and mold leave a string in .comment, "Linker: LLD 14.0.6" or "mold 1.10.1"; GNU ld does not. */
static void read_comment(Elf_Scn *section, struct layout *out)
{
	static const char lld[] = "Linker: ";
	Elf_Data *data = elf_getdata(section, NULL);
	const char *text = data ? data->d_buf : NULL;
	size_t left = data && data->d_buf ? data->d_size : 0;

	while (left) {
		size_t bytes = strnlen(text, left);
		bool is_lld = bytes > strlen(lld) && !memcmp(text, lld, strlen(lld));

		if (is_lld || (bytes > 5 && !memcmp(text, "mold ", 5))) {
			size_t skipped = is_lld ? strlen(lld) : 0;

			snprintf(out->linker, sizeof(out->linker), "%.*s", (int)(bytes - skipped),
				text + skipped);
			return;
		}
		bytes += bytes < left;
		text += bytes;
		left -= bytes;
	}
}

static bool is_in(const struct ea_segment *load, const GElf_Shdr *shdr)
{
	return shdr->sh_flags & SHF_ALLOC && shdr->sh_addr >= load->vaddr &&
	       shdr->sh_addr - load->vaddr < load->mem_bytes;
}

/*
 * What sections tell: the libc, the linker, and, which is returned, the largest alignment that a
 * section of the segment asks for. A file without sections tells nothing of that.
 */
static uint64_t read_sections(Elf *elf, const struct ea_segment *load, struct layout *out)
{
	uint64_t align_bytes = 0;
	Elf_Scn *section = NULL;
	size_t names, count = 0;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section)) && count++ < SECTIONS_MAX) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(section, &shdr))
			return align_bytes;
		if (is_in(load, &shdr) && shdr.sh_addralign > align_bytes)
			align_bytes = shdr.sh_addralign;
		if (shdr.sh_type == SHT_DYNAMIC)
			read_dynamic(elf, section, &shdr, out);
		name = elf_strptr(elf, names, shdr.sh_name);
		if (name && !strcmp(name, ".comment"))
			read_comment(section, out);
	}
	return align_bytes;
}

/*
 * The p_align of the text that decides; of another one if that was raised, as it may have been for a
 * block of another size.
 */
static unsigned int find_align(const struct reading *reading, struct ea_align *out)
{
	const struct ea_image *image = &reading->image;
	unsigned int i;

	for (i = 0; i < image->load_count; i++)
		if (ea_segment_is_text(&image->loads[i]) &&
			!ea_align_find(
				&reading->header, reading->phdrs, image->loads[i].vaddr, out) &&
			ea_align_before(out))
			return i;
	ea_align_find(&reading->header, reading->phdrs, image->loads[reading->text].vaddr, out);
	return reading->text;
}

/* What the linker gave the text: p_align is raised for it alone, so the others tell. */
static uint64_t original_align(const struct ea_align *align, uint64_t section_bytes)
{
	if (align->bytes == align->others_bytes)
		return align->bytes;
	/* A section that asks for so much explains it: nobody has raised it. */
	return section_bytes >= align->bytes ? 0 : ea_align_before(align);
}

static enum layout_verdict judge(const struct layout *layout)
{
	if (!layout->block_bytes)
		return LAYOUT_TOO_SMALL;
	if (layout->fault)
		return LAYOUT_MISLAID;
	if (layout->placer == PLACER_LINKER)
		return LAYOUT_FIXED;
	return layout->align_bytes >= layout->block_bytes ? LAYOUT_ALIGNED : LAYOUT_RAISE;
}

static void read_text(struct reading *reading, struct layout *out)
{
	const struct ea_segment *load = &reading->image.loads[reading->text];

	if (out->block_bytes)
		out->fault = ea_align_fault(&reading->image, reading->text, reading->page_bytes,
			out->block_bytes, &out->distance_bytes);
	out->offset = load->offset;
	out->vaddr = load->vaddr;
	out->segment_bytes = load->file_bytes;

	load = &reading->image.loads[find_align(reading, &out->align)];
	/* Sections are read only where they matter: it takes most of the time. */
	if (out->block_bytes || out->align.bytes != out->align.others_bytes)
		out->original_bytes =
			original_align(&out->align, read_sections(reading->elf, load, out));
}

static enum layout_kind read_elf(
	struct reading *reading, uint64_t file_bytes, uint64_t block_bytes, struct layout *out)
{
	const Elf64_Ehdr *ehdr = elf64_getehdr(reading->elf);
	enum layout_kind kind;
	size_t i;

	if (!ehdr)
		return LAYOUT_BROKEN;
	out->machine = ehdr->e_machine;
	kind = header_kind(ehdr, file_bytes);
	if (kind)
		return kind;
	/* On the little-endian machines that this runs on, libelf's structures are the file's. */
	if (ea_header_parse(ehdr, sizeof(*ehdr), file_bytes, EA_MACHINE_ANY, &reading->header))
		return LAYOUT_BROKEN;
	reading->phdrs = elf64_getphdr(reading->elf);
	if (!reading->phdrs)
		return LAYOUT_BROKEN;
	for (i = 0; i < PAGE_SIZES; i++)
		read_granule(reading, out, page_sizes[i]);
	if (!reading->page_bytes)
		return ends_early(reading, file_bytes) ? LAYOUT_TRUNCATED : LAYOUT_BROKEN;

	if (reading->header.type == ET_EXEC)
		out->placer = PLACER_LINKER;
	else if (reading->image.has_interp)
		out->placer = PLACER_KERNEL;
	if (block_bytes)
		force_block(reading, out, block_bytes);
	read_loads(reading, out);
	if (out->text_bytes)
		read_text(reading, out);
	out->verdict = judge(out);
	return LAYOUT_JUDGED;
}

void layout_read(int fd, uint64_t file_bytes, uint64_t block_bytes, struct layout *out)
{
	unsigned char start[EA_HEADER_BYTES];
	size_t start_bytes = file_bytes < sizeof(start) ? (size_t)file_bytes : sizeof(start);
	struct reading reading = {0};

	memset(out, 0, sizeof(*out));
	out->error = pread_all(fd, start, start_bytes, 0);
	if (out->error) {
		out->kind = LAYOUT_UNREADABLE;
		return;
	}
	out->kind = kind_of(start, start_bytes);
	if (out->kind)
		return;
	reading.elf = elf_begin(fd, ELF_C_READ, NULL);
	out->kind = LAYOUT_BROKEN;
	if (elf_kind(reading.elf) == ELF_K_ELF)
		out->kind = read_elf(&reading, file_bytes, block_bytes, out);
	elf_end(reading.elf);
}

bool layout_eligible(const struct layout *layout)
{
	return layout->kind == LAYOUT_JUDGED && layout->block_bytes;
}

bool layout_carries(const struct layout *layout)
{
	return layout->kind != LAYOUT_JUDGED ||
	       (layout->verdict != LAYOUT_RAISE && layout->verdict != LAYOUT_MISLAID);
}

const char *layout_kind_name(enum layout_kind kind)
{
	static const char *const names[LAYOUT_KIND_COUNT] = {
		[LAYOUT_JUDGED] = "judged",
		[LAYOUT_NOT_ELF] = "not-elf",
		[LAYOUT_32BIT] = "32-bit",
		[LAYOUT_BIG_ENDIAN] = "big-endian",
		[LAYOUT_OTHER_MACHINE] = "other-machine",
		[LAYOUT_NOT_LOADABLE] = "not-loadable",
		[LAYOUT_TRUNCATED] = "truncated",
		[LAYOUT_BROKEN] = "broken",
		[LAYOUT_UNREADABLE] = "unreadable",
	};

	return names[kind];
}

const char *layout_verdict_name(enum layout_verdict verdict)
{
	static const char *const names[LAYOUT_VERDICT_COUNT] = {
		[LAYOUT_TOO_SMALL] = "too-small",
		[LAYOUT_ALIGNED] = "aligned",
		[LAYOUT_FIXED] = "fixed",
		[LAYOUT_RAISE] = "raise",
		[LAYOUT_MISLAID] = "mislaid",
	};

	return names[verdict];
}

const char *layout_placer_name(enum placer placer)
{
	static const char *const names[] = {
		[PLACER_LOADER] = "loader",
		[PLACER_KERNEL] = "kernel",
		[PLACER_KERNEL_STATIC] = "kernel-static",
		[PLACER_LINKER] = "linker",
	};

	return names[placer];
}

const char *layout_libc_name(enum libc_kind libc)
{
	static const char *const names[] = {
		[LIBC_UNKNOWN] = NULL,
		[LIBC_GLIBC] = "glibc",
		[LIBC_MUSL] = "musl",
	};

	return names[libc];
}

void layout_trouble(const struct layout *layout, char *out, size_t out_bytes)
{
	const char *machine = elf_machine_name(layout->machine);

	switch (layout->kind) {
	case LAYOUT_JUDGED:
	case LAYOUT_KIND_COUNT:
		*out = '\0';
		return;
	case LAYOUT_NOT_ELF:
		snprintf(out, out_bytes, "not an ELF file; name a program or a shared library");
		return;
	case LAYOUT_32BIT:
		snprintf(out, out_bytes,
			"a 32-bit ELF file; only 64-bit ones have blocks to align "
			"to");
		return;
	case LAYOUT_BIG_ENDIAN:
		snprintf(out, out_bytes,
			"a big-endian ELF file; x86-64 and arm64 (little-endian) are supported");
		return;
	case LAYOUT_OTHER_MACHINE:
		snprintf(out, out_bytes, "for another machine (%s); x86-64 and arm64 are supported",
			machine ? machine : "of a number without a name here");
		return;
	case LAYOUT_NOT_LOADABLE:
		snprintf(out, out_bytes,
			"an ELF file that no loader maps (an object file, a kernel "
			"module, a core dump); name a program or a shared library");
		return;
	case LAYOUT_TRUNCATED:
		snprintf(out, out_bytes,
			"truncated: its headers name bytes beyond the end of the "
			"file; get the whole file");
		return;
	case LAYOUT_BROKEN:
		snprintf(out, out_bytes,
			"its program headers are broken or describe segments that "
			"cannot be mapped (as in files of debugging symbols); "
			"compare with 'readelf -lW'");
		return;
	case LAYOUT_UNREADABLE:
		snprintf(out, out_bytes, "cannot be read: %s; check the file and its rights",
			strerror(-layout->error));
		return;
	}
}

/* Under what p_align takes effect. */
static const char *who_heeds(const struct layout *layout)
{
	switch (layout->placer) {
	case PLACER_KERNEL:
		return "the kernel heeds it for programs since Linux 5.10";
	case PLACER_KERNEL_STATIC:
		return "the kernel heeds it for static programs since Linux 6.11";
	case PLACER_LINKER:
	case PLACER_LOADER:
		break;
	}
	switch (layout->libc) {
	case LIBC_GLIBC:
		return "glibc heeds it since 2.35";
	case LIBC_MUSL:
		return "musl's loader does not heed it unless it is patched";
	case LIBC_UNKNOWN:
		break;
	}
	return "glibc heeds it since 2.35, musl does not unless it is patched";
}

static void mislaid_remedy(const struct layout *layout, char *out, size_t out_bytes)
{
	char block[FORMAT_BYTES_MAX], distance[FORMAT_BYTES_MAX];

	format_bytes(layout->block_bytes, block);
	format_bytes(layout->distance_bytes, distance);
	if (layout->fault == EA_FAULT_BASE) {
		snprintf(out, out_bytes,
			"it is linked to address 0x%" PRIx64
			", no multiple of %s; link without -Ttext-segment or --image-base, or with "
			"a multiple",
			layout->base_vaddr, block);
		return;
	}
	snprintf(out, out_bytes,
		"%s put the text %s further in address than in offset, modulo %s, so no loader can "
		"place it; link with -Wl,-z,max-page-size=0x%" PRIx64
		", or -Wl,-z,separate-code and then --set-align",
		*layout->linker ? layout->linker : "the linker", distance, block,
		layout->block_bytes);
}

void layout_remedy(const struct layout *layout, char *out, size_t out_bytes)
{
	char block[FORMAT_BYTES_MAX];

	*out = '\0';
	if (layout->kind != LAYOUT_JUDGED)
		return;
	if (layout->verdict == LAYOUT_MISLAID)
		mislaid_remedy(layout, out, out_bytes);
	else if (layout->verdict == LAYOUT_RAISE)
		snprintf(out, out_bytes,
			"a p_align of %s would place it (%s): --set-align auto sets it",
			format_bytes(layout->block_bytes, block), who_heeds(layout));
}
