/* SPDX-License-Identifier: MIT */
#include <linux/auxvec.h>
#include <linux/personality.h>
#include <linux/resource.h>
#include <linux/utsname.h>

#include "process.h"
#include "sys.h"
#include "text.h"

/* personality(2): tell without changing. */
#define PERSONALITY_QUERY 0xffffffff

/* A shift may use this part of the address space: see ea_process_shift_blocks(). */
#define SHIFT_SPACE_DIVISOR 512

/*
 * For a set-user-ID program ld.so takes variables out of envp by moving the rest down (glibc
 * elf/rtld.c and stdlib/setenv.c), which leaves more than one NULL behind them.
 */
void ea_stack_find(struct ea_stack *stack, char **argv, char **envp)
{
	char **end = envp;

	while (*end)
		end++;
	while (!*end)
		end++;
	stack->argv = argv;
	stack->envp = envp;
	stack->auxv = (struct ea_auxv *)end;
}

int ea_stack_is_privileged(const struct ea_stack *stack)
{
	const struct ea_auxv *secure = ea_auxv_find(stack->auxv, AT_SECURE);

	/* What cannot be told is taken for the worse. */
	return !secure || secure->value || !ea_auxv_find(stack->auxv, AT_PAGESZ);
}

struct ea_auxv *ea_auxv_find(struct ea_auxv *auxv, uint64_t type)
{
	for (; auxv->type != AT_NULL; auxv++) {
		if (auxv->type == type)
			return auxv;
	}
	return NULL;
}

uint64_t ea_auxv_value(struct ea_auxv *auxv, uint64_t type)
{
	const struct ea_auxv *entry = ea_auxv_find(auxv, type);

	return entry ? entry->value : 0;
}

void ea_process_release(struct ea_release *release)
{
	struct new_utsname name;

	release->major = 0;
	release->minor = 0;
	if (!sys_is_error(sys_call6(__NR_uname, (long)&name, 0, 0, 0, 0, 0)))
		ea_release_parse(name.release, release);
}

/* RLIMIT_AS in bytes, UINT64_MAX without one, 0 when it cannot be told. */
static uint64_t address_space_limit(void)
{
	struct rlimit64 limit;

	if (sys_is_error(sys_call6(__NR_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0)))
		return 0;
	return limit.rlim_cur;
}

/* Pages mapped by this process, UINT64_MAX when /proc does not tell. */
static uint64_t mapped_pages(void)
{
	char buf[32];
	long fd = sys_open("/proc/self/statm", SYS_O_CLOEXEC, 0);
	long bytes;

	if (fd < 0)
		return UINT64_MAX;
	bytes = sys_read((int)fd, buf, sizeof(buf) - 1);
	sys_close((int)fd);
	if (bytes <= 0)
		return UINT64_MAX;
	buf[bytes] = '\0';
	return ea_parse_number(buf, NULL);
}

int ea_process_is_limited(void)
{
	return address_space_limit() != UINT64_MAX;
}

int ea_process_has_room(uint64_t bytes, uint64_t page_bytes)
{
	uint64_t limit_bytes = address_space_limit();
	uint64_t used_bytes;
	uint64_t sum_bytes;

	if (limit_bytes == UINT64_MAX)
		return 1;
	if (__builtin_mul_overflow(mapped_pages(), page_bytes, &used_bytes) ||
		__builtin_add_overflow(used_bytes, bytes, &sum_bytes))
		return 0;
	return sum_bytes <= limit_bytes;
}

/*
 * The kernel's default of vm.mmap_rnd_bits (the setting itself is readable by root only).
 * arm64: arch/arm64/Kconfig, ARCH_MMAP_RND_BITS_MIN at 48 bits; x86-64: arch/x86/Kconfig.
 */
static unsigned int random_bits(const struct ea_geometry *geometry)
{
	if (!geometry->contpte_bytes)
		return 28;
	if (geometry->page_bytes == 4 * EA_KIB)
		return 18;
	return geometry->page_bytes == 16 * EA_KIB ? 16 : 14;
}

/*
 * The kernel draws a base among 2^random_bits pages. The multiples of a block in that range are
 * fewer by block / page; to have 2^random_bits places again, the shift must reach 2^random_bits
 * blocks: 32 GiB at 64K pages, 128 GiB at 16K. It may not reach further than a 512th of the address
 * space (512 GiB of 48 bits, 256 GiB of 47): the sanitizers with fixed memory maps want libraries
 * in the uppermost part of it (compiler-rt, tsan_platform.h: from 0x7e8000000000 on x86-64).
 */
uint64_t ea_process_shift_blocks(
	const struct ea_geometry *geometry, uint64_t block_bytes, uint64_t stack_addr)
{
	uint64_t space_bytes = (uint64_t)1 << (64 - __builtin_clzll(stack_addr | 1));
	uint64_t blocks_max = space_bytes / SHIFT_SPACE_DIVISOR / block_bytes;
	uint64_t blocks = (uint64_t)1 << random_bits(geometry);

	/* Who switches the kernel's randomness off, as debuggers do, wants the same addresses again. */
	if (sys_call6(__NR_personality, PERSONALITY_QUERY, 0, 0, 0, 0, 0) & ADDR_NO_RANDOMIZE)
		return 0;
	return blocks < blocks_max ? blocks : blocks_max;
}
