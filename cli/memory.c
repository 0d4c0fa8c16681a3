/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "format.h"
#include "io.h"
#include "memory.h"

static uint64_t value_bytes(const char *text, const char *key)
{
	const char *line = strstr(text, key);
	uint64_t kib;

	if (!line || sscanf(line + strlen(key), "%" SCNu64 " kB", &kib) != 1)
		return UNKNOWN_BYTES;
	return kib * EA_KIB;
}

void memory_read(int proc_fd, struct memory *out)
{
	struct buffer text;

	out->pss_bytes = UNKNOWN_BYTES;
	out->private_dirty_bytes = UNKNOWN_BYTES;
	if (read_file_at(proc_fd, "smaps_rollup", &text))
		return;
	out->pss_bytes = value_bytes(text.data, "\nPss:");
	out->private_dirty_bytes = value_bytes(text.data, "\nPrivate_Dirty:");
	free(text.data);
}
