/* SPDX-License-Identifier: MIT */
#include <linux/random.h>

#include "placement.h"
#include "process.h"
#include "sys.h"

/* struct probe - what ld.so is going to pass to mmap */
struct probe {
	uint64_t hint;
	int fd; /* -1 for the anonymous form */
	uint64_t offset;
	int reserve_flags; /* how to reserve exactly: see gap_reserve() */
};

/*
 * The same call but for the protection, which has no part in the choice of an address. In the
 * direct form the file counts: its filesystem may align (thp_get_unmapped_area()).
 */
static int64_t gap_probe(void *ctx, uint64_t bytes)
{
	const struct probe *probe = ctx;
	/* glibc's MAP_COPY is MAP_PRIVATE | MAP_DENYWRITE. */
	int flags = probe->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE | MAP_DENYWRITE;
	long addr;

	addr = sys_mmap(probe->hint, bytes, PROT_NONE, flags, probe->fd, probe->offset);
	if (!sys_is_error(addr))
		sys_munmap((uint64_t)addr, bytes);
	return addr;
}

/*
 * MAP_FIXED_NOREPLACE is unknown before 4.17, and to strict seccomp filters: there an address alone
 * is a wish, granted exactly if the range is free.
 */
static int gap_reserve(void *ctx, uint64_t addr, uint64_t bytes)
{
	const struct probe *probe = ctx;
	long ret;

	ret = sys_mmap(addr, bytes, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | probe->reserve_flags, -1, 0);
	if (sys_is_error(ret))
		return (int)ret;
	if ((uint64_t)ret == addr)
		return 0;
	sys_munmap((uint64_t)ret, bytes);
	return -EEXIST;
}

static void gap_release(void *ctx, uint64_t addr, uint64_t bytes)
{
	sys_munmap(addr, bytes);
}

/* @bound is a power of two. Without random numbers there is no shift. */
static uint64_t gap_random(void *ctx, uint64_t bound)
{
	uint64_t number;

	if (sys_getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		return 0;
	return number & (bound - 1);
}

static const struct ea_gap_ops ops = {gap_probe, gap_reserve, gap_release, gap_random};

static void request_fill(const struct ea_placer *placer, const struct ea_image *image,
	const struct ea_placement *placement, struct ea_gap_request *request)
{
	const struct ea_segment *text = &image->loads[placement->text];
	uint64_t page_bytes = placer->geometry.page_bytes;
	uint64_t start_vaddr;

	request->length_bytes = ea_image_span(image, page_bytes, &start_vaddr);
	request->align_bytes = image->align_bytes > page_bytes ? image->align_bytes : page_bytes;
	request->page_bytes = page_bytes;
	request->block_bytes = placement->block_bytes;
	/* landing + (text vaddr - start vaddr) must equal the text's offset, modulo the block. */
	request->remainder_bytes =
		(text->offset - (text->vaddr - start_vaddr)) & (placement->block_bytes - 1);
	request->hint = start_vaddr;
}

/* Under RLIMIT_AS, what ld.so allocates besides the library while the fillers are in place. */
#define LIMIT_SLACK_BYTES EA_MIB

/*
 * With RLIMIT_AS set, ld.so's own mmap must still fit beside the fillers: a library that plain
 * ld.so could map must not fail because of us. A random shift would eat the limit up.
 */
static void shape_within_limit(const struct ea_placer *placer, const struct ea_gap_request *request,
	struct probe *probe, struct ea_placement *placement)
{
	struct ea_gap *gap = &placement->gap;

	gap->shift_blocks_max = 0;
	placement->result = ea_gap_shape(request, &ops, probe, gap);
	if (placement->result != EA_GAP_SHAPED ||
		ea_process_has_room(ea_gap_probe_bytes(request) + LIMIT_SLACK_BYTES,
			placer->geometry.page_bytes))
		return;
	ea_gap_release(gap, &ops, probe);
	placement->result = EA_GAP_FAILED;
	gap->error = -ENOMEM;
}

/* Does ld.so reserve anonymous memory first? The filesystem is not asked for an address then. */
static int is_anonymous(const struct ea_gap_request *request)
{
	return request->align_bytes > request->page_bytes;
}

void ea_place(struct ea_placer *placer, int fd, int fs_aligns, const struct ea_image *image,
	struct ea_placement *placement)
{
	struct ea_gap *gap = &placement->gap;
	struct ea_gap_request request;
	struct probe probe = {.fd = fd, .reserve_flags = placer->reserve_flags};

	request_fill(placer, image, placement, &request);
	fs_aligns = fs_aligns && !is_anonymous(&request);
	*gap = (struct ea_gap){
		.direction = placer->direction,
		.frontier = placer->frontier,
		/*
		 * ld.so's mmap lands congruent by rule: either it rounds to p_align itself, or the
		 * filesystem aligns mappings of a PMD and more (mm/huge_memory.c,
		 * thp_get_unmapped_area()).
		 */
		.natural_is_stable = fs_aligns || request.align_bytes >= request.block_bytes,
	};
	/* The filesystem would have its way whatever the gap looks like. */
	if (fs_aligns && request.remainder_bytes) {
		placement->result = EA_GAP_IMPOSSIBLE;
		return;
	}
	/*
	 * The first start-up library is shifted, and the others go below it. Later there is no shift:
	 * what is reserved for a file that ld.so then does not map stays until its next move.
	 */
	if (!placer->has_started && !placer->lid.bytes)
		gap->shift_blocks_max = ea_process_shift_blocks(
			&placer->geometry, placement->block_bytes, placer->stack_addr);

	probe.hint = request.hint;
	if (is_anonymous(&request))
		probe.fd = -1;
	else
		probe.offset = image->loads[0].offset & ~(request.page_bytes - 1);

	if (placer->is_limited)
		shape_within_limit(placer, &request, &probe, placement);
	else
		placement->result = ea_gap_shape(&request, &ops, &probe, gap);
}

void ea_place_done(struct ea_placer *placer, struct ea_placement *placement, int landed)
{
	struct ea_gap *gap = &placement->gap;

	/* What was learned counts only if it led to the right place: other threads may map, too. */
	placer->direction = landed ? gap->direction : EA_GAP_UNKNOWN;
	if (landed && gap->shift_blocks_max > 1 && gap->filler_count)
		placer->lid = gap->fillers[--gap->filler_count];
	ea_gap_release(gap, &ops, NULL);
}

void ea_place_drop_lid(struct ea_placer *placer)
{
	if (placer->lid.bytes)
		gap_release(NULL, placer->lid.addr, placer->lid.bytes);
	placer->lid.bytes = 0;
	placer->has_started = 1;
}
