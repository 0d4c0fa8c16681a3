/* SPDX-License-Identifier: MIT */
#include "environment.h"
#include "log.h"
#include "settings.h"
#include "text.h"

/* struct choice - one accepted value of a variable */
struct choice {
	const char word[9];
	uint64_t value;
};

/* Arrays, not pointers: tables without relocations cost no private memory. */
static const struct choice blocks[] = {
	{"auto", 0},
	{"64K", (uint64_t)64 << 10},
	{"2M", (uint64_t)2 << 20},
	{"32M", (uint64_t)32 << 20},
};

static const struct choice switches[] = {
	{"on", 0},
	{"off", 1},
};

static const struct choice promotes[] = {
	{"auto", EA_PROMOTE_AUTO},
	{"always", EA_PROMOTE_ALWAYS},
	{"never", EA_PROMOTE_NEVER},
};

static const struct choice advises[] = {
	{"auto", EA_ADVISE_AUTO},
	{"hugepage", EA_ADVISE_HUGEPAGE},
	{"never", EA_ADVISE_NEVER},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void complain_about(
	const char *name, const char *value, const struct choice *choices, size_t count)
{
	char line[512];
	struct ea_text text = {line, sizeof(line) - 1, 0};

	ea_text_add(&text, "execalign: ");
	ea_text_add(&text, name);
	ea_text_add(&text, "=");
	ea_text_add_quoted(&text, value);
	ea_text_add(&text, ": not one of ");
	for (size_t i = 0; i < count; i++) {
		ea_text_add(&text, i ? ", " : "");
		ea_text_add(&text, choices[i].word);
	}
	ea_text_add(&text, "; using ");
	ea_text_add(&text, choices[0].word);
	ea_log_stderr(&text);
}

/* The value chosen by variable @name; that of the first choice when unset or bad. */
static uint64_t read_choice(char *const *envp, const char *name, const struct choice *choices,
	size_t count, int complain)
{
	const char *value = ea_env_find(envp, name, NULL);

	if (!value || !*value)
		return choices[0].value;
	for (size_t i = 0; i < count; i++) {
		if (ea_streq(value, choices[i].word))
			return choices[i].value;
	}
	if (complain)
		complain_about(name, value, choices, count);
	return choices[0].value;
}

int ea_settings_are_off(char *const *envp, int complain)
{
	return read_choice(envp, "EXECALIGN", switches, COUNT(switches), complain);
}

/* Keep the text of variable @name; NULL when it is unset or empty, or there is no room for it. */
static const char *keep_text(struct ea_settings *settings, char *const *envp, const char *name)
{
	const char *value = ea_env_find(envp, name, NULL);
	char *copy = settings->text + settings->text_bytes;
	size_t bytes;

	if (!value || !*value)
		return NULL;
	bytes = ea_strlen(value) + 1;
	if (bytes > sizeof(settings->text) - settings->text_bytes) {
		settings->allows_nothing = 1;
		return NULL;
	}
	memcpy(copy, value, bytes);
	settings->text_bytes += bytes;
	return copy;
}

void ea_settings_read(struct ea_settings *settings, char *const *envp, int complain)
{
	settings->text_bytes = 0;
	settings->allows_nothing = 0;
	settings->log = keep_text(settings, envp, "EXECALIGN_LOG");
	settings->allow = keep_text(settings, envp, "EXECALIGN_ALLOW");
	settings->deny = keep_text(settings, envp, "EXECALIGN_DENY");
	if (settings->allows_nothing && complain)
		ea_log_complain("execalign: EXECALIGN_LOG, EXECALIGN_ALLOW and EXECALIGN_DENY are "
				"too long together (1023 bytes); nothing is placed");
	settings->block_bytes =
		read_choice(envp, "EXECALIGN_BLOCK", blocks, COUNT(blocks), complain);
	settings->promote = (enum ea_promote)read_choice(
		envp, "EXECALIGN_PROMOTE", promotes, COUNT(promotes), complain);
	settings->advise = (enum ea_advise)read_choice(
		envp, "EXECALIGN_ADVISE", advises, COUNT(advises), complain);
}

static int list_matches(const char *list, const char *path)
{
	const char *name = ea_basename(path);
	const char *end;
	int has_slash;

	for (; *list; list = *end ? end + 1 : end) {
		has_slash = 0;
		for (end = list; *end && *end != ':'; end++)
			has_slash |= *end == '/';
		if (end > list &&
			ea_pattern_match(list, (size_t)(end - list), has_slash ? path : name))
			return 1;
	}
	return 0;
}

int ea_settings_allow(const struct ea_settings *settings, const char *path)
{
	if (settings->allows_nothing)
		return 0;
	if (settings->deny && list_matches(settings->deny, path))
		return 0;
	return !settings->allow || list_matches(settings->allow, path);
}

uint64_t ea_settings_block(const struct ea_settings *settings, const struct ea_geometry *geometry,
	const struct ea_image *image, unsigned int *text)
{
	if (!settings->block_bytes)
		return ea_block_choose(geometry, image, EA_BLOCK_CAP_BYTES, text);
	if (!ea_block_fits(image, geometry->page_bytes, settings->block_bytes, text))
		return 0;
	return settings->block_bytes;
}

uint64_t ea_settings_smallest_block(
	const struct ea_settings *settings, const struct ea_geometry *geometry)
{
	if (settings->block_bytes)
		return settings->block_bytes;
	return geometry->contpte_bytes ? geometry->contpte_bytes : geometry->pmd_bytes;
}
