/* SPDX-License-Identifier: MIT */
/*
 * gap.h - gap shaping: steer where the kernel puts the mmap that ld.so is about to make
 *
 * The kernel's search is deterministic: a mapping without an address goes to the top (top-down
 * layout) or the bottom (bottom-up layout) of the first gap that is large enough
 * (mm/mmap.c, vm_unmapped_area()). So the very call that ld.so will make is made first, the landing is
 * noted, and what would be in the wrong place is moved by occupying the edge of that gap:
 *
 *	top-down                                     bottom-up
 *
 *	 higher  | mapped          |                  higher  |                 |
 *	         +-----------------+ <- gap end              |  free           |
 *	         | hole            | (small maps go here)     +-----------------+
 *	         +-----------------+                          |  next mmap      |
 *	         | filler NONE     |                          +-----------------+ <- congruent
 *	         +-----------------+ <- congruent + length    |  filler NONE    |
 *	         |  next mmap      |                          +-----------------+
 *	         +-----------------+ <- congruent             |  hole           |
 *	         |  free           |                          +-----------------+ <- gap start
 *	 lower   |                 |                  lower   | mapped          |
 *
 * The hole is left because ld.so's own allocations (a page for a link map or a name) happen
 * between the shaping and the library's mmap: they must find room that is not the library's.
 *
 * The loop is here, free of system calls, so that tests can run it against a model of the
 * kernel's search; the shim gives it real mmap and munmap through struct ea_gap_ops.
 */
#ifndef EA_GAP_H
#define EA_GAP_H

#include <stdint.h>

#define EA_GAP_PROBES_MAX 4
#define EA_GAP_FILLERS_MAX EA_GAP_PROBES_MAX

/*
 * struct ea_gap_request - the mmap that ld.so is about to make (glibc 2.35 to 2.44,
 * elf/dl-map-segments.h, _dl_map_segment())
 *
 * With p_align up to a page it maps length_bytes of the file and uses the address as it comes.
 * With a larger p_align it reserves more, anonymously, and maps at the start rounded up to p_align.
 */
struct ea_gap_request {
	uint64_t length_bytes; /* of the library's span, not rounded */
	uint64_t align_bytes;  /* p_align when larger than the page, else the page size */
	uint64_t page_bytes;
	uint64_t block_bytes;
	uint64_t remainder_bytes; /* congruent when landing mod block == this */
	uint64_t hint;		  /* address that ld.so asks for (first p_vaddr), 0 for none */
};

/* enum ea_gap_direction - how this process's address space is searched */
enum ea_gap_direction {
	EA_GAP_UNKNOWN,
	EA_GAP_TOP_DOWN,
	EA_GAP_BOTTOM_UP,
};

/* struct ea_gap_filler - reserved space; bytes == 0: none */
struct ea_gap_filler {
	uint64_t addr;
	uint64_t bytes;
};

/* struct ea_gap_ops - what the loop needs of the address space; @ctx is passed through */
struct ea_gap_ops {
	/* Make and undo the mmap that ld.so will make; returns its address or -errno. */
	int64_t (*probe)(void *ctx, uint64_t bytes);
	/* Reserve exactly this range if it is free; 0 or -errno (-EEXIST: something is there). */
	int (*reserve)(void *ctx, uint64_t addr, uint64_t bytes);
	/* Give a reserved range back. Cannot fail. */
	void (*release)(void *ctx, uint64_t addr, uint64_t bytes);
	/* A uniformly random number below @bound (> 0). */
	uint64_t (*random)(void *ctx, uint64_t bound);
};

/* enum ea_gap_result - what shaping came to; everything but an error leaves ld.so a place */
enum ea_gap_result {
	EA_GAP_NATURAL,	   /* the kernel's own choice is congruent; nothing was reserved */
	EA_GAP_SHAPED,	   /* fillers are in place: the next identical mmap lands congruent */
	EA_GAP_IMPOSSIBLE, /* p_align and the remainder contradict each other */
	EA_GAP_NO_ROOM,	   /* no congruent place was found within the probes */
	EA_GAP_FAILED,	   /* a probe or a reservation failed: see error */
};

/* struct ea_gap - the state of one shaping; fillers are the caller's to release when mapped */
struct ea_gap {
	enum ea_gap_direction direction; /* in: as known so far; out: as learned */
	uint64_t frontier;	   /* in: in a top-down layout a landing below this address has only
				  * free space under it, and a filler needs no confirming probe
				  * once the direction is known; 0: confirm every placement */
	int natural_is_stable;	   /* in: a first landing that is congruent is the kernel's rule (a
				  * filesystem that aligns), not luck that one page allocated
				  * meanwhile would undo */
	uint64_t shift_blocks_max; /* in: shift the landing by a random number of blocks below
				  * this; 0 or 1: no shift */
	unsigned int probes;	   /* out: probes made */
	unsigned int filler_count;
	struct ea_gap_filler fillers[EA_GAP_FILLERS_MAX];
	uint64_t landing;      /* out: where the library's span will start */
	uint64_t shift_blocks; /* out: random blocks that it was shifted by */
	int error;	       /* out: -errno with EA_GAP_FAILED, else 0 */
};

/* ea_gap_probe_bytes - length of the mmap that ld.so will make; 0 if the sum overflows */
uint64_t ea_gap_probe_bytes(const struct ea_gap_request *request);

/*
 * ea_gap_shape - make the next identical mmap land congruent
 * @request: what ld.so will do
 * @ops, @ctx: the address space
 * @gap: inputs set, outputs 0
 *
 * At most EA_GAP_PROBES_MAX probes. On every result but EA_GAP_SHAPED nothing stays reserved.
 * Context: under the loader's lock, or where no other thread maps; a mapping that another thread
 * makes meanwhile can only cause a misplaced library, which the caller sees afterwards.
 */
enum ea_gap_result ea_gap_shape(const struct ea_gap_request *request, const struct ea_gap_ops *ops,
	void *ctx, struct ea_gap *gap);

/* ea_gap_release - give all fillers back; harmless when there are none */
void ea_gap_release(struct ea_gap *gap, const struct ea_gap_ops *ops, void *ctx);

#endif
