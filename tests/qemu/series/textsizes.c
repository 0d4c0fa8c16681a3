// SPDX-License-Identifier: MIT
/*
 * textsizes.c - in what folios the text is that processes have mapped
 *
 *	textsizes [PID]...
 *
 * For each executable mapping of a file of the processes (of all), prints one line of
 *
 *	TEXT pid=N mapped=BYTES present=BYTES contpte=BYTES|unknown pmd=BYTES folios=SIZE:BYTES,...
 *		path=PATH
 *
 * present: pages with an entry; folios: how many of these bytes are in folios of what size; contpte
 * and pmd are the kernel's own figures (smaps; the former is there with the series). Root only. Our
 * own process is left out. Exit: 0 done, 2 cannot (one line on stderr).
 */
#define _GNU_SOURCE
#include "series.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>

#define ORDERS 32

struct text {
	uint64_t start, end;
	char path[4096];
	long long contpte_kib, pmd_kib; /* -1: smaps does not say */
};

static int kpageflags;

static uint64_t count_folios(int pagemap, const struct text *text, uint64_t bytes[ORDERS])
{
	uint64_t entry, present = 0;
	struct folio folio = {0, 0, 0};

	for (uint64_t at = text->start; at < text->end; at += page_bytes()) {
		uint64_t frame;

		if (read_items(pagemap, at / page_bytes(), &entry, 1) != 1 ||
			!(entry & PAGEMAP_PRESENT))
			continue;
		frame = entry & PAGEMAP_FRAME;
		if (frame < folio.first_frame || frame >= folio.first_frame + folio.pages)
			folio = folio_of(kpageflags, frame);
		bytes[63 - __builtin_clzll(folio.pages)] += page_bytes();
		present += page_bytes();
	}
	return present;
}

static void print_text(const char *pid, int pagemap, const struct text *text)
{
	uint64_t bytes[ORDERS] = {0};
	uint64_t present = count_folios(pagemap, text, bytes);
	const char *separator = "";

	printf("TEXT pid=%s mapped=%" PRIu64 " present=%" PRIu64 " contpte=", pid,
		text->end - text->start, present);
	if (text->contpte_kib < 0)
		printf("unknown");
	else
		printf("%lld", text->contpte_kib * 1024);
	printf(" pmd=%lld folios=", text->pmd_kib * 1024);
	for (unsigned int order = 0; order < ORDERS; order++) {
		if (!bytes[order])
			continue;
		printf("%s%" PRIu64 ":%" PRIu64, separator, page_bytes() << order, bytes[order]);
		separator = ",";
	}
	printf(" path=%s\n", text->path);
}

/* The first line of a mapping: whether it is text of a file. */
static bool parse_header(const char *line, struct text *text)
{
	char permissions[5];

	text->contpte_kib = text->pmd_kib = -1;
	return sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %4095[^\n]", &text->start,
		       &text->end, permissions, text->path) == 4 &&
	       permissions[2] == 'x' && text->path[0] == '/';
}

static void print_process(const char *pid)
{
	char name[64], *line = NULL;
	struct text text;
	size_t room = 0;
	bool is_text = false;
	int pagemap;
	FILE *smaps;

	snprintf(name, sizeof(name), "/proc/%s/pagemap", pid);
	pagemap = open(name, O_RDONLY | O_CLOEXEC);
	snprintf(name, sizeof(name), "/proc/%s/smaps", pid);
	smaps = fopen(name, "re");
	/* It may have ended meanwhile. */
	while (smaps && pagemap >= 0 && getline(&line, &room, smaps) > 0) {
		if (!isupper(line[0]))
			is_text = parse_header(line, &text);
		sscanf(line, "ContPteMapped: %lld", &text.contpte_kib);
		sscanf(line, "FilePmdMapped: %lld", &text.pmd_kib);
		/* The last line of each. */
		if (is_text && strncmp(line, "VmFlags:", 8) == 0)
			print_text(pid, pagemap, &text);
	}
	free(line);
	if (smaps)
		fclose(smaps);
	if (pagemap >= 0)
		close(pagemap);
}

static void print_all(void)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	if (!processes)
		die("cannot read /proc: %s", strerror(errno));
	while ((entry = readdir(processes)))
		if (isdigit(entry->d_name[0]) && atol(entry->d_name) != getpid())
			print_process(entry->d_name);
	closedir(processes);
}

int main(int argc, char **argv)
{
	kpageflags = open_or_die("/proc/kpageflags", O_RDONLY);
	for (int i = 1; i < argc; i++)
		print_process(argv[i]);
	if (argc == 1)
		print_all();
	return 0;
}
