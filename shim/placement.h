/* SPDX-License-Identifier: MIT */
/*
 * placement.h - gap shaping with real system calls, for one library at a time
 */
#ifndef EA_SHIM_PLACEMENT_H
#define EA_SHIM_PLACEMENT_H

#include <stdint.h>

#include "core/block.h"
#include "core/gap.h"
#include "core/image.h"

/* struct ea_placer - what is known about the address space of this process */
struct ea_placer {
	struct ea_geometry geometry;
	int is_limited;	     /* RLIMIT_AS is set */
	uint64_t stack_addr; /* any address of the initial stack */
	enum ea_gap_direction direction;
	uint64_t frontier;	  /* lowest address of what ld.so has mapped, UINT64_MAX at first */
	int has_started;	  /* start-up is over: no random shift any more */
	struct ea_gap_filler lid; /* the range that the random shift left free, reserved until
				   * start-up is over so that all its libraries go below */
	int reserve_flags;	  /* for mmap, beyond MAP_PRIVATE and MAP_ANONYMOUS */
};

/* struct ea_placement - one library on its way: between la_objsearch and la_objopen */
struct ea_placement {
	struct ea_gap gap;
	enum ea_gap_result result;
	uint64_t block_bytes;
	unsigned int text; /* index of the segment that is placed */
};

/*
 * ea_place - shape the gap so that ld.so's mmap of this library lands congruent
 * @fd: the library's file
 * @fs_aligns: its filesystem aligns a mapping of this block's size by itself
 * @image: its headers
 * @block_bytes, @text: from the block choice
 *
 * Fillers stay until ea_place_done(). Context: under the loader's lock, right before ld.so maps.
 */
void ea_place(struct ea_placer *placer, int fd, int fs_aligns, const struct ea_image *image,
	struct ea_placement *placement);

/*
 * ea_place_done - give the space back
 * @landed: the library was mapped as planned; the space that its random shift left free then stays
 *	reserved as the process's lid
 */
void ea_place_done(struct ea_placer *placer, struct ea_placement *placement, int landed);

/* ea_place_drop_lid - start-up is over: give the lid back, for good */
void ea_place_drop_lid(struct ea_placer *placer);

#endif
