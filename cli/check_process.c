/* SPDX-License-Identifier: MIT */
/*
 * check_process.c - the C library, the shim, and what this user may see
 */
#include <errno.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/loader_note.h"
#include "findings.h"
#include "format.h"
#include "io.h"
#include "launch.h"
#include "pagemap.h"

/* rtld-audit without a tax on PLT calls, and p_align heeded, are in glibc since 2.35. */
#define GLIBC_MINOR_NEEDED 35
/* glibc.elf.thp */
#define GLIBC_MINOR_THP 44

static void check_glibc(struct doctor *doctor)
{
	const char *version = gnu_get_libc_version();
	struct ea_release release;
	struct finding *finding;

	if (ea_release_parse(version, &release)) {
		finding_add(doctor, "glibc", NULL, STATUS_UNKNOWN, "version '%s' is not understood",
			version);
		return;
	}
	if (ea_release_at_least(&release, 2, GLIBC_MINOR_NEEDED)) {
		finding = finding_add(doctor, "glibc", NULL, STATUS_OK,
			"glibc %s: the shim places libraries as an auditor", version);
	} else {
		finding = finding_add(doctor, "glibc", NULL, STATUS_LIMITS,
			"glibc %s: the shim needs 2.%d to place libraries", version,
			GLIBC_MINOR_NEEDED);
		finding_remedy(finding, "use a newer distribution");
	}
	finding_value(finding, "version", json_object_new_string(version));
}

static void check_elf_thp(struct doctor *doctor)
{
	const char *value = ea_tunable_find(getenv("GLIBC_TUNABLES"), "glibc.elf.thp=");
	struct ea_release release;
	struct finding *finding;
	bool exists;

	if (ea_release_parse(gnu_get_libc_version(), &release))
		return;
	exists = ea_release_at_least(&release, 2, GLIBC_MINOR_THP);
	if (doctor->loader_places) {
		finding = finding_add(doctor, "glibc.elf.thp", NULL, STATUS_OK,
			"not needed: this loader places text by itself");
	} else if (!exists) {
		finding = finding_add(doctor, "glibc.elf.thp", NULL, STATUS_LIMITS,
			"this loader does not align libraries: the tunable came with glibc 2.%d",
			GLIBC_MINOR_THP);
		finding_remedy(finding, "%s", remedy_run(doctor));
	} else if (value && *value == '1') {
		finding = finding_add(doctor, "glibc.elf.thp", NULL, STATUS_OK,
			"set: the loader aligns libraries whose layout suits, to PMDs only");
	} else {
		finding = finding_add(doctor, "glibc.elf.thp", NULL, STATUS_LIMITS,
			"not set in GLIBC_TUNABLES: the loader does not align libraries");
		finding_remedy(finding, "%s", remedy_run(doctor));
	}
	finding_value(finding, "exists", json_object_new_boolean(exists));
	finding_value(finding, "set", json_object_new_boolean(value && *value == '1'));
}

void check_shim(struct doctor *doctor)
{
	char *shim = launch_find_shim();
	struct finding *finding;

	if (shim) {
		finding_add(doctor, "shim", NULL, STATUS_OK, "%s", shim);
	} else {
		finding = finding_add(doctor, "shim", NULL, STATUS_LIMITS,
			"libexecalign.so is neither beside this program nor where it is installed");
		finding_remedy(finding, "build or install it: make, make install");
	}
	free(shim);
}

void check_libc(struct doctor *doctor)
{
	check_glibc(doctor);
	check_elf_thp(doctor);
}

/* Whether it is allowed is best found out by doing it. */
static int perf_open_error(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_CODE_PAGE_SIZE,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

static void check_perf(struct doctor *doctor)
{
	char paranoid[32];
	int err = perf_open_error();
	struct finding *finding;

	if (read_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid)))
		snprintf(paranoid, sizeof(paranoid), "unknown");
	if (!err) {
		finding = finding_add(doctor, "perf", NULL, STATUS_OK,
			"own programs can be sampled with the page size of their code "
			"(perf_event_paranoid %s)",
			paranoid);
	} else if (err == -EACCES || err == -EPERM) {
		finding = finding_add(doctor, "perf", NULL, STATUS_LIMITS,
			"own programs cannot be sampled with the page size of their code "
			"(perf_event_paranoid %s)",
			paranoid);
		finding_remedy(finding, "sysctl kernel.perf_event_paranoid=2, or CAP_PERFMON");
	} else {
		finding = finding_add(doctor, "perf", NULL, STATUS_LIMITS,
			"this kernel does not sample the page size of code: %s", strerror(-err));
		finding_remedy(finding, "use Linux 5.11 or newer with CONFIG_PERF_EVENTS");
	}
	finding_value(finding, "perf_event_paranoid", json_object_new_string(paranoid));
	finding_value(finding, "samples_code_page_size", json_object_new_boolean(!err));
}

static void check_page_tables(struct doctor *doctor)
{
	static struct page_flags flags;
	struct finding *finding;

	page_flags_open(&flags);
	if (flags.fd >= 0) {
		finding = finding_add(doctor, "page-frames", NULL, STATUS_OK,
			"/proc/PID/pagemap and /proc/kpageflags show where pages are, and in which "
			"folios");
	} else if (access("/proc/kpageflags", F_OK)) {
		finding = finding_add(doctor, "page-frames", NULL, STATUS_LIMITS,
			"there is no /proc/kpageflags: folio sizes cannot be shown");
		finding_remedy(finding, "use a kernel with CONFIG_PROC_PAGE_MONITOR");
	} else {
		finding = finding_add(doctor, "page-frames", NULL, STATUS_LIMITS,
			"page frames are hidden from this user: folio sizes and contiguous-PTE "
			"blocks cannot be shown");
		finding_remedy(finding, "run 'execalign report' as root (CAP_SYS_ADMIN)");
	}
	finding_value(finding, "visible", json_object_new_boolean(flags.fd >= 0));
	page_flags_close(&flags);
}

void check_privileges(struct doctor *doctor)
{
	check_perf(doctor);
	check_page_tables(doctor);
}
