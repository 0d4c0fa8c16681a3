/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"

/* struct scan - a position in a line */
struct scan {
	const char *at;
	const char *end;
};

static bool scan_char(struct scan *scan, char wanted)
{
	if (scan->at == scan->end || *scan->at != wanted)
		return false;
	scan->at++;
	return true;
}

static void scan_blanks(struct scan *scan)
{
	while (scan_char(scan, ' ') || scan_char(scan, '\t'))
		;
}

static int digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return -1;
}

static bool scan_number(struct scan *scan, unsigned int base, uint64_t *out)
{
	const char *start = scan->at;
	uint64_t value = 0;

	for (; scan->at < scan->end; scan->at++) {
		int digit = digit_value(*scan->at);

		if (digit < 0 || (unsigned int)digit >= base)
			break;
		if (__builtin_mul_overflow(value, base, &value) ||
			__builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*out = value;
	return scan->at > start;
}

static bool scan_number32(struct scan *scan, unsigned int base, uint32_t *out)
{
	uint64_t value;

	if (!scan_number(scan, base, &value) || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

/* "r-xp" */
static bool scan_permissions(struct scan *scan, struct vma *vma)
{
	if (scan->end - scan->at < 4)
		return false;
	vma->readable = scan->at[0] == 'r';
	vma->writable = scan->at[1] == 'w';
	vma->executable = scan->at[2] == 'x';
	scan->at += 4;
	return true;
}

/* "START-END PERM OFFSET MAJOR:MINOR INODE    PATH" (show_map_vma() of fs/proc/task_mmu.c) */
static int parse_header(struct scan *scan, struct vma *vma)
{
	uint64_t bytes, end_offset;

	if (!scan_number(scan, 16, &vma->start) || !scan_char(scan, '-') ||
		!scan_number(scan, 16, &vma->end) || !scan_char(scan, ' ') ||
		!scan_permissions(scan, vma) || !scan_char(scan, ' ') ||
		!scan_number(scan, 16, &vma->offset) || !scan_char(scan, ' ') ||
		!scan_number32(scan, 16, &vma->dev_major) || !scan_char(scan, ':') ||
		!scan_number32(scan, 16, &vma->dev_minor) || !scan_char(scan, ' ') ||
		!scan_number(scan, 10, &vma->inode))
		return -EINVAL;
	if (vma->end <= vma->start)
		return -EINVAL;
	bytes = vma->end - vma->start;
	if (__builtin_add_overflow(vma->offset, bytes, &end_offset))
		return -EINVAL;
	scan_blanks(scan);
	return 0;
}

/* Does the line begin with @key and a colon? Then the number of KiB behind it is read as bytes. */
static bool parse_kib(struct scan scan, const char *key, uint64_t *bytes)
{
	size_t key_bytes = strlen(key);
	uint64_t kib;

	if ((size_t)(scan.end - scan.at) <= key_bytes || memcmp(scan.at, key, key_bytes))
		return false;
	scan.at += key_bytes;
	if (!scan_char(&scan, ':'))
		return false;
	scan_blanks(&scan);
	if (!scan_number(&scan, 10, &kib) || kib > UINT64_MAX / 1024)
		return false;
	*bytes = kib * 1024;
	return true;
}

static void parse_flags(struct scan scan, struct vma *vma)
{
	static const char key[] = "VmFlags:";

	if ((size_t)(scan.end - scan.at) < strlen(key) || memcmp(scan.at, key, strlen(key)))
		return;
	for (scan.at += strlen(key); scan.end - scan.at >= 3; scan.at += 3) {
		if (!memcmp(scan.at, " hg", 3))
			vma->advised = true;
		else if (!memcmp(scan.at, " nh", 3))
			vma->refused = true;
	}
}

static void add_pmd_mapped(struct vma *vma, uint64_t bytes)
{
	if (__builtin_add_overflow(vma->pmd_mapped_bytes, bytes, &vma->pmd_mapped_bytes))
		vma->pmd_mapped_bytes = UINT64_MAX - 1;
}

/* A "Key:   N kB" line of smaps; unknown keys are passed over. */
static void parse_detail(const struct scan *scan, struct vma *vma)
{
	uint64_t bytes;

	if (parse_kib(*scan, "Rss", &bytes)) {
		vma->rss_bytes = bytes;
	} else if (parse_kib(*scan, "FilePmdMapped", &bytes)) {
		vma->pmd_known = true;
		add_pmd_mapped(vma, bytes);
	} else if (parse_kib(*scan, "ShmemPmdMapped", &bytes) ||
		   parse_kib(*scan, "Shared_Hugetlb", &bytes) ||
		   parse_kib(*scan, "Private_Hugetlb", &bytes)) {
		add_pmd_mapped(vma, bytes);
	} else {
		parse_flags(*scan, vma);
	}
}

static int add_vma(struct maps *maps, size_t *room, const struct vma *vma, const struct scan *path)
{
	struct vma *vmas = maps->vmas;

	if (maps->count == *room) {
		*room = *room ? *room * 2 : 64;
		vmas = reallocarray(vmas, *room, sizeof(*vmas));
		if (!vmas)
			return -ENOMEM;
		maps->vmas = vmas;
	}
	vmas[maps->count] = *vma;
	vmas[maps->count].path = strndup(path->at, (size_t)(path->end - path->at));
	if (!vmas[maps->count].path)
		return -ENOMEM;
	maps->count++;
	return 0;
}

/* Mapping lines begin with a hexadecimal digit in lower case, detail lines with a capital. */
static bool is_header(const struct scan *line)
{
	return line->at < line->end && digit_value(*line->at) >= 0;
}

static int parse_lines(const char *text, size_t bytes, struct maps *maps)
{
	const char *end = text + bytes;
	size_t room = 0;
	bool in_file = false;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		struct scan line = {.at = text, .end = newline ? newline : end};
		struct vma vma = {0};
		int err;

		text = newline ? newline + 1 : end;
		if (!is_header(&line)) {
			if (in_file)
				parse_detail(&line, &maps->vmas[maps->count - 1]);
			continue;
		}
		err = parse_header(&line, &vma);
		if (err)
			return err;
		/* Anonymous memory, stacks and the vdso have no inode. */
		in_file = vma.inode && line.at < line.end;
		err = in_file ? add_vma(maps, &room, &vma, &line) : 0;
		if (err)
			return err;
	}
	return 0;
}

int maps_parse(const char *text, size_t bytes, struct maps *out)
{
	struct maps maps = {0};
	int err;

	/* No file name holds a NUL. */
	if (bytes && memchr(text, '\0', bytes))
		return -EINVAL;
	err = parse_lines(text, bytes, &maps);
	if (err) {
		maps_free(&maps);
		return err;
	}
	*out = maps;
	return 0;
}

void maps_free(struct maps *maps)
{
	size_t i;

	for (i = 0; i < maps->count; i++)
		free(maps->vmas[i].path);
	free(maps->vmas);
	maps->vmas = NULL;
	maps->count = 0;
}

bool maps_unescape(char *path)
{
	char *out = path;
	bool changed = false;

	while (*path) {
		if (!strncmp(path, "\\012", 4)) {
			*out++ = '\n';
			path += 4;
			changed = true;
		} else {
			*out++ = *path++;
		}
	}
	*out = '\0';
	return changed;
}
