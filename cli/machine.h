/* SPDX-License-Identifier: MIT */
/*
 * machine.h - the machine that the command runs on
 */
#ifndef CLI_MACHINE_H
#define CLI_MACHINE_H

#include <json-c/json.h>
#include <stdint.h>
#include <sys/utsname.h>

#include "core/block.h"
#include "core/kernel.h"

/* struct machine - what decides about blocks; the same for every process */
struct machine {
	uint16_t elf_machine;	 /* EM_X86_64 or EM_AARCH64 */
	struct ea_geometry geometry;
	struct ea_release release;
	struct utsname uname;
};

/*
 * machine_read - fill @out
 *
 * Returns 0, or -EINVAL after a message: an architecture, a page size or a kernel that core/ does
 * not know. Then only elf_machine (EM_NONE) and the size of a page can be relied upon.
 */
int machine_read(struct machine *out);

/* machine_available_bytes - MemAvailable of /proc/meminfo, or UNKNOWN_BYTES. Any context. */
uint64_t machine_available_bytes(void);

/* machine_json - the machine as JSON; a new reference */
struct json_object *machine_json(const struct machine *machine);

/*
 * machine_block - check a block size that the user asked for
 * @bytes: as parse_size() read it
 *
 * Returns 1 if one entry of this machine's page tables, or a contiguous run of them, maps so much.
 */
int machine_block(const struct machine *machine, uint64_t bytes);

#endif
