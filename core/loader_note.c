/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "loader_note.h"

static const char owner[] = "execalign";
#define TYPE 1

static uint64_t padded(uint32_t bytes)
{
	return ((uint64_t)bytes + 3) & ~(uint64_t)3;
}

static int is_owner(const Elf64_Nhdr *note, const unsigned char *name)
{
	unsigned int i;

	if (note->n_type != TYPE || note->n_namesz != sizeof(owner) ||
		note->n_descsz < sizeof(struct ea_loader_note))
		return 0;
	for (i = 0; i < sizeof(owner) && name[i] == (unsigned char)owner[i]; i++)
		;
	return i == sizeof(owner);
}

int ea_loader_note_find(const void *notes, size_t bytes, struct ea_loader_note *out)
{
	const unsigned char *at = notes;
	struct ea_loader_note words;
	uint64_t name_bytes, note_bytes;
	Elf64_Nhdr note;

	while (bytes >= sizeof(note)) {
		__builtin_memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		bytes -= sizeof(note);
		name_bytes = padded(note.n_namesz);
		note_bytes = name_bytes + padded(note.n_descsz);
		if (note_bytes > bytes)
			return 0;
		if (is_owner(&note, at)) {
			__builtin_memcpy(&words, at + name_bytes, sizeof(words));
			/* There is no version 0: whoever wrote that does not know what it says. */
			if (words.version)
				*out = words;
			return words.version != 0;
		}
		at += note_bytes;
		bytes -= note_bytes;
	}
	return 0;
}

/* What follows @prefix, or NULL. */
static const char *after(const char *text, const char *prefix)
{
	while (*prefix) {
		if (*text++ != *prefix++)
			return NULL;
	}
	return text;
}

const char *ea_tunable_find(const char *list, const char *name)
{
	const char *found = NULL, *value;

	while (list && *list) {
		value = after(list, name);
		if (value)
			found = value;
		while (*list && *list++ != ':')
			;
	}
	return found;
}

int ea_loader_is_on(const struct ea_loader_note *note, const char *value)
{
	const char *digit = value;

	if (!value)
		return note->is_on != 0;
	if (digit[0] == '0' && (digit[1] | 0x20) == 'x')
		digit += 2;
	while (*digit == '0')
		digit++;
	if (!*digit || *digit == ':')
		return 0;
	return note->is_on || (*value >= '0' && *value <= '9');
}
