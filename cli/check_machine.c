/* SPDX-License-Identifier: MIT */
/*
 * check_machine.c - pages, blocks, huge page settings and address space randomisation
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "findings.h"
#include "format.h"
#include "io.h"

#define THP_DIRECTORY "/sys/kernel/mm/transparent_hugepage/"

/* Fewer random bits than this in a library's address are few enough to try them all. */
#define RANDOM_BITS_FEW 16

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

static void check_random_bits(struct doctor *doctor)
{
	static const char file[] = "/proc/sys/vm/mmap_rnd_bits";
	uint64_t page_bytes = doctor->machine->geometry.page_bytes;
	uint64_t bits, most = random_bits_max(doctor);
	int cost = __builtin_ctzll(EA_BLOCK_CAP_BYTES / page_bytes);
	struct finding *finding;
	int err = read_number(file, &bits);

	if (err) {
		finding = finding_add(
			doctor, "aslr", NULL, STATUS_UNKNOWN, "%s: %s", file, strerror(-err));
		if (err == -EACCES)
			finding_remedy(finding, "run as root");
		return;
	}
	finding = finding_add(doctor, "aslr", NULL,
		(int64_t)bits - cost < RANDOM_BITS_FEW ? STATUS_LIMITS : STATUS_OK,
		"addresses have %" PRIu64 " random bits; a base on a 2 MiB boundary uses %" PRId64
		" of them, and the shim adds random blocks to keep all",
		bits, (int64_t)bits - cost);
	finding_value(finding, "mmap_rnd_bits", json_object_new_int64((int64_t)bits));
	finding_value(finding, "mmap_rnd_bits_max", json_object_new_int64((int64_t)most));
	finding_value(finding, "block_cost_bits", json_object_new_int(cost));
	if (finding->status == STATUS_LIMITS && bits < most)
		finding_remedy(finding,
			"for bases that the kernel or a p_align aligns: sysctl "
			"vm.mmap_rnd_bits=%" PRIu64 " (address sanitizers may fail with many)",
			most);
}

void check_machine(struct doctor *doctor)
{
	check_pages(doctor);
	check_blocks(doctor);
	check_thp_mode(doctor);
	check_thp_process(doctor);
	check_random_bits(doctor);
}
