/* SPDX-License-Identifier: MIT */
/*
 * loader_note.h - how a dynamic loader says that it places text by itself
 *
 * An ELF note in the loader's file, which a PT_NOTE covers (loader-patch/README.md, "How a patched
 * loader is recognised"): owner "execalign", type 1, and two words.
 */
#ifndef EA_LOADER_NOTE_H
#define EA_LOADER_NOTE_H

#include <stddef.h>
#include <stdint.h>

/* The version of the rule that core/block.h has. */
#define EA_LOADER_RULE_VERSION 1

/* glibc's switch, an item of GLIBC_TUNABLES; and musl's, a variable. */
#define EA_LOADER_TUNABLE "glibc.elf.exec_align"
#define EA_LOADER_VARIABLE "LD_EXEC_ALIGN"

/* struct ea_loader_note - the note's words */
struct ea_loader_note {
	uint32_t version; /* of the rule, at least 1 */
	uint32_t is_on;	  /* not 0: on unless it is switched off */
};

/*
 * ea_loader_note_find - look for the note among those of a PT_NOTE segment
 * @notes, @bytes: the segment; any alignment
 * @out: filled on success only
 *
 * Notes are padded to four bytes, as this one is. A note that does not end in @bytes ends the search.
 * Returns 1 if it is there, else 0. Any context.
 */
int ea_loader_note_find(const void *notes, size_t bytes, struct ea_loader_note *out);

/*
 * ea_tunable_find - value of an item of GLIBC_TUNABLES, or NULL
 * @list: name=value:name=value, or NULL
 * @name: with the equal sign
 *
 * The last one counts (glibc elf/dl-tunables.c); it ends with a colon or with the list.
 */
const char *ea_tunable_find(const char *list, const char *name);

/*
 * ea_loader_is_on - does the loader place text, given its switch's value?
 * @value: ends with a colon or NUL; NULL if the switch is not set
 *
 * 0 is off, and for glibc so is nothing at all; other numbers are on; anything else is ignored.
 * Privileged programs (AT_SECURE) do not heed it: the caller passes NULL for them.
 */
int ea_loader_is_on(const struct ea_loader_note *note, const char *value);

#endif
