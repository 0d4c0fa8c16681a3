/* SPDX-License-Identifier: MIT */
/*
 * fuzz_loader_note.c - the input is a PT_NOTE segment
 */
#include <stdlib.h>
#include <string.h>

#include "core/loader_note.h"
#include "invariants.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Is there a place where what was found begins? */
static int is_there(const uint8_t *data, size_t size, const struct ea_loader_note *note)
{
	static const uint8_t owner[12] = "execalign";
	size_t at;

	for (at = 12; at + 20 <= size; at += 4)
		if (!memcmp(data + at, owner, 10) && !memcmp(data + at + 12, note, 8))
			return 1;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ea_loader_note note = {0, 0};
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	/* At an odd address, and not a byte longer than it says. */
	memcpy(copy + 1, data, size);
	if (ea_loader_note_find(copy + 1, size, &note)) {
		REQUIRE(note.version);
		REQUIRE(is_there(data, size, &note));
	} else {
		REQUIRE(!note.version && !note.is_on);
	}
	free(copy);
	return 0;
}
