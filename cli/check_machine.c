/* SPDX-License-Identifier: MIT */
/*
 * check_machine.c - pages, blocks, huge page settings and address space randomisation
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "findings.h"
#include "format.h"
#include "io.h"

#define THP_DIRECTORY "/sys/kernel/mm/transparent_hugepage/"

static void check_pages(struct doctor *doctor)
{
	const struct ea_geometry *geometry = &doctor->machine->geometry;
	char size[FORMAT_BYTES_MAX];
	struct finding *finding = finding_add(doctor, "page-size", NULL, STATUS_OK, "%s base pages",
		format_bytes(geometry->page_bytes, size));

	finding_value(finding, "page_bytes", json_bytes(geometry->page_bytes));
}

static void check_blocks(struct doctor *doctor)
{
	const struct ea_geometry *geometry = &doctor->machine->geometry;
	char contpte[FORMAT_BYTES_MAX], pmd[FORMAT_BYTES_MAX];
	struct finding *finding;
	uint64_t pmd_bytes;

	format_bytes(geometry->contpte_bytes, contpte);
	format_bytes(geometry->pmd_bytes, pmd);
	if (!geometry->contpte_bytes)
		finding = finding_add(doctor, "blocks", NULL, STATUS_OK,
			"%s (PMD); this machine has no contiguous-PTE blocks", pmd);
	else if (geometry->pmd_bytes > EA_BLOCK_CAP_BYTES)
		finding = finding_add(doctor, "blocks", NULL, STATUS_OK,
			"%s (contiguous PTEs); a PMD maps %s, which is too large for text", contpte,
			pmd);
	else
		finding = finding_add(doctor, "blocks", NULL, STATUS_OK,
			"%s (contiguous PTEs) and %s (PMD)", contpte, pmd);
	finding_value(finding, "contpte_block_bytes",
		json_bytes(geometry->contpte_bytes ? geometry->contpte_bytes : UNKNOWN_BYTES));
	finding_value(finding, "pmd_block_bytes", json_bytes(geometry->pmd_bytes));

	if (read_number(THP_DIRECTORY "hpage_pmd_size", &pmd_bytes) ||
		pmd_bytes == geometry->pmd_bytes)
		return;
	finding->status = STATUS_LIMITS;
	finding_remedy(finding, "the kernel says that a PMD maps %s: please report this machine",
		format_bytes(pmd_bytes, pmd));
}

/* The word in brackets of "always [madvise] never". */
static int parse_mode(const char *line, char *mode, size_t mode_bytes)
{
	const char *start = strchr(line, '[');
	const char *end = start ? strchr(start, ']') : NULL;

	if (!end)
		return -EINVAL;
	snprintf(mode, mode_bytes, "%.*s", (int)(end - start - 1), start + 1);
	return 0;
}

/*
 * The mode is about anonymous memory and khugepaged. Text of filesystems with large folios is read
 * and mapped large without a look at it (do_sync_mmap_readahead(), do_set_pmd()).
 */
static void check_thp_mode(struct doctor *doctor)
{
	struct finding *finding;
	char line[128], mode[32];
	int err = read_line(THP_DIRECTORY "enabled", line, sizeof(line));

	if (err == -ENOENT) {
		finding = finding_add(doctor, "thp-mode", NULL, STATUS_LIMITS,
			"this kernel is built without transparent huge pages");
		finding_remedy(finding, "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE");
		return;
	}
	if (err || parse_mode(line, mode, sizeof(mode))) {
		finding_add(doctor, "thp-mode", NULL, STATUS_UNKNOWN, THP_DIRECTORY "enabled: %s",
			err ? strerror(-err) : "not understood");
		return;
	}
	finding = finding_add(doctor, "thp-mode", NULL, STATUS_OK,
		"%s; it governs anonymous memory, not text on filesystems with large folios%s",
		mode, strcmp(mode, "never") ? "" : ", and keeps khugepaged from collapsing text");
	finding_value(finding, "mode", json_object_new_string(mode));
}

static void check_thp_process(struct doctor *doctor)
{
	struct finding *finding;
	int disabled = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);

	if (disabled <= 0) {
		finding_add(doctor, "thp-process", NULL, disabled ? STATUS_UNKNOWN : STATUS_OK,
			disabled ? "whether huge pages are disabled cannot be asked"
				 : "huge pages are not disabled for programs started here");
		return;
	}
	finding = finding_add(doctor, "thp-process", NULL, STATUS_LIMITS,
		"huge pages are disabled for this process and all that it starts "
		"(PR_SET_THP_DISABLE)");
	finding_remedy(finding, "start from a session whose parents do not disable them");
}

/* From the kernel's configuration, else CONFIG_ARCH_MMAP_RND_BITS_MAX for 48-bit addresses. */
static uint64_t random_bits_max(const struct doctor *doctor)
{
	static const char key[] = "CONFIG_ARCH_MMAP_RND_BITS_MAX=";
	const char *line = doctor->config ? strstr(doctor->config, key) : NULL;

	if (line)
		return strtoull(line + strlen(key), NULL, 10);
	if (!doctor->machine->geometry.contpte_bytes)
		return 32;
	switch (doctor->machine->geometry.page_bytes) {
	case 4 * EA_KIB:
		return 33;
	case 16 * EA_KIB:
		return 31;
	default:
		return 29;
	}
}

/* Exponent of the power of two that ends the address space below which the stack lies. */
static int address_bits(void)
{
	return 64 - __builtin_clzll((uint64_t)(uintptr_t)__builtin_frame_address(0));
}

/*
 * Bits of the random shift by blocks that the shim gives the first start-up library: as many as the
 * kernel's default has, if they fit into a 512th of the address space (shim/process.c).
 */
static int shift_bits(const struct ea_geometry *geometry)
{
	int room_bits = address_bits() - 9 - __builtin_ctzll(EA_BLOCK_CAP_BYTES);
	int bits;

	if (!geometry->contpte_bytes)
		bits = 28;
	else if (geometry->page_bytes == 4 * EA_KIB)
		bits = 18;
	else
		bits = geometry->page_bytes == 16 * EA_KIB ? 16 : 14;
	return bits < room_bits ? bits : room_bits;
}

/*
 * Random bits of a library on a block boundary, of @bits in all: of the kernel's choice or of the
 * shift, whichever has more. Their sum has hardly more than the larger one.
 */
static int bits_of_placed(const struct ea_geometry *geometry, int bits)
{
	int kept = bits - __builtin_ctzll(EA_BLOCK_CAP_BYTES / geometry->page_bytes);

	if (kept < shift_bits(geometry))
		kept = shift_bits(geometry);
	return kept < bits ? kept : bits;
}

static void judge_random_bits(struct doctor *doctor, int bits, int most)
{
	const struct ea_geometry *geometry = &doctor->machine->geometry;
	int placed = bits_of_placed(geometry, bits);
	struct finding *finding;

	if (placed == bits) {
		finding = finding_add(doctor, "aslr", NULL, STATUS_OK,
			"addresses have %d random bits; a library that the shim places at start-up "
			"keeps them, being moved by random blocks",
			bits);
	} else {
		finding = finding_add(doctor, "aslr", NULL, bits < most ? STATUS_LIMITS : STATUS_OK,
			"addresses have %d random bits; a library on a 2 MiB boundary has about "
			"%d, since no more such boundaries are in reach",
			bits, placed);
		if (bits < most)
			finding_remedy(finding,
				"sysctl vm.mmap_rnd_bits=%d gives it %d (address sanitizers may "
				"fail with so many)",
				most, bits_of_placed(geometry, most));
	}
	finding_value(finding, "mmap_rnd_bits", json_object_new_int(bits));
	finding_value(finding, "mmap_rnd_bits_max", json_object_new_int(most));
	finding_value(finding, "block_cost_bits",
		json_object_new_int(__builtin_ctzll(EA_BLOCK_CAP_BYTES / geometry->page_bytes)));
	finding_value(finding, "placed_bits", json_object_new_int(placed));
}

static void check_random_bits(struct doctor *doctor)
{
	static const char file[] = "/proc/sys/vm/mmap_rnd_bits";
	struct finding *finding;
	uint64_t bits;
	int err = read_number(file, &bits);

	if (!err) {
		judge_random_bits(doctor, (int)bits, (int)random_bits_max(doctor));
		return;
	}
	finding = finding_add(doctor, "aslr", NULL, STATUS_UNKNOWN, "%s: %s", file, strerror(-err));
	if (err == -EACCES)
		finding_remedy(finding, "run as root");
}

void check_machine(struct doctor *doctor)
{
	check_pages(doctor);
	check_blocks(doctor);
	check_thp_mode(doctor);
	check_thp_process(doctor);
	check_random_bits(doctor);
}
