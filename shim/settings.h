/* SPDX-License-Identifier: MIT */
/*
 * settings.h - the EXECALIGN_* variables
 */
#ifndef EA_SHIM_SETTINGS_H
#define EA_SHIM_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "core/block.h"

enum ea_promote {
	EA_PROMOTE_AUTO,
	EA_PROMOTE_ALWAYS,
	EA_PROMOTE_NEVER,
};

enum ea_advise {
	EA_ADVISE_AUTO,	    /* where core/kernel.h says that it helps */
	EA_ADVISE_HUGEPAGE, /* the same without MADV_RANDOM: see ea_advise_text() */
	EA_ADVISE_NEVER,
};

/* Room for the texts of EXECALIGN_LOG, _ALLOW and _DENY together. */
#define EA_SETTINGS_TEXT_BYTES 1024

/*
 * struct ea_settings - all settings, with the texts in storage of their own: programs that set
 * their title write over the environment block
 */
struct ea_settings {
	const char *log;      /* EXECALIGN_LOG: "stderr" or a file name */
	const char *allow;    /* EXECALIGN_ALLOW */
	const char *deny;     /* EXECALIGN_DENY */
	uint64_t block_bytes; /* EXECALIGN_BLOCK: 0 for auto */
	enum ea_promote promote;
	enum ea_advise advise;
	int allows_nothing; /* the texts were too long to be kept */
	size_t text_bytes;
	char text[EA_SETTINGS_TEXT_BYTES];
};

/*
 * ea_settings_are_off - EXECALIGN=off
 * @complain: report another value than on and off on stderr
 */
int ea_settings_are_off(char *const *envp, int complain);

/*
 * ea_settings_read - read all variables
 * @complain: report each bad value on stderr; the default is used either way
 */
void ea_settings_read(struct ea_settings *settings, char *const *envp, int complain);

/*
 * ea_settings_allow - may the library at @path be placed?
 *
 * A pattern with a '/' is matched against the whole path, another against the file name.
 * EXECALIGN_DENY wins; once EXECALIGN_ALLOW is set, only what it matches is placed.
 */
int ea_settings_allow(const struct ea_settings *settings, const char *path);

/*
 * ea_settings_block - the block for an image: EXECALIGN_BLOCK's, or the one that the rule chooses
 * @text: receives the text segment that holds whole ones of it
 * Returns 0 when there is none.
 */
uint64_t ea_settings_block(const struct ea_settings *settings, const struct ea_geometry *geometry,
	const struct ea_image *image, unsigned int *text);

/* ea_settings_smallest_block - a file smaller than this is not eligible, whatever is in it */
uint64_t ea_settings_smallest_block(
	const struct ea_settings *settings, const struct ea_geometry *geometry);

#endif
