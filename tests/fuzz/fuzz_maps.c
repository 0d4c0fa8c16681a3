/* SPDX-License-Identifier: MIT */
/*
 * fuzz_maps.c - the parsers of /proc/PID/smaps and /proc/PID/mountinfo
 *
 * The first byte chooses the parser, the rest is its text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/maps.h"
#include "cli/mounts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void parse_maps(const char *text, size_t bytes)
{
	struct maps maps;
	size_t i;

	if (maps_parse(text, bytes, &maps))
		return;
	for (i = 0; i < maps.count; i++) {
		const struct vma *vma = &maps.vmas[i];
		size_t path_bytes = strlen(vma->path);

		/* What users of the parser rely on. */
		if (vma->end <= vma->start || !vma->inode || !path_bytes ||
			vma->offset + (vma->end - vma->start) < vma->offset)
			abort();
		maps_unescape(vma->path);
		if (strlen(vma->path) > path_bytes || strstr(vma->path, "\\012"))
			abort();
	}
	maps_free(&maps);
}

static void parse_mounts(const char *text, size_t bytes)
{
	struct mounts mounts;
	size_t i;

	if (mounts_parse(text, bytes, &mounts))
		return;
	for (i = 0; i < mounts.count; i++) {
		struct layers layers;

		if (!mounts_find(&mounts, mounts.mounts[i].id))
			abort();
		if (!mount_layers(&mounts.mounts[i], &layers))
			layers_free(&layers);
	}
	mounts_free(&mounts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *copy;

	if (!bytes)
		return 0;
	/* Of the exact size, so that the sanitizer sees a read beyond it. */
	copy = malloc(bytes - 1 ? bytes - 1 : 1);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, bytes - 1);
	if (data[0] & 1)
		parse_maps(copy, bytes - 1);
	else
		parse_mounts(copy, bytes - 1);
	free(copy);
	return 0;
}
