/* SPDX-License-Identifier: MIT */
/*
 * fuzz_gap.c - gap shaping against a kernel that answers anything
 *
 * The input is struct parameters, what the caller knows, and then one 8-byte answer for each call:
 * an address or an error. No promise about the result can be kept here; but the loop must end
 * after its probes, hold no more fillers than it has room for, and give back what it reserved.
 */
#include <errno.h>
#include <string.h>

#include "core/block.h"
#include "core/gap.h"
#include "invariants.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* struct parameters - in front of the answers */
struct parameters {
	uint64_t length_bytes, remainder_pages, hint, frontier;
	uint16_t shift_blocks_max;
	uint8_t align_shift, page, block, direction, natural_is_stable, unused;
};

/* User space ends here or earlier (five-level page tables). */
#define ADDRESS_END ((uint64_t)1 << 56)

/* struct answers - what is left of the input, and what is reserved by now */
struct answers {
	const uint8_t *data;
	size_t size;
	uint64_t page_bytes;
	uint64_t reserved_bytes;
};

static uint64_t next(struct answers *answers)
{
	uint64_t answer = 0;
	size_t bytes = answers->size < sizeof(answer) ? answers->size : sizeof(answer);

	memcpy(&answer, answers->data, bytes);
	answers->data += bytes;
	answers->size -= bytes;
	return answer;
}

static int64_t answer_probe(void *ctx, uint64_t bytes)
{
	struct answers *answers = ctx;
	uint64_t addr = next(answers) & (ADDRESS_END - answers->page_bytes);

	if (bytes > ADDRESS_END - addr)
		return -ENOMEM;
	return (int64_t)addr;
}

static int answer_reserve(void *ctx, uint64_t addr, uint64_t bytes)
{
	struct answers *answers = ctx;
	uint64_t answer = next(answers);

	if (answer & 1)
		return -EEXIST;
	if (answer & 2 || addr > ADDRESS_END || bytes > ADDRESS_END - addr)
		return -ENOMEM;
	if (!bytes || addr % answers->page_bytes)
		return -EINVAL;
	answers->reserved_bytes += (bytes + answers->page_bytes - 1) & -answers->page_bytes;
	return 0;
}

static void answer_release(void *ctx, uint64_t addr, uint64_t bytes)
{
	struct answers *answers = ctx;

	REQUIRE(bytes && addr % answers->page_bytes == 0);
	bytes = (bytes + answers->page_bytes - 1) & -answers->page_bytes;
	REQUIRE(bytes <= answers->reserved_bytes);
	answers->reserved_bytes -= bytes;
}

static uint64_t answer_random(void *ctx, uint64_t bound)
{
	REQUIRE(bound);
	return next(ctx) % bound;
}

static const struct ea_gap_ops ops = {answer_probe, answer_reserve, answer_release, answer_random};

static void fill(
	const struct parameters *parameters, struct ea_gap_request *request, struct ea_gap *gap)
{
	static const uint64_t pages[] = {4 * EA_KIB, 16 * EA_KIB, 64 * EA_KIB};
	static const uint64_t blocks[] = {64 * EA_KIB, 2 * EA_MIB, 32 * EA_MIB};

	memset(gap, 0, sizeof(*gap));
	request->page_bytes = pages[parameters->page % 3];
	request->block_bytes = blocks[parameters->block % 3];
	request->length_bytes = parameters->length_bytes;
	request->align_bytes = (uint64_t)1 << parameters->align_shift % 64;
	if (request->align_bytes < request->page_bytes)
		request->align_bytes = request->page_bytes;
	request->remainder_bytes = parameters->remainder_pages %
				   (request->block_bytes / request->page_bytes) *
				   request->page_bytes;
	request->hint = parameters->hint & -request->page_bytes;
	gap->direction = (enum ea_gap_direction)(parameters->direction % 3);
	gap->frontier = parameters->frontier;
	gap->natural_is_stable = parameters->natural_is_stable & 1;
	gap->shift_blocks_max = parameters->shift_blocks_max;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ea_gap_request request;
	struct parameters parameters;
	enum ea_gap_result result;
	struct answers answers;
	struct ea_gap gap;
	unsigned int i;

	if (size < sizeof(parameters))
		return 0;
	memcpy(&parameters, data, sizeof(parameters));
	fill(&parameters, &request, &gap);
	answers = (struct answers){.data = data + sizeof(parameters),
		.size = size - sizeof(parameters),
		.page_bytes = request.page_bytes};

	result = ea_gap_shape(&request, &ops, &answers, &gap);
	REQUIRE(gap.probes <= EA_GAP_PROBES_MAX && gap.filler_count <= EA_GAP_FILLERS_MAX);
	REQUIRE((result == EA_GAP_SHAPED) == (gap.filler_count > 0));
	REQUIRE(result == EA_GAP_SHAPED || !answers.reserved_bytes);
	REQUIRE((result == EA_GAP_FAILED) == (gap.error < 0));
	for (i = 0; i < gap.filler_count; i++)
		REQUIRE(gap.fillers[i].bytes);
	ea_gap_release(&gap, &ops, &answers);
	REQUIRE(!gap.filler_count && !answers.reserved_bytes);
	return 0;
}
