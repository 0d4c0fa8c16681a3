/* SPDX-License-Identifier: MIT */
/*
 * gap.c - the loop that shapes the gap; see gap.h for the picture
 */
#include <errno.h>

#include "gap.h"

/* Room left at the edge of the gap for what ld.so itself allocates before it maps the library. */
#define HOLE_PAGES 8

/* A shifted filler may run into something; so many shifts are drawn before going without one. */
#define SHIFT_DRAWS_MAX 3

/* struct step - one attempt: where the next mmap shall start and what must be occupied for it */
struct step {
	uint64_t start;
	enum ea_gap_direction direction;
	struct ea_gap_filler filler;
};

static uint64_t round_down(uint64_t value, uint64_t unit)
{
	return value & ~(unit - 1);
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return round_down(value + unit - 1, unit);
}

uint64_t ea_gap_probe_bytes(const struct ea_gap_request *request)
{
	uint64_t extra_bytes = 0;
	uint64_t bytes;

	if (request->align_bytes > request->page_bytes)
		extra_bytes = request->align_bytes;
	if (extra_bytes > request->length_bytes)
		return __builtin_mul_overflow(extra_bytes, 2, &bytes) ? 0 : bytes;
	return __builtin_add_overflow(request->length_bytes, extra_bytes, &bytes) ? 0 : bytes;
}

/* Where the library's span begins when the kernel puts ld.so's mmap at @start. */
static uint64_t landing(const struct ea_gap_request *request, uint64_t start)
{
	return round_up(start, request->align_bytes);
}

static uint64_t excess_bytes(const struct ea_gap_request *request, uint64_t start)
{
	return (landing(request, start) - request->remainder_bytes) & (request->block_bytes - 1);
}

/*
 * ld.so only lands on multiples of p_align. The congruent places are remainder + n * block; one of
 * them is such a multiple only if the remainder is, modulo the smaller of the two.
 */
static int is_reachable(const struct ea_gap_request *request)
{
	uint64_t unit = request->align_bytes;

	if (unit > request->block_bytes)
		unit = request->block_bytes;
	return (request->remainder_bytes & (unit - 1)) == 0;
}

static uint64_t hole_bytes(const struct ea_gap_request *request)
{
	uint64_t pages_bytes = HOLE_PAGES * request->page_bytes;
	uint64_t quarter_bytes = request->block_bytes / 4;
	uint64_t bytes = pages_bytes < quarter_bytes ? pages_bytes : quarter_bytes;

	return round_down(bytes, request->page_bytes);
}

/* Congruent landings are this far apart: p_align beyond the block leaves out those in between. */
static uint64_t unit_bytes(const struct ea_gap_request *request)
{
	return request->align_bytes > request->block_bytes ? request->align_bytes
							   : request->block_bytes;
}

/*
 * The congruent start below @start that leaves the hole above the filler, @blocks further down.
 * Every congruent start is itself a landing: is_reachable() saw to its being a multiple of p_align.
 */
static int step_down(const struct ea_gap_request *request, uint64_t start, uint64_t bytes,
	uint64_t blocks, struct step *step)
{
	uint64_t unit = unit_bytes(request);
	uint64_t hole = hole_bytes(request);
	uint64_t target, down;

	if (__builtin_mul_overflow(blocks, unit, &down) ||
		__builtin_sub_overflow(
			landing(request, start), excess_bytes(request, start), &target))
		return -ERANGE;
	if (target + hole >= start &&
		__builtin_add_overflow(down, round_up(target + hole - start + 1, unit), &down))
		return -ERANGE;
	if (__builtin_sub_overflow(target, down, &step->start))
		return -ERANGE;
	step->direction = EA_GAP_TOP_DOWN;
	step->filler.addr = step->start + round_up(bytes, request->page_bytes);
	step->filler.bytes = start - hole - step->start;
	return 0;
}

/* The mirror image for the bottom-up layout. */
static int step_up(
	const struct ea_gap_request *request, uint64_t start, uint64_t blocks, struct step *step)
{
	uint64_t unit = unit_bytes(request);
	uint64_t edge = start + hole_bytes(request);
	uint64_t target = landing(request, start);
	uint64_t up;

	if (excess_bytes(request, start))
		target += request->block_bytes - excess_bytes(request, start);
	if (__builtin_mul_overflow(blocks, unit, &up))
		return -ERANGE;
	if (target <= edge && __builtin_add_overflow(up, round_up(edge - target + 1, unit), &up))
		return -ERANGE;
	if (__builtin_add_overflow(target, up, &step->start))
		return -ERANGE;
	step->direction = EA_GAP_BOTTOM_UP;
	step->filler.addr = edge;
	step->filler.bytes = step->start - edge;
	return 0;
}

/*
 * Reserve the filler and, to see that the library fits next to it, the library's place; the latter
 * is given back at once.
 */
static int reserve_checked(const struct ea_gap_request *request, const struct ea_gap_ops *ops,
	void *ctx, uint64_t bytes, const struct step *step)
{
	uint64_t span_bytes = round_up(bytes, request->page_bytes);
	uint64_t low = step->start < step->filler.addr ? step->start : step->filler.addr;
	uint64_t bytes_of_both;
	int ret;

	if (__builtin_add_overflow(step->filler.bytes, span_bytes, &bytes_of_both))
		return -ERANGE;
	ret = ops->reserve(ctx, low, bytes_of_both);
	if (!ret)
		ops->release(ctx, step->start, span_bytes);
	return ret;
}

static int try_step(const struct ea_gap_request *request, const struct ea_gap_ops *ops, void *ctx,
	enum ea_gap_direction direction, int trusted, uint64_t start, uint64_t bytes,
	uint64_t blocks, struct step *step)
{
	int ret;

	if (direction == EA_GAP_BOTTOM_UP)
		ret = step_up(request, start, blocks, step);
	else
		ret = step_down(request, start, bytes, blocks, step);
	if (ret)
		return ret;
	if (trusted && !blocks)
		return ops->reserve(ctx, step->filler.addr, step->filler.bytes);
	return reserve_checked(request, ops, ctx, bytes, step);
}

/*
 * Reserve a filler for the landing found at @start, shifted by a random number of blocks where
 * one is wanted. Redrawing when the filler hits something keeps the shift uniform over the room
 * there is. A landing is at the edge of its gap, so that of the two directions only one has room:
 * where it is not known yet, both are tried. Returns 0 or -errno.
 */
static int reserve_step(const struct ea_gap_request *request, const struct ea_gap_ops *ops,
	void *ctx, struct ea_gap *gap, int trusted, uint64_t start, uint64_t bytes,
	struct step *step)
{
	unsigned int draws = gap->shift_blocks_max > 1 ? SHIFT_DRAWS_MAX : 0;
	uint64_t blocks;
	int ret;

	do {
		blocks = draws ? ops->random(ctx, gap->shift_blocks_max) : 0;
		ret = try_step(
			request, ops, ctx, gap->direction, trusted, start, bytes, blocks, step);
		if (ret && gap->direction == EA_GAP_UNKNOWN)
			ret = try_step(request, ops, ctx, EA_GAP_BOTTOM_UP, trusted, start, bytes,
				blocks, step);
	} while (ret && draws--);
	if (ret)
		return ret;

	gap->shift_blocks = blocks;
	gap->fillers[gap->filler_count++] = step->filler;
	return 0;
}

/*
 * The gap has no room for a congruent landing: occupy the probe's own place, which was free a
 * moment ago, so that the kernel's next choice is another gap. Returns 0 or -errno.
 */
static int close_gap(const struct ea_gap_request *request, const struct ea_gap_ops *ops, void *ctx,
	struct ea_gap *gap, uint64_t start, uint64_t bytes, struct step *step)
{
	int ret;

	step->start = 0;
	step->filler.addr = start;
	step->filler.bytes = round_up(bytes, request->page_bytes);
	ret = ops->reserve(ctx, step->filler.addr, step->filler.bytes);
	if (!ret)
		gap->fillers[gap->filler_count++] = step->filler;
	return ret;
}

static int is_hinted(const struct ea_gap_request *request, uint64_t start)
{
	return request->hint && start == round_down(request->hint, request->page_bytes);
}

/*
 * May a congruent landing stay? Not by luck, which one page that ld.so allocates would undo: either
 * a hole was left for such pages, or it is ld.so's or the kernel's rule that leads there.
 */
static int may_stay(const struct ea_gap_request *request, const struct ea_gap *gap, int has_hole,
	uint64_t start)
{
	if (has_hole || is_hinted(request, start))
		return 1;
	return gap->natural_is_stable && gap->shift_blocks_max <= 1;
}

/*
 * Is the space below this landing known to be free, so that no second probe needs to confirm it?
 * A landing on a block boundary may be the kernel's doing, which it will do again wherever the
 * filler is: then only a probe can tell whether another remainder can be had.
 */
static int is_trusted(
	const struct ea_gap_request *request, const struct ea_gap *gap, uint64_t start)
{
	if (request->remainder_bytes && !(start & (request->block_bytes - 1)))
		return 0;
	/* An address that ld.so asks for may become free again. */
	if (request->hint)
		return 0;
	return gap->direction == EA_GAP_TOP_DOWN && start < gap->frontier;
}

/*
 * Between two landings the place of the first was occupied: the search ran on in its direction.
 * Returns 1 when the filler of the step was on the wrong side and was taken away.
 */
static int learn_direction(struct ea_gap *gap, const struct ea_gap_ops *ops, void *ctx,
	uint64_t last_start, const struct step *step, uint64_t start)
{
	struct ea_gap_filler *filler;

	if (gap->direction != EA_GAP_UNKNOWN || last_start == UINT64_MAX)
		return 0;
	gap->direction = start > last_start ? EA_GAP_BOTTOM_UP : EA_GAP_TOP_DOWN;
	if (!step->start || step->direction == gap->direction)
		return 0;
	filler = &gap->fillers[--gap->filler_count];
	ops->release(ctx, filler->addr, filler->bytes);
	return 1;
}

static enum ea_gap_result give_up(struct ea_gap *gap, const struct ea_gap_ops *ops, void *ctx,
	enum ea_gap_result result, int error)
{
	ea_gap_release(gap, ops, ctx);
	gap->landing = 0;
	gap->shift_blocks = 0;
	gap->error = error;
	return result;
}

enum ea_gap_result ea_gap_shape(const struct ea_gap_request *request, const struct ea_gap_ops *ops,
	void *ctx, struct ea_gap *gap)
{
	uint64_t bytes = ea_gap_probe_bytes(request);
	uint64_t last_start = UINT64_MAX;
	struct step step = {0};
	int has_hole = 0;
	int64_t landed;
	uint64_t start;
	int ret;

	if (!bytes || !is_reachable(request))
		return EA_GAP_IMPOSSIBLE;

	while (gap->probes < EA_GAP_PROBES_MAX) {
		landed = ops->probe(ctx, bytes);
		gap->probes++;
		if (landed < 0)
			return give_up(gap, ops, ctx, EA_GAP_FAILED, (int)landed);

		start = (uint64_t)landed;
		if (learn_direction(gap, ops, ctx, last_start, &step, start)) {
			has_hole = 0;
			start = last_start;
		}
		if (!excess_bytes(request, start) && may_stay(request, gap, has_hole, start)) {
			gap->landing = landing(request, start);
			return gap->filler_count ? EA_GAP_SHAPED : EA_GAP_NATURAL;
		}
		/* A filler that no probe can confirm any more is not worth placing. */
		if (gap->probes == EA_GAP_PROBES_MAX && !is_trusted(request, gap, start))
			break;

		/* An address that ld.so asks for is outside the search: take it away first. */
		step.start = 0;
		ret = -EEXIST;
		if (!is_hinted(request, start))
			ret = reserve_step(request, ops, ctx, gap, is_trusted(request, gap, start),
				start, bytes, &step);
		if (!ret)
			has_hole = 1;
		if (ret == -EEXIST || ret == -ERANGE)
			ret = close_gap(request, ops, ctx, gap, start, bytes, &step);
		if (ret)
			return give_up(gap, ops, ctx, EA_GAP_FAILED, ret);
		if (step.start && is_trusted(request, gap, start)) {
			gap->landing = step.start;
			return EA_GAP_SHAPED;
		}
		last_start = is_hinted(request, start) ? UINT64_MAX : start;
	}
	return give_up(gap, ops, ctx, EA_GAP_NO_ROOM, 0);
}

void ea_gap_release(struct ea_gap *gap, const struct ea_gap_ops *ops, void *ctx)
{
	while (gap->filler_count) {
		gap->filler_count--;
		ops->release(ctx, gap->fillers[gap->filler_count].addr,
			gap->fillers[gap->filler_count].bytes);
	}
}
