/* SPDX-License-Identifier: MIT */
/*
 * list.h - lists in environment variables
 */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include <stdbool.h>

/*
 * list_has - is @item, as it is written, in a list?
 * @separators: the bytes that part items: ":" for LD_AUDIT, ": " for LD_PRELOAD
 *
 * Any context.
 */
bool list_has(const char *list, const char *separators, const char *item);

#endif
