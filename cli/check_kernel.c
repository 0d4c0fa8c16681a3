/* SPDX-License-Identifier: MIT */
/*
 * check_kernel.c - what this kernel does for executable text
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "format.h"

/* enum where - machines that a feature is about */
enum where {
	ANYWHERE,
	ON_ARM64,
	ON_ARM64_LARGE_PAGES, /* 16K and 64K */
};

/*
 * struct feature - a change of mm/ that decides about text, as read in the sources of the versions
 * named here: which one in between brought it is not claimed
 */
struct feature {
	const char *name;
	enum where where;
	struct ea_release last_without; /* {0}: none is known without */
	struct ea_release first_with;	/* {0}: none is known with */
	const char *with;
	const char *without;
	const char *remedy; /* without it; NULL: only the shim, or a loader that does the same */
	bool or_run;	    /* the shim helps as well */
};

static const struct feature features[] = {
	{"contpte", ON_ARM64, {6, 8}, {6, 9}, "contiguous PTEs are folded into one TLB entry",
		"contiguous PTEs are not folded into one TLB entry", "use Linux 6.9 or newer",
		false},
	{"exec-folios", ON_ARM64, {6, 12}, {6, 18}, "text is read ahead in folios of 64 KiB",
		"text is read ahead in folios that grow from the smallest",
		"use Linux 6.18 or newer", true},
	{"exec-folios-2m", ON_ARM64_LARGE_PAGES, {7, 2}, {0, 0}, "",
		"unasked, text is never read in folios of 2 MiB, the block of this page size", NULL,
		true},
	{"exec-readahead", ANYWHERE, {6, 18}, {7, 2},
		"misses in a mapping do not switch read-ahead of text off",
		"after many misses in a mapping text is read page by page",
		"use Linux 7.2 or newer", false},
	{"folio-mapping", ANYWHERE, {6, 12}, {6, 18}, "a fault maps the whole folio",
		"a fault maps 64 KiB around it, so that large folios are mapped bit by bit",
		"use Linux 6.18 or newer", false},
	{"small-blocks", ON_ARM64, {7, 2}, {0, 0}, "",
		"new mappings are aligned to PMDs or not at all, never to contiguous PTEs", NULL,
		true},
	{"executables", ANYWHERE, {7, 2}, {0, 0}, "",
		"a program itself is placed by its p_align only",
		"link programs whose text is large with -z max-page-size=0x200000", false},
	{"overlay-alignment", ANYWHERE, {7, 2}, {0, 0}, "",
		"mappings of files on overlayfs, as in containers, are not aligned", NULL, true},
};

static bool feature_applies(const struct feature *feature, const struct machine *machine)
{
	switch (feature->where) {
	case ANYWHERE:
		return true;
	case ON_ARM64:
		return machine->elf_machine == EM_AARCH64;
	case ON_ARM64_LARGE_PAGES:
		return machine->elf_machine == EM_AARCH64 &&
		       machine->geometry.page_bytes > 4 * EA_KIB;
	}
	return false;
}

static void check_feature(struct doctor *doctor, const struct feature *feature)
{
	const struct ea_release *release = &doctor->machine->release;
	const struct ea_release *without = &feature->last_without, *with = &feature->first_with;
	struct finding *finding;

	if (with->major && ea_release_at_least(release, with->major, with->minor)) {
		finding_add(doctor, feature->name, NULL, STATUS_OK, "%s", feature->with);
		return;
	}
	if (ea_release_at_least(release, without->major, without->minor + 1)) {
		finding = finding_add(doctor, feature->name, NULL, STATUS_UNKNOWN,
			"up to Linux %u.%u: %s; of Linux %u.%u this is not known", without->major,
			without->minor, feature->without, release->major, release->minor);
	} else {
		finding = finding_add(
			doctor, feature->name, NULL, STATUS_LIMITS, "%s", feature->without);
	}
	if (!feature->remedy)
		finding_remedy(finding, "%s", remedy_run(doctor));
	else if (feature->or_run && !doctor->loader_places)
		finding_remedy(finding, "%s, or %s", feature->remedy, remedy_run(doctor));
	else
		finding_remedy(finding, "%s", feature->remedy);
}

/* MADV_HUGEPAGE on a filesystem whose folios are large enough: core/kernel.h has the rule. */
static void check_advice(struct doctor *doctor)
{
	const struct machine *machine = doctor->machine;
	enum ea_advice advice = ea_advice_for_block(
		&machine->geometry, EA_BLOCK_CAP_BYTES, &machine->release, EA_FS_EXT4);
	struct finding *finding;
	char block[FORMAT_BYTES_MAX];

	format_bytes(EA_BLOCK_CAP_BYTES, block);
	if (advice == EA_ADVICE_USEFUL) {
		finding_add(doctor, "advice", NULL, STATUS_OK,
			"text advised with MADV_HUGEPAGE is read in folios of %s", block);
		return;
	}
	finding = finding_add(doctor, "advice", NULL, STATUS_LIMITS,
		"MADV_HUGEPAGE would not read text in folios of %s: %s", block,
		ea_advice_reason(advice));
	if (advice == EA_ADVICE_FILESYSTEM)
		finding_remedy(finding, "use Linux 6.16 or newer, or xfs");
	else
		finding_remedy(finding, "use Linux 7.2 or newer");
}

/* 1: CONFIG_@name=y, 0: it is not, -1: the configuration is not to be had. */
static int config_has(const struct doctor *doctor, const char *name)
{
	const char *line = doctor->config;
	size_t name_bytes = strlen(name);

	if (!line)
		return -1;
	while ((line = strstr(line, name))) {
		if ((line == doctor->config || line[-1] == '\n') && line[name_bytes] == '=')
			return line[name_bytes + 1] == 'y';
		line += name_bytes;
	}
	return 0;
}

static void check_config(struct doctor *doctor, const char *name, const char *without)
{
	struct finding *finding;
	int has = config_has(doctor, name);

	if (has == 1) {
		finding_add(doctor, "config", name, STATUS_OK, "set");
	} else if (has == 0) {
		finding =
			finding_add(doctor, "config", name, STATUS_LIMITS, "not set: %s", without);
		finding_remedy(finding, "use a kernel that has it");
	} else {
		finding = finding_add(doctor, "config", name, STATUS_UNKNOWN,
			"no configuration in /proc/config.gz, /boot or /lib/modules");
		finding_remedy(finding, "without it %s", without);
	}
}

/* From 7.2 on MADV_COLLAPSE takes text of any filesystem with large folios. */
static void check_collapse(struct doctor *doctor)
{
	if (ea_release_at_least(&doctor->machine->release, 7, 2))
		finding_add(doctor, "collapse", NULL, STATUS_OK,
			"text that is cached in small folios can be collapsed (MADV_COLLAPSE)");
	else
		check_config(doctor, "CONFIG_READ_ONLY_THP_FOR_FS",
			"text that is cached in small folios cannot be collapsed, only evicted and "
			"read again");
}

void check_kernel(struct doctor *doctor)
{
	size_t i;

	finding_add(doctor, "kernel", NULL, STATUS_OK,
		"Linux %s; what it does for text:", doctor->machine->uname.release);
	check_advice(doctor);
	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (feature_applies(&features[i], doctor->machine))
			check_feature(doctor, &features[i]);
	check_collapse(doctor);
	if (doctor->machine->elf_machine == EM_AARCH64)
		check_config(doctor, "CONFIG_ARM64_CONTPTE",
			"contiguous PTEs are not folded into one TLB entry");
}
