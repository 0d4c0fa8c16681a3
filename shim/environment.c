/* SPDX-License-Identifier: MIT */
#include "environment.h"
#include "text.h"

const char *ea_env_find(char *const *envp, const char *name, size_t *index)
{
	const char *rest;

	for (size_t i = 0; envp[i]; i++) {
		rest = ea_after_prefix(envp[i], name);
		if (!rest || *rest != '=')
			continue;
		if (index)
			*index = i;
		return rest + 1;
	}
	return NULL;
}

size_t ea_env_count(char *const *envp)
{
	size_t count = 0;

	while (envp[count])
		count++;
	return count;
}

int ea_env_list_has(const char *list, const char *item)
{
	const char *rest;

	while (*list) {
		rest = ea_after_prefix(list, item);
		if (rest && (!*rest || *rest == ':' || *rest == ' '))
			return 1;
		while (*list && *list != ':' && *list != ' ')
			list++;
		while (*list == ':' || *list == ' ')
			list++;
	}
	return 0;
}

int ea_env_cut_last_item(char *value)
{
	size_t end = ea_strlen(value);
	size_t start = end;

	while (start && value[start - 1] != ':')
		start--;
	if (!start)
		return 0;
	memset(value + start - 1, 0, end - start + 1);
	return 1;
}
