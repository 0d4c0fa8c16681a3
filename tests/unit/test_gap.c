/* SPDX-License-Identifier: MIT */
/*
 * test_gap.c - gap shaping against a naive model of the kernel's search
 *
 * Each round builds an address space at random and loads a few libraries into it, as a process at
 * start-up would and then one with dlopen: shape, let ld.so allocate a few pages, let it map the
 * library, release. The last filler above a library that was shifted at random stays reserved until
 * start-up is over. What is promised, and checked:
 *
 *  - after SHAPED and NATURAL the library is congruent, and where gap.landing said;
 *  - after anything else the address space is as it was;
 *  - never more than EA_GAP_PROBES_MAX probes, and only what was reserved is released;
 *  - IMPOSSIBLE exactly where no address satisfies both p_align and the block;
 *  - NO_ROOM never in a process that has a large gap where the kernel looks first, in a layout
 *    whose direction is known: one step beyond the landing is then enough.
 *
 * Elsewhere NO_ROOM is allowed although a congruent place exists: the kernel prefers the first gap
 * that is large enough, each probe can rule out only one, and after four it ends. How often that
 * happens in these (deliberately crowded) spaces is bounded below.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "address_space_model.h"
#include "core/block.h"
#include "core/gap.h"
#include "prng.h"
#include "unit.h"

#define K EA_KIB
#define M EA_MIB
#define G ((uint64_t)1 << 30)

#define SEED 0x65786563616c6967ull
#define ROUNDS 20000
#define FAULT_ROUNDS 1000
#define LIBRARIES_MAX 5
/* ld.so allocates less than this many pages between the shaping and the mmap. */
#define PAGES_BETWEEN 4

/* struct world - an address space, a library on its way, and what the shaping has done so far */
struct world {
	struct prng prng;
	struct address_space space;
	struct ea_gap_request request;
	struct ea_gap gap;
	struct ea_gap_filler lid; /* of the library that was shifted: stays while starting up */
	int has_started;	  /* later there is no shift any more */
	enum ea_gap_direction direction;

	struct ea_gap_filler reserved[EA_GAP_FILLERS_MAX + 1];
	size_t reserved_count;
	unsigned int probes;
	unsigned int releases;
	unsigned int ops;		    /* all but the releases, which cannot fail */
	unsigned int fail_first, fail_last; /* these operations fail; numbered from 1 */
	const char *misuse;		    /* what the shaping did against the rules, or NULL */
	int is_confusing;		    /* see is_confusing() */
};

static int must_fail(struct world *world)
{
	world->ops++;
	return world->ops >= world->fail_first && world->ops <= world->fail_last;
}

static int64_t op_probe(void *ctx, uint64_t bytes)
{
	struct world *world = ctx;
	int64_t start;

	world->probes++;
	if (must_fail(world))
		return -ENOMEM;
	if (bytes != ea_gap_probe_bytes(&world->request))
		world->misuse = "probed for another length";
	start = space_ld_so_mmap(&world->space, &world->request);
	if (start >= 0)
		space_munmap(&world->space, (uint64_t)start, bytes);
	return start;
}

static int op_reserve(void *ctx, uint64_t addr, uint64_t bytes)
{
	struct world *world = ctx;
	int err;

	if (must_fail(world))
		return -ENOMEM;
	err = space_mmap_noreplace(&world->space, addr, bytes);
	if (err == -EINVAL || bytes % world->space.page_bytes)
		world->misuse = "reserved what is no range of pages";
	if (err)
		return err;
	if (world->reserved_count == COUNT_OF(world->reserved)) {
		world->misuse = "reserved too many ranges";
		space_munmap(&world->space, addr, bytes);
		return -ENOMEM;
	}
	world->reserved[world->reserved_count++] = (struct ea_gap_filler){addr, bytes};
	return 0;
}

/* A whole reserved range may be given back, or its head or tail: one munmap each. */
static void op_release(void *ctx, uint64_t addr, uint64_t bytes)
{
	struct world *world = ctx;
	size_t i;

	world->releases++;
	for (i = 0; i < world->reserved_count; i++) {
		struct ea_gap_filler *range = &world->reserved[i];

		if (addr < range->addr || addr + bytes > range->addr + range->bytes)
			continue;
		if (addr != range->addr && addr + bytes != range->addr + range->bytes)
			break;
		if (addr == range->addr)
			range->addr += bytes;
		range->bytes -= bytes;
		if (!range->bytes)
			*range = world->reserved[--world->reserved_count];
		if (space_munmap(&world->space, addr, bytes))
			world->misuse = "released what is no range of pages";
		return;
	}
	world->misuse = "released what it had not reserved";
}

static uint64_t op_random(void *ctx, uint64_t bound)
{
	struct world *world = ctx;

	if (!bound) {
		world->misuse = "asked for a number below 0";
		return 0;
	}
	return prng_below(&world->prng, bound);
}

static const struct ea_gap_ops world_ops = {op_probe, op_reserve, op_release, op_random};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Congruent places are this far apart. */
static uint64_t unit_bytes(const struct ea_gap_request *request)
{
	return larger(request->align_bytes, request->block_bytes);
}

static int is_congruent(const struct ea_gap_request *request, uint64_t landing)
{
	return landing % request->block_bytes == request->remainder_bytes;
}

static int is_over_allocated(const struct ea_gap_request *request)
{
	return request->align_bytes > request->page_bytes;
}

/* Will the kernel align this mmap to the PMD by itself? */
static int kernel_aligns(const struct world *world)
{
	const struct address_space *space = &world->space;
	uint64_t bytes = ea_gap_probe_bytes(&world->request);

	/* mmap(2) rounds the length to pages first. */
	bytes += -bytes % space->page_bytes;
	if (is_over_allocated(&world->request))
		return space->anonymous_aligns && !(bytes % space->pmd_bytes);
	return space->files_align && bytes >= space->pmd_bytes;
}

/*
 * When no gap has room for the padding, the kernel searches again without it and may land behind
 * where it was: then the order of two landings does not tell the direction.
 */
static int is_confusing(const struct world *world)
{
	/* Every probe but the last may have taken its own place and a shifted filler away. */
	uint64_t needed = EA_GAP_PROBES_MAX *
			  (ea_gap_probe_bytes(&world->request) + world->space.pmd_bytes +
				  (world->gap.shift_blocks_max + 2) * unit_bytes(&world->request));
	struct space_range gap;

	return kernel_aligns(world) && !space_first_gap(&world->space, needed, &gap);
}

/*
 * Everything below the lowest mapping is free: true if that is far more than a library needs. The
 * kernel may pad both the probe, below which the filler goes, and ld.so's own mmap.
 */
static uint64_t frontier_of(const struct world *world)
{
	const struct address_space *space = &world->space;
	uint64_t needed = ea_gap_probe_bytes(&world->request) +
			  (world->gap.shift_blocks_max + 3) * unit_bytes(&world->request) +
			  2 * space->pmd_bytes;

	if (space->bottom_up || !space->count || space->ranges[0].start - space->low < needed)
		return 0;
	return space->ranges[0].start;
}

static const char *describe(const struct world *world)
{
	static char text[8192];
	const struct ea_gap_request *r = &world->request;
	const struct address_space *s = &world->space;
	size_t used, i;

	used = (size_t)snprintf(text, sizeof(text),
		"\n  request: length %#" PRIx64 " align %#" PRIx64 " page %#" PRIx64
		" block %#" PRIx64 " remainder %#" PRIx64 " hint %#" PRIx64
		"\n  gap: direction %d frontier %#" PRIx64 " stable %d"
		" shift max %" PRIu64 " -> probes %u fillers %u"
		" landing %#" PRIx64 " shift %" PRIu64 " error %d\n  space: %s%s%s%s pmd %#" PRIx64
		" %#" PRIx64 "..%#" PRIx64 ":",
		r->length_bytes, r->align_bytes, r->page_bytes, r->block_bytes, r->remainder_bytes,
		r->hint, world->gap.direction, world->gap.frontier, world->gap.natural_is_stable,
		world->gap.shift_blocks_max, world->gap.probes, world->gap.filler_count,
		world->gap.landing, world->gap.shift_blocks, world->gap.error,
		s->bottom_up ? "bottom-up" : "top-down", s->files_align ? ", files align" : "",
		s->anonymous_aligns ? ", anonymous aligns" : "",
		s->pads_below ? ", pads below" : "", s->pmd_bytes, s->low, s->high);
	for (i = 0; i < s->count && used + 64 < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
			"\n    %#" PRIx64 "-%#" PRIx64, s->ranges[i].start, s->ranges[i].end);
	return text;
}

/* Pages, PMD and the blocks that are placed there; the machines of core/block.h. */
static const struct {
	uint64_t page_bytes, pmd_bytes, block_bytes;
} geometries[] = {
	{4 * K, 2 * M, 2 * M},
	{4 * K, 2 * M, 64 * K},
	{16 * K, 32 * M, 2 * M},
	{16 * K, 32 * M, 32 * M},
	{64 * K, 512 * M, 2 * M},
};

static void map_at_random(struct world *world)
{
	struct address_space *space = &world->space;
	uint64_t bytes = prng_size(&world->prng, space->page_bytes, 64 * M, space->page_bytes);
	uint64_t pages = (space->high - space->low) / space->page_bytes;

	if (!prng_one_in(&world->prng, 3))
		space_mmap(space, 0, bytes, SPACE_ANONYMOUS);
	else
		space_mmap_noreplace(space,
			space->low + prng_below(&world->prng, pages) * space->page_bytes, bytes);
}

static void unmap_at_random(struct world *world)
{
	struct address_space *space = &world->space;
	struct space_range range;

	if (!space->count)
		return;
	range = space->ranges[prng_below(&world->prng, space->count)];
	space_munmap(space, range.start, range.end - range.start);
}

/* Mappings as in a process that has lived a little: stacked up where the search begins, with holes.
 */
static void build_space(struct world *world, size_t geometry)
{
	struct address_space *space = &world->space;
	struct prng *prng = &world->prng;
	uint64_t page_bytes = geometries[geometry].page_bytes;
	uint64_t bytes = prng_size(prng, 64 * M, 64 * G, page_bytes);
	unsigned int i, count = (unsigned int)prng_below(prng, 40);

	memset(space, 0, sizeof(*space));
	space->page_bytes = page_bytes;
	space->pmd_bytes = geometries[geometry].pmd_bytes;
	space->low = 0x10000;
	if (!prng_one_in(prng, 8))
		space->low = 0x7000000000 + prng_below(prng, 1 << 20) * page_bytes;
	space->high = space->low + bytes;
	space->bottom_up = prng_one_in(prng, 3);
	space->files_align = prng_one_in(prng, 3);
	space->anonymous_aligns = prng_one_in(prng, 3);
	space->pads_below = prng_one_in(prng, 3);
	for (i = 0; i < count; i++) {
		map_at_random(world);
		if (prng_one_in(prng, 4))
			unmap_at_random(world);
	}
}

static void choose_request(struct world *world, size_t geometry)
{
	static const uint64_t aligns[] = {4 * K, 16 * K, 64 * K, 2 * M, 32 * M};
	struct ea_gap_request *request = &world->request;
	struct prng *prng = &world->prng;
	uint64_t align_bytes = aligns[prng_below(prng, COUNT_OF(aligns))];
	uint64_t unit;

	request->page_bytes = geometries[geometry].page_bytes;
	request->block_bytes = geometries[geometry].block_bytes;
	if (prng_one_in(prng, 2))
		align_bytes = request->page_bytes;
	request->align_bytes = larger(align_bytes, request->page_bytes);
	/* An eligible library's span is at least a block; its last page is not full. */
	request->length_bytes =
		prng_size(prng, request->block_bytes, 128 * M, 1) + prng_below(prng, 5000);
	request->remainder_bytes = 0;
	if (prng_one_in(prng, 2)) {
		unit = smaller(request->align_bytes, request->block_bytes);
		if (prng_one_in(prng, 10))
			unit = request->page_bytes;
		request->remainder_bytes = prng_below(prng, request->block_bytes / unit) * unit;
	}
	request->hint = 0;
	if (prng_one_in(prng, 10))
		request->hint = world->space.low - 1 +
				prng_below(prng, world->space.high - world->space.low + 2);
}

static void choose_gap(struct world *world)
{
	static const uint64_t shifts[] = {0, 1, 2, 16, 512};
	struct prng *prng = &world->prng;

	memset(&world->gap, 0, sizeof(world->gap));
	world->gap.direction = world->direction;
	if (prng_one_in(prng, 3))
		world->gap.direction = world->space.bottom_up ? EA_GAP_BOTTOM_UP : EA_GAP_TOP_DOWN;
	if (!world->has_started && !world->lid.bytes)
		world->gap.shift_blocks_max = shifts[prng_below(prng, COUNT_OF(shifts))];
	world->gap.natural_is_stable = kernel_aligns(world) && prng_one_in(prng, 2);
	if (prng_one_in(prng, 2))
		world->gap.frontier = frontier_of(world);
}

/* Landings are multiples of p_align, so a remainder has to be one too, or of a smaller block. */
static int is_impossible(const struct ea_gap_request *request)
{
	return request->remainder_bytes % smaller(request->align_bytes, request->block_bytes) != 0;
}

static int is_as_before(const struct world *world, const struct address_space *before)
{
	return world->space.count == before->count &&
	       !memcmp(world->space.ranges, before->ranges,
		       before->count * sizeof(before->ranges[0]));
}

/* Does the gap that the kernel looks at first leave room to step to a congruent place in it? */
static int has_easy_place(const struct world *world, enum ea_gap_direction direction)
{
	struct space_range gap;
	uint64_t needed = ea_gap_probe_bytes(&world->request) +
			  PAGES_BETWEEN * world->space.page_bytes * 2 +
			  2 * unit_bytes(&world->request);

	if (direction != (world->space.bottom_up ? EA_GAP_BOTTOM_UP : EA_GAP_TOP_DOWN) ||
		world->request.hint || kernel_aligns(world))
		return 0;
	return space_first_gap(&world->space, ea_gap_probe_bytes(&world->request), &gap) &&
	       gap.end - gap.start >= needed;
}

/* ld.so's turn: it allocates a few pages and maps the library. */
static void check_placed(struct world *world, enum ea_gap_result result, const char *where)
{
	struct space_range gap;
	unsigned int pages = (unsigned int)prng_below(&world->prng, PAGES_BETWEEN);
	int64_t library;

	/* Nothing is held for a natural landing: pages could take the last room for padding. */
	if (result == EA_GAP_NATURAL &&
		(world->request.hint ||
			!space_first_gap(&world->space,
				ea_gap_probe_bytes(&world->request) + 2 * world->space.pmd_bytes,
				&gap)))
		pages = 0;
	while (pages--)
		space_mmap(&world->space, 0, world->space.page_bytes, SPACE_ANONYMOUS);

	library = space_ld_so_map(&world->space, &world->request);
	CHECK(library >= 0, "%s: ld.so found no room%s", where, describe(world));
	CHECK(library < 0 || is_congruent(&world->request, (uint64_t)library),
		"%s: the library is misplaced at %#" PRIx64 "%s", where, (uint64_t)library,
		describe(world));
	/* The kernel's own alignment may lead to another congruent place than the announced one. */
	if (!kernel_aligns(world))
		CHECK((uint64_t)library == world->gap.landing,
			"%s: the library is at %#" PRIx64 ", not at the announced place%s", where,
			(uint64_t)library, describe(world));
}

/* Everything that holds for one shaping; without faults, also what it must achieve. */
static void check_shaping(struct world *world, const struct address_space *before, int easy,
	enum ea_gap_result result, const char *where)
{
	int faulty = world->fail_first != 0;

	CHECK(!world->misuse, "%s: it %s%s", where, world->misuse, describe(world));
	CHECK(world->probes <= EA_GAP_PROBES_MAX && world->probes == world->gap.probes,
		"%s: %u probes%s", where, world->probes, describe(world));
	CHECK(world->gap.shift_blocks < larger(world->gap.shift_blocks_max, 1),
		"%s: shifted too far%s", where, describe(world));
	CHECK((result == EA_GAP_IMPOSSIBLE) == is_impossible(&world->request), "%s: result %d%s",
		where, result, describe(world));
	CHECK((result == EA_GAP_FAILED) == (world->gap.error < 0), "%s: result %d%s", where, result,
		describe(world));
	CHECK(world->reserved_count == world->gap.filler_count &&
			(result == EA_GAP_SHAPED) == (world->gap.filler_count > 0),
		"%s: %zu ranges are reserved after result %d%s", where, world->reserved_count,
		result, describe(world));
	if (result != EA_GAP_SHAPED)
		CHECK(is_as_before(world, before), "%s: the space changed%s", where,
			describe(world));
	if (result != EA_GAP_SHAPED && result != EA_GAP_NATURAL)
		CHECK(!world->gap.landing && !world->gap.shift_blocks,
			"%s: a landing without a place%s", where, describe(world));
	if (world->direction != EA_GAP_UNKNOWN && !world->is_confusing)
		CHECK((world->direction == EA_GAP_BOTTOM_UP) == world->space.bottom_up,
			"%s: learned the wrong direction%s", where, describe(world));
	if (easy && !faulty)
		CHECK(result == EA_GAP_SHAPED || result == EA_GAP_NATURAL ||
				result == EA_GAP_IMPOSSIBLE,
			"%s: result %d in a large gap%s", where, result, describe(world));
}

/* As the shim does: the last filler is not the shaping's any more. */
static void keep_lid(struct world *world)
{
	size_t i = 0;

	world->lid = world->gap.fillers[--world->gap.filler_count];
	while (i < world->reserved_count && world->reserved[i].addr != world->lid.addr)
		i++;
	if (i == world->reserved_count)
		world->misuse = "named a filler that it had not reserved";
	else
		world->reserved[i] = world->reserved[--world->reserved_count];
}

static void end_start_up(struct world *world)
{
	if (world->lid.bytes)
		space_munmap(&world->space, world->lid.addr, world->lid.bytes);
	world->lid.bytes = 0;
	world->has_started = 1;
}

/* Load one library. The shaping's inputs are set; the space is left as ld.so leaves it. */
static enum ea_gap_result load(struct world *world, const char *where)
{
	struct address_space before = world->space;
	int easy = has_easy_place(world, world->gap.direction);
	enum ea_gap_result result;

	world->probes = 0;
	world->misuse = NULL;
	world->is_confusing |= is_confusing(world);
	result = ea_gap_shape(&world->request, &world_ops, world, &world->gap);
	world->direction = world->gap.direction;
	check_shaping(world, &before, easy, result, where);
	if (result == EA_GAP_SHAPED || result == EA_GAP_NATURAL)
		check_placed(world, result, where);
	if (result == EA_GAP_SHAPED && world->gap.shift_blocks_max > 1)
		keep_lid(world);
	ea_gap_release(&world->gap, &world_ops, world);
	CHECK(!world->reserved_count && !world->misuse, "%s: after release%s", where,
		describe(world));
	return result;
}

static void start_round(struct world *world, unsigned int round, size_t *geometry)
{
	memset(world, 0, sizeof(*world));
	world->prng.state = SEED + round;
	*geometry = (size_t)prng_below(&world->prng, COUNT_OF(geometries));
	build_space(world, *geometry);
}

/* struct tally - how often what happened */
struct tally {
	unsigned int libraries;
	unsigned int results[EA_GAP_FAILED + 1];
	unsigned int missed; /* nothing found although some place was reachable */
};

/* Where the kernel aligns to the PMD by itself, other remainders cannot be had. */
static int could_be_had(const struct world *world, const struct address_space *before)
{
	if (kernel_aligns(world) && world->request.remainder_bytes)
		return 0;
	return space_reachable(before, &world->request);
}

static void run_round(unsigned int round, struct tally *tally)
{
	struct world world;
	size_t geometry;
	unsigned int i, count, start_up_count;
	char where[64];

	start_round(&world, round, &geometry);
	count = 1 + (unsigned int)prng_below(&world.prng, LIBRARIES_MAX);
	start_up_count = (unsigned int)prng_below(&world.prng, count + 1);
	for (i = 0; i < count; i++) {
		struct address_space before;
		enum ea_gap_result result;

		if (i == start_up_count)
			end_start_up(&world);
		before = world.space;
		snprintf(where, sizeof(where), "seed %#llx round %u library %u", SEED, round, i);
		choose_request(&world, geometry);
		choose_gap(&world);
		result = load(&world, where);
		tally->libraries++;
		tally->results[result]++;
		if (result == EA_GAP_NO_ROOM || result == EA_GAP_FAILED)
			tally->missed += could_be_had(&world, &before);
	}
}

TEST(gap, random_layouts)
{
	struct tally tally = {0};
	unsigned int round;

	for (round = 0; round < ROUNDS; round++)
		run_round(round, &tally);
	CHECK(tally.missed * 100 <= tally.libraries,
		"of %u libraries, %u found no place although there was one", tally.libraries,
		tally.missed);
	/* The generator must go on producing every outcome, or the checks above are idle. */
	CHECK(tally.results[EA_GAP_NATURAL] > 100 && tally.results[EA_GAP_SHAPED] > 1000 &&
			tally.results[EA_GAP_IMPOSSIBLE] > 100 &&
			tally.results[EA_GAP_NO_ROOM] > 100 && tally.results[EA_GAP_FAILED] > 100,
		"%u natural, %u shaped, %u impossible, %u without room, %u failed",
		tally.results[EA_GAP_NATURAL], tally.results[EA_GAP_SHAPED],
		tally.results[EA_GAP_IMPOSSIBLE], tally.results[EA_GAP_NO_ROOM],
		tally.results[EA_GAP_FAILED]);
}

/* Load the first library of a round with operations @first to @last failing. */
static unsigned int run_faulty(unsigned int round, unsigned int first, unsigned int last)
{
	struct world world;
	size_t geometry;
	char where[64];

	start_round(&world, round, &geometry);
	choose_request(&world, geometry);
	choose_gap(&world);
	world.fail_first = first;
	world.fail_last = last;
	snprintf(where, sizeof(where), "seed %#llx round %u failing %u to %u", SEED, round, first,
		last);
	load(&world, where);
	return world.ops;
}

/* load() checks that the space is as before, or that the library is well placed all the same. */
TEST(gap, every_operation_may_fail)
{
	unsigned int round, ops, i;

	for (round = 0; round < FAULT_ROUNDS; round++) {
		ops = run_faulty(round, 0, 0);
		for (i = 1; i <= ops; i++) {
			run_faulty(round, i, i);
			run_faulty(round, i, UINT32_MAX);
		}
	}
}

/* A large space with two mappings at the edge where the search begins, off the block boundaries. */
static struct world plain_world(int bottom_up)
{
	struct world world = {
		.prng.state = SEED,
		.space = {.low = 0x10000,
			.high = 0x7ffff7fff000,
			.page_bytes = 4 * K,
			.pmd_bytes = 2 * M,
			.bottom_up = bottom_up},
		.request = {.length_bytes = 5 * M + 123,
			.align_bytes = 4 * K,
			.page_bytes = 4 * K,
			.block_bytes = 2 * M},
	};

	if (bottom_up)
		world.space.low = 0x2aaaaaaab000;
	space_mmap(&world.space, 0, 200 * K, SPACE_FILE);
	space_mmap(&world.space, 0, 8 * K, SPACE_ANONYMOUS);
	return world;
}

static uint64_t edge_of(const struct world *world)
{
	return world->space.bottom_up ? world->space.ranges[world->space.count - 1].end
				      : world->space.ranges[0].start;
}

/* The nearest congruent place below (above) the two mappings that leaves room for a few pages. */
TEST(gap, takes_the_next_congruent_place)
{
	int bottom_up, known;

	for (bottom_up = 0; bottom_up < 2; bottom_up++)
		for (known = 0; known < 2; known++) {
			struct world world = plain_world(bottom_up);
			uint64_t edge = edge_of(&world);
			uint64_t span = 5 * M + 4 * K;
			uint64_t expected = bottom_up ? (edge + 2 * M - 1) / (2 * M) * (2 * M)
						      : (edge - span) / (2 * M) * (2 * M);

			if (known)
				world.gap.direction =
					bottom_up ? EA_GAP_BOTTOM_UP : EA_GAP_TOP_DOWN;
			CHECK_U64(load(&world, "plain"), EA_GAP_SHAPED, "bottom-up %d known %d",
				bottom_up, known);
			CHECK_U64(world.gap.landing, expected, "bottom-up %d known %d", bottom_up,
				known);
			CHECK_U64(world.gap.probes, 2, "bottom-up %d known %d", bottom_up, known);
			CHECK_U64(world.gap.direction,
				bottom_up ? EA_GAP_BOTTOM_UP : EA_GAP_TOP_DOWN,
				"bottom-up %d known %d", bottom_up, known);
		}
}

/* The usual case at start-up: one probe, one filler, and nothing else until it is released. */
TEST(gap, below_the_frontier_one_probe_and_one_filler_do)
{
	struct world world = plain_world(0);

	world.gap.direction = EA_GAP_TOP_DOWN;
	world.gap.frontier = edge_of(&world);
	CHECK_U64(load(&world, "frontier"), EA_GAP_SHAPED, "frontier");
	CHECK_U64(world.gap.probes, 1, "frontier");
	CHECK_U64(world.ops, 2, "frontier");
	CHECK_U64(world.releases, 1, "frontier");
}

TEST(gap, a_filesystem_that_aligns_is_left_alone)
{
	struct world world = plain_world(0);

	world.space.files_align = 1;
	world.gap.natural_is_stable = 1;
	CHECK_U64(load(&world, "aligning"), EA_GAP_NATURAL, "aligning");
	CHECK_U64(world.gap.probes, 1, "aligning");
	CHECK_U64(world.ops, 1, "aligning");
}

/* ld.so asks for the first p_vaddr of a prelinked library or one with an image base. */
TEST(gap, an_address_that_ld_so_asks_for_is_left_alone_where_it_is_congruent)
{
	struct world world = plain_world(0);

	world.request.hint = 0x40000000;
	world.gap.shift_blocks_max = 512;
	CHECK_U64(load(&world, "congruent hint"), EA_GAP_NATURAL, "congruent hint");
	CHECK_U64(world.gap.landing, 0x40000000, "congruent hint");
	CHECK_U64(world.ops, 1, "congruent hint");

	world = plain_world(0);
	world.request.hint = 0x40001000;
	CHECK_U64(load(&world, "misplaced hint"), EA_GAP_SHAPED, "misplaced hint");
}

TEST(gap, what_a_filesystem_aligns_elsewhere_cannot_be_had)
{
	struct world world = plain_world(0);

	world.space.files_align = 1;
	world.request.remainder_bytes = 2 * M - 4 * K;
	world.gap.direction = EA_GAP_TOP_DOWN;
	world.gap.frontier = edge_of(&world);
	CHECK_U64(load(&world, "aligning"), EA_GAP_NO_ROOM, "aligning, remainder -4K");
}

TEST(gap, impossible_remainders_cost_nothing)
{
	struct world world = plain_world(0);

	world.request.align_bytes = 64 * K;
	world.request.remainder_bytes = 4 * K;
	CHECK_U64(load(&world, "impossible"), EA_GAP_IMPOSSIBLE, "remainder 4K, p_align 64K");
	CHECK_U64(world.ops, 0, "remainder 4K, p_align 64K");
}

#define SHIFT_DRAWS 8192
#define SHIFT_BLOCKS_MAX ((uint64_t)512)
#define SHIFT_BUCKETS 16

/*
 * Each bucket of 32 shifts expects 512 of 8192 draws, with a deviation of 22: 110 is five times
 * that. The sequence is fixed, so this cannot fail by chance.
 */
TEST(gap, shifts_are_spread_evenly)
{
	unsigned int buckets[SHIFT_BUCKETS] = {0};
	struct prng prng = {SEED};
	unsigned int i;

	for (i = 0; i < SHIFT_DRAWS; i++) {
		struct world world = plain_world(0), unshifted = plain_world(0);

		load(&unshifted, "unshifted");
		world.prng.state = prng_next(&prng);
		world.gap.shift_blocks_max = SHIFT_BLOCKS_MAX;
		CHECK_U64(load(&world, "shifted"), EA_GAP_SHAPED, "draw %u", i);
		CHECK(world.gap.shift_blocks < SHIFT_BLOCKS_MAX, "draw %u: shift by %" PRIu64, i,
			world.gap.shift_blocks);
		CHECK_U64(unshifted.gap.landing - world.gap.landing, world.gap.shift_blocks * 2 * M,
			"draw %u", i);
		buckets[world.gap.shift_blocks % SHIFT_BLOCKS_MAX * SHIFT_BUCKETS /
			SHIFT_BLOCKS_MAX]++;
	}
	for (i = 0; i < SHIFT_BUCKETS; i++)
		CHECK(buckets[i] > SHIFT_DRAWS / SHIFT_BUCKETS - 110 &&
				buckets[i] < SHIFT_DRAWS / SHIFT_BUCKETS + 110,
			"bucket %u has %u of %u draws", i, buckets[i], SHIFT_DRAWS);
}

TEST(gap, probe_bytes)
{
	static const struct {
		uint64_t length_bytes, align_bytes, expected;
	} rows[] = {
		{5 * M + 1, 4 * K, 5 * M + 1},
		{1, 4 * K, 1},
		{5 * M + 1, 64 * K, 5 * M + 1 + 64 * K},
		{64 * K, 64 * K, 128 * K},
		{64 * K - 1, 64 * K, 128 * K},
		{5 * M, 32 * M, 64 * M},
		{UINT64_MAX, 4 * K, UINT64_MAX},
		{UINT64_MAX - 64 * K, 64 * K, UINT64_MAX},
		{UINT64_MAX - 64 * K + 1, 64 * K, 0},
		{M, 1ull << 63, 0},
		{M, 1ull << 62, 1ull << 63},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct ea_gap_request request = {.length_bytes = rows[i].length_bytes,
			.align_bytes = rows[i].align_bytes,
			.page_bytes = 4 * K,
			.block_bytes = 2 * M};

		CHECK_U64(ea_gap_probe_bytes(&request), rows[i].expected, "row %zu", i);
	}
}

/* Sizes that no address space holds are refused, whatever the rounding does to them. */
TEST(gap, absurd_sizes_place_nothing)
{
	static const struct {
		uint64_t length_bytes, align_bytes;
	} rows[] = {
		{UINT64_MAX, 4 * K},
		{UINT64_MAX - 4 * K + 2, 4 * K},
		{1ull << 63, 4 * K},
		{1ull << 48, 4 * K},
		{UINT64_MAX - 64 * K + 1, 64 * K},
		{UINT64_MAX - 64 * K, 64 * K},
		{M, 1ull << 63},
		{M, 1ull << 62},
		{5 * M, 1ull << 46},
	};
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		struct world world = plain_world(0);
		struct address_space before = world.space;
		enum ea_gap_result result;

		world.request.length_bytes = rows[i].length_bytes;
		world.request.align_bytes = rows[i].align_bytes;
		result = ea_gap_shape(&world.request, &world_ops, &world, &world.gap);
		CHECK(result == EA_GAP_IMPOSSIBLE || result == EA_GAP_FAILED, "row %zu: result %d",
			i, result);
		CHECK(is_as_before(&world, &before) && !world.reserved_count,
			"row %zu: something is reserved", i);
	}
}
