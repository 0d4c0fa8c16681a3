/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "mounts.h"

/* Fields of a mountinfo line before the optional ones (proc(5)): ID, ..., mount point, options. */
#define FIELD_ID 0
#define FIELD_ROOT 3
#define FIELD_POINT 4
#define FIELDS_FIXED 6

static bool is_octal(char digit)
{
	return digit >= '0' && digit <= '7';
}

/* Blanks, newlines and backslashes are written as \ooo (mangle() of fs/seq_file.c). In place. */
static void unescape_octal(char *text)
{
	char *out = text;

	while (*text) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && is_octal(text[2]) &&
			is_octal(text[3])) {
			*out++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
					(text[3] - '0'));
			text += 4;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
}

/* Fills @mount from a line that the caller owns and that is taken apart. False: not in format. */
static bool parse_line(char *line, struct mount *mount)
{
	char *rest = line, *field;
	unsigned int index = 0;

	while ((field = strsep(&rest, " "))) {
		if (index == FIELD_ID)
			mount->id = strtoull(field, NULL, 10);
		else if (index == FIELD_ROOT)
			mount->root = field;
		else if (index == FIELD_POINT)
			mount->point = field;
		/* Any number of optional fields, then "-". */
		if (index >= FIELDS_FIXED && !strcmp(field, "-"))
			break;
		index++;
	}
	if (!field)
		return false;
	mount->type = strsep(&rest, " ");
	strsep(&rest, " "); /* the source */
	mount->options = strsep(&rest, " ");
	return mount->options != NULL;
}

static int own_strings(struct mount *mount)
{
	mount->root = strdup(mount->root);
	mount->point = strdup(mount->point);
	mount->type = strdup(mount->type);
	mount->options = strdup(mount->options);
	if (!mount->root || !mount->point || !mount->type || !mount->options)
		return -ENOMEM;
	unescape_octal(mount->root);
	unescape_octal(mount->point);
	return 0;
}

static int add_line(struct mounts *mounts, const char *text, size_t bytes)
{
	struct mount *grown = reallocarray(mounts->mounts, mounts->count + 1, sizeof(*grown));
	char *line = strndup(text, bytes);
	int err = 0;

	if (grown)
		mounts->mounts = grown;
	if (!grown || !line) {
		free(line);
		return -ENOMEM;
	}
	memset(&grown[mounts->count], 0, sizeof(*grown));
	if (parse_line(line, &grown[mounts->count])) {
		err = own_strings(&grown[mounts->count]);
		mounts->count++;
	}
	free(line);
	return err;
}

int mounts_parse(const char *text, size_t bytes, struct mounts *out)
{
	const char *end = text + bytes;
	struct mounts mounts = {0};

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		if (add_line(&mounts, text, (size_t)(line_end - text))) {
			mounts_free(&mounts);
			return -ENOMEM;
		}
		text = newline ? newline + 1 : end;
	}
	*out = mounts;
	return 0;
}

void mounts_read(int dir_fd, const char *path, struct mounts *out)
{
	struct buffer text;

	if (read_file_at(dir_fd, path, &text))
		return;
	mounts_parse(text.data, text.bytes, out);
	free(text.data);
}

void mounts_free(struct mounts *mounts)
{
	size_t i;

	for (i = 0; i < mounts->count; i++) {
		free(mounts->mounts[i].root);
		free(mounts->mounts[i].point);
		free(mounts->mounts[i].type);
		free(mounts->mounts[i].options);
	}
	free(mounts->mounts);
	mounts->mounts = NULL;
	mounts->count = 0;
}

const struct mount *mounts_find(const struct mounts *mounts, uint64_t id)
{
	size_t i;

	for (i = 0; i < mounts->count; i++)
		if (mounts->mounts[i].id == id)
			return &mounts->mounts[i];
	return NULL;
}

static int add_layer(struct layers *layers, const char *path)
{
	char **grown = reallocarray(layers->paths, layers->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	layers->paths = grown;
	grown[layers->count] = strdup(path);
	if (!grown[layers->count])
		return -ENOMEM;
	layers->count++;
	return 0;
}

/* lowerdir=A:B::C, where "\:" and "\\" stand for the characters themselves. Takes @list apart. */
static int add_layer_list(struct layers *layers, char *list)
{
	while (*list) {
		char *path = list, *out = list;
		bool last;
		int err;

		for (; *list && *list != ':'; list++) {
			if (*list == '\\' && list[1])
				list++;
			*out++ = *list;
		}
		last = !*list++;
		*out = '\0';
		err = *path ? add_layer(layers, path) : 0;
		if (err || last)
			return err;
	}
	return 0;
}

/* @option is one option, which is taken apart; @upper: wanted is the upper layer, or the others. */
static int add_option(struct layers *layers, char *option, bool upper)
{
	char *value = strchr(option, '=');

	if (!value)
		return 0;
	*value++ = '\0';
	unescape_octal(value);
	if (upper)
		return strcmp(option, "upperdir") ? 0 : add_layer(layers, value);
	if (!strcmp(option, "lowerdir"))
		return add_layer_list(layers, value);
	if (!strcmp(option, "lowerdir+") || !strcmp(option, "datadir+"))
		return add_layer(layers, value);
	return 0;
}

static int add_options(struct layers *layers, const char *options, bool upper)
{
	char *copy = strdup(options), *rest = copy, *option;
	int err = copy ? 0 : -ENOMEM;

	/* Commas inside a value are written as \054. */
	while (!err && (option = strsep(&rest, ",")))
		err = add_option(layers, option, upper);
	free(copy);
	return err;
}

int mount_layers(const struct mount *mount, struct layers *out)
{
	struct layers layers = {0};

	*out = layers;
	if (strcmp(mount->type, "overlay"))
		return 0;
	if (add_options(&layers, mount->options, true) ||
		add_options(&layers, mount->options, false)) {
		layers_free(&layers);
		return -ENOMEM;
	}
	*out = layers;
	return 0;
}

void layers_free(struct layers *layers)
{
	size_t i;

	for (i = 0; i < layers->count; i++)
		free(layers->paths[i]);
	free(layers->paths);
	layers->paths = NULL;
	layers->count = 0;
}
