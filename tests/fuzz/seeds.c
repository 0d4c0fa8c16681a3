/* SPDX-License-Identifier: MIT */
/*
 * seeds.c - write the inputs that fuzzing starts from: seeds DIRECTORY
 *
 * DIRECTORY/image/ and DIRECTORY/block/ receive small ELF files in the forms that linkers make,
 * DIRECTORY/release/ some kernel releases, DIRECTORY/environment/ environments of promoted
 * processes, DIRECTORY/loader_note/ notes, and DIRECTORY/pattern/ patterns with a name. Nothing is over 4 KiB. Seeds that need no
 * program to make them are in tests/fuzz/corpus/TARGET/.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/block.h"
#include "tests/unit/elf_builder.h"

static const char *directory;

static void write_seed(const char *target, const char *name, const void *head, size_t head_bytes,
	const void *body, size_t body_bytes)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, target);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s", directory, target, name);
	file = fopen(path, "wb");
	if (!file || fwrite(head, 1, head_bytes, file) != head_bytes ||
		fwrite(body, 1, body_bytes, file) != body_bytes || fclose(file)) {
		perror(path);
		exit(2);
	}
}

/* The bytes in front of the file, as in fuzz_block.c. */
static void write_block_seed(const char *name, uint8_t geometry, const struct elf_file *elf)
{
	unsigned char head[24] = {0};
	uint64_t cap_bytes = 32 * EA_MIB;

	memcpy(head, &elf->file_bytes, sizeof(elf->file_bytes));
	memcpy(head + 8, &cap_bytes, sizeof(cap_bytes));
	head[16] = geometry;
	head[18] = 7;
	head[20] = 2;
	write_seed("block", name, head, sizeof(head), elf,
		sizeof(elf->ehdr) + elf->ehdr.e_phnum * sizeof(elf->phdrs[0]));
}

/* A file that is as long as it says: its text is only what fits. */
static void write_image_seed(const char *name, struct elf_file *elf)
{
	static const unsigned char zeroes[2048];
	size_t head_bytes = sizeof(elf->ehdr) + elf->ehdr.e_phnum * sizeof(elf->phdrs[0]);

	write_seed("image", name, elf, head_bytes, zeroes, sizeof(zeroes) - head_bytes);
}

static void write_images(void)
{
	struct elf_file elf;

	elf_begin(&elf, EM_X86_64);
	elf_add(&elf, PT_LOAD, PF_R | PF_X, 0, 0, 2048, 2048);
	write_image_seed("text-only", &elf);

	elf_begin(&elf, EM_AARCH64);
	elf_add(&elf, PT_LOAD, PF_R | PF_X, 0, 0, 1024, 1024);
	elf_add(&elf, PT_LOAD, PF_R | PF_W, 0x10400, 0x400, 512, 0x4000);
	elf_add(&elf, PT_DYNAMIC, PF_R | PF_W, 0x10400, 0x400, 256, 256);
	elf_add(&elf, PT_TLS, PF_R, 0x10500, 0x500, 16, 64);
	elf_add(&elf, PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0);
	write_image_seed("library", &elf);

	elf_begin(&elf, EM_X86_64);
	elf.ehdr.e_type = ET_EXEC;
	elf_add(&elf, PT_INTERP, PF_R, 0x400200, 0x200, 28, 28);
	elf_add(&elf, PT_LOAD, PF_R, 0x400000, 0, 1024, 1024);
	elf_add(&elf, PT_LOAD, PF_R | PF_X, 0x410400, 0x400, 1024, 1024);
	write_image_seed("executable", &elf);
}

static void write_blocks(void)
{
	static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_AARCH64, EM_AARCH64};
	struct elf_file elf;
	unsigned int i;
	char name[32];

	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		elf_library(&elf, machines[i]);
		snprintf(name, sizeof(name), "small-%u", i);
		write_block_seed(name, (uint8_t)i, &elf);

		elf_begin(&elf, machines[i]);
		elf_add(&elf, PT_LOAD, PF_R, 0, 0, 9 * EA_MIB, 9 * EA_MIB);
		elf_add(&elf, PT_LOAD, PF_R | PF_X, 10 * EA_MIB, 9 * EA_MIB, 80 * EA_MIB,
			80 * EA_MIB);
		elf_add(&elf, PT_LOAD, PF_R | PF_X, 100 * EA_MIB, 90 * EA_MIB, 3 * EA_MIB,
			3 * EA_MIB);
		snprintf(name, sizeof(name), "large-%u", i);
		write_block_seed(name, (uint8_t)i, &elf);
	}
}

static void write_releases(void)
{
	static const char *const releases[] = {
		"6.18.44-fc", "7.2.13+deb14-arm64-16k", "6.1", "4294967295.0", "6.", ".2"};
	unsigned int i;
	char name[32];

	for (i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		snprintf(name, sizeof(name), "release-%u", i);
		write_seed("release", name, releases[i], strlen(releases[i]), "", 0);
	}
}

/* The first byte and the short names of variables are those of fuzz_environment.c. */
static void write_environments(void)
{
	static const struct {
		const char *text;
		size_t bytes;
	} environments[] = {
#define ENVIRONMENT(text) {text, sizeof(text) - 1}
		ENVIRONMENT("\1prog\0A=1\0\3/shim\0\006512\0\0010:4:prog/bin/prog\0\2\0"),
		ENVIRONMENT("\2prog\0-x\0\3/a.so:/shim\0\4a.b=1:glibc.x=2\0\7\0"),
		ENVIRONMENT("\1prog\0\4a.b=1\0\005512\0\3/shim\0B=2\0\7\0\2\0"),
		ENVIRONMENT("\0\0013:15:0123456789abcde/bin/x\0\3\0\3:\0"),
		ENVIRONMENT("\1prog\0\3/a.so\0\0010:16:0123456789abcdef\0"),
		ENVIRONMENT("\201prog\0A=1\0\2\0\3/a.so\0\001x\0\4a.b=1\0"),
		ENVIRONMENT("\202prog\0-x\0\2\0\2\0\006512\0B=2\0"),
#undef ENVIRONMENT
	};
	unsigned int i;
	char name[32];

	for (i = 0; i < sizeof(environments) / sizeof(environments[0]); i++) {
		snprintf(name, sizeof(name), "environment-%u", i);
		write_seed("environment", name, environments[i].text, environments[i].bytes, "", 0);
	}
}

static void write_loader_notes(void)
{
	static const struct {
		uint32_t build_id[9];
		uint32_t note[8];
	} notes = {
		{4, 20, 3, 0x554e47, 1, 2, 3, 4, 5},
		{10, 8, 1, 0x63657865, 0x67696c61, 0x6e, 1, 1},
	};

	write_seed("loader_note", "alone", notes.note, sizeof(notes.note), "", 0);
	write_seed("loader_note", "second", &notes, sizeof(notes), "", 0);
	write_seed("loader_note", "other", notes.build_id, sizeof(notes.build_id), "", 0);
}

static void write_patterns(void)
{
	static const char *const patterns[][2] = {{"*a*b", "aabab"}, {"lib?.so*", "libz.so.1"},
		{"/usr/*/lib*", "/usr/lib/libz.so"}, {"", ""}, {"**?", "b"}};
	unsigned char head[64];
	unsigned int i;
	char name[32];

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		size_t bytes = strlen(patterns[i][0]);

		head[0] = (unsigned char)bytes;
		memcpy(head + 1, patterns[i][0], bytes);
		snprintf(name, sizeof(name), "pattern-%u", i);
		write_seed("pattern", name, head, 1 + bytes, patterns[i][1],
			strlen(patterns[i][1]));
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: seeds DIRECTORY\n");
		return 2;
	}
	directory = argv[1];
	mkdir(directory, 0777);
	write_images();
	write_blocks();
	write_releases();
	write_environments();
	write_loader_notes();
	write_patterns();
	return 0;
}
