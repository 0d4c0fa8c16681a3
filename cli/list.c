/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "list.h"

bool list_has(const char *list, const char *separators, const char *item)
{
	size_t item_bytes = strlen(item);

	while (*list) {
		size_t bytes = strcspn(list, separators);

		if (bytes == item_bytes && !strncmp(list, item, bytes))
			return true;
		list += bytes;
		list += strspn(list, separators);
	}
	return false;
}
