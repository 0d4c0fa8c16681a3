/* SPDX-License-Identifier: MIT */
/*
 * loader.h - which libc a dynamic loader belongs to, and whether its switch is on
 */
#ifndef CLI_LOADER_H
#define CLI_LOADER_H

#include <stdbool.h>

#include "core/loader_note.h"

/*
 * loader_is_musl - by its name: ld-musl-MACHINE.so.1, or by another one libc.so or
 * libc.musl-MACHINE.so.1
 */
bool loader_is_musl(const char *path);

/*
 * loader_is_on - does this loader, which has the note, place text in such an environment?
 * @tunables: value of GLIBC_TUNABLES, for glibc's loader; NULL if it is not set
 * @variable: value of LD_EXEC_ALIGN, for musl's; NULL if it is not set
 */
bool loader_is_on(const struct ea_loader_note *note, bool is_musl, const char *tunables,
	const char *variable);

/* loader_switch - what to write in front of a value to switch it: a variable, or a tunable in one */
const char *loader_switch(bool is_musl);

#endif
