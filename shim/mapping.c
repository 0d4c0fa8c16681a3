/* SPDX-License-Identifier: MIT */
/*
 * mapping.c - mmap and mmap64 of the application, for file mappings that hold code
 *
 * ld.so's own mmap cannot be interposed; this is for programs that map code themselves. Only a call
 * that leaves the address to the kernel is changed, and only where its bytes hold a whole block:
 *
 *	reserve   |<----- length + (1 + shift) blocks ----->|   PROT_NONE
 *	map               |<-- length -->|                      MAP_FIXED at the congruent place
 *	trim      xxxxxxxx                xxxxxxxxxxxxxxxxxxx
 *
 * Where another library interposes mmap, too (ThreadSanitizer's runtime, a profiler), every call goes
 * on to that one, unchanged.
 */
#include <asm/stat.h>
#include <asm/statfs.h>
#include <linux/auxvec.h>
#include <linux/magic.h>
#include <linux/random.h>

#include "advise.h"
#include "link_map.h"
#include "log.h"
#include "mapping.h"
#include "object.h"
#include "process.h"
#include "seccomp.h"
#include "settings.h"
#include "sys.h"

/* Of whichever libc the program has. */
extern int *__errno_location(void) __attribute__((weak, visibility("default")));
extern unsigned long getauxval(unsigned long type) __attribute__((weak, visibility("default")));
extern void *dlsym(void *handle, const char *name) __attribute__((weak, visibility("default")));
extern struct r_debug _r_debug __attribute__((weak, visibility("default")));

#define NEXT ((void *)-1) /* RTLD_NEXT */

typedef void *mmap_function(void *addr, size_t bytes, int prot, int flags, int fd, long offset);

void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, long offset);
void *mmap64(void *addr, size_t bytes, int prot, int flags, int fd, long offset);

/* Flags that do not speak of the address. Any other flag leaves the call as it is. */
#define PLAIN_FLAGS                                                                                \
	(MAP_SHARED | MAP_PRIVATE | MAP_DENYWRITE | MAP_EXECUTABLE | MAP_NORESERVE | MAP_POPULATE)

/* The shift costs address space for the moment of the call: not more than this. */
#define SHIFT_BLOCKS_MAX 512

/* struct mapper - all zero by default; written by the constructor only */
static struct mapper {
	int is_off;
	int seccomp_filters;
	mmap_function *next_mmap; /* another interposer's, NULL when libc's comes next */
	mmap_function *next_mmap64;
	struct ea_settings settings;
} mapper;

/* struct request - the application's call, and what became of it */
struct request {
	uint64_t bytes;
	int prot;
	int flags;
	int fd;
	uint64_t offset;
	struct ea_geometry geometry;
	uint64_t block_bytes;
};

/* Does @address lie in libc? The objects do not overlap: it is the one that begins next below. */
static int is_in_libc(uint64_t address)
{
	const struct link_map *found = NULL;

	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		if (map->l_addr <= address && (!found || map->l_addr > found->l_addr))
			found = map;
	}
	return !found || ea_after_prefix(ea_basename(found->l_name), "libc.so") != NULL;
}

static mmap_function *next_interposer(const char *name)
{
	mmap_function *next;

	if (!&dlsym || !&_r_debug)
		return NULL;
	next = (mmap_function *)(uintptr_t)dlsym(NEXT, name);
	return !next || is_in_libc((uint64_t)(uintptr_t)next) ? NULL : next;
}

static int are_default(const struct ea_settings *settings)
{
	return !settings->log && !settings->allow && !settings->deny && !settings->block_bytes &&
	       !settings->advise && !settings->allows_nothing;
}

void ea_mapping_init(char *const *envp, int is_off, int seccomp_filters)
{
	mmap_function *next_mmap = next_interposer("mmap");
	mmap_function *next_mmap64 = next_interposer("mmap64");
	struct ea_settings settings;

	/* Each write makes a page private: compare first. */
	if (is_off)
		mapper.is_off = is_off;
	if (seccomp_filters)
		mapper.seccomp_filters = seccomp_filters;
	if (next_mmap || next_mmap64) {
		mapper.next_mmap = next_mmap;
		mapper.next_mmap64 = next_mmap64;
	}
	if (!envp)
		return;
	ea_settings_read(&settings, envp, 0);
	if (!are_default(&settings))
		ea_settings_read(&mapper.settings, envp, 0);
}

/* Might this call be changed at all? Costs nothing for nearly every call. */
static int is_candidate(const void *addr, const struct request *request)
{
	return !addr && (request->prot & PROT_EXEC) && !(request->prot & PROT_WRITE) &&
	       request->fd >= 0 && !(request->flags & ~PLAIN_FLAGS) &&
	       request->bytes >= 64 * EA_KIB && &getauxval && !mapper.is_off;
}

static uint64_t choose_block(const struct request *request)
{
	struct ea_image image = {
		.load_count = 1,
		.loads = {{.offset = request->offset,
			.file_bytes = request->bytes,
			.mem_bytes = request->bytes,
			.flags = 5 /* PF_R | PF_X */}},
	};

	return ea_settings_block(&mapper.settings, &request->geometry, &image, NULL);
}

/* Is the file's name allowed? Asked only where there is a list to match it with. */
__attribute__((noinline)) static int name_is_allowed(int fd)
{
	char link[40];
	char path[1024];
	struct ea_text text = {link, sizeof(link) - 1, 0};
	long length;

	ea_text_add(&text, "/proc/self/fd/");
	ea_text_add_number(&text, (uint64_t)fd);
	link[text.length] = '\0';
	length = sys_readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return 0;
	path[length] = '\0';
	return ea_settings_allow(&mapper.settings, path);
}

static int is_allowed(const struct request *request)
{
	const struct ea_settings *settings = &mapper.settings;

	if (!settings->allow && !settings->deny && !settings->allows_nothing)
		return 1;
	return name_is_allowed(request->fd);
}

/* A regular file in pages of the usual size: hugetlbfs rounds lengths up in its own units. */
static int is_plain_file(int fd)
{
	struct stat status;
	struct statfs fs;

	return !sys_call6(__NR_fstat, fd, (long)&status, 0, 0, 0, 0) &&
	       (status.st_mode & S_IFMT) == S_IFREG &&
	       !sys_call6(__NR_fstatfs, fd, (long)&fs, 0, 0, 0, 0) && fs.f_type != HUGETLBFS_MAGIC;
}

static uint64_t random_blocks(void)
{
	uint16_t number;

	if (ea_process_is_limited() ||
		sys_getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		return 0;
	return number % SHIFT_BLOCKS_MAX;
}

/* Reserve, map, trim. Returns the address, or -errno with nothing left mapped. */
static long map_congruent(const struct request *request)
{
	uint64_t page_bytes = request->geometry.page_bytes;
	uint64_t bytes = (request->bytes + page_bytes - 1) & ~(page_bytes - 1);
	uint64_t room_bytes;
	uint64_t start;
	uint64_t addr;
	long ret;

	if (bytes < request->bytes ||
		__builtin_add_overflow(
			bytes, (1 + random_blocks()) * request->block_bytes, &room_bytes))
		return -ENOMEM;
	ret = sys_mmap(
		0, room_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(ret))
		return ret;
	start = (uint64_t)ret;
	addr = start + ((request->offset - start) & (request->block_bytes - 1));
	ret = sys_mmap(addr, request->bytes, request->prot, request->flags | MAP_FIXED, request->fd,
		request->offset);
	if (sys_is_error(ret)) {
		sys_munmap(start, room_bytes);
		return ret;
	}
	if (addr > start)
		sys_munmap(start, addr - start);
	if (addr + bytes < start + room_bytes)
		sys_munmap(addr + bytes, start + room_bytes - addr - bytes);
	return ret;
}

static void advise(const struct request *request, uint64_t addr)
{
	struct ea_adviser adviser = {
		.geometry = request->geometry,
		.mode = mapper.settings.advise,
	};
	struct ea_object object = {.fd = request->fd};

	if (adviser.mode == EA_ADVISE_NEVER)
		return;
	ea_process_release(&adviser.release);
	if (ea_advise_check(&adviser, &object, request->block_bytes) == EA_ADVICE_USEFUL)
		ea_advise_text(
			&adviser, addr, request->offset, request->bytes, request->block_bytes);
}

__attribute__((noinline)) static void log_mapping(const struct request *request, long ret)
{
	struct ea_log log;

	ea_log_begin(&log, mapper.settings.log, "mapping");
	ea_log_number(&log, "bytes", request->bytes);
	ea_log_number(&log, "offset", request->offset);
	ea_log_number(&log, "block_kib", request->block_bytes >> 10);
	ea_log_word(&log, "result", sys_is_error(ret) ? "misplaced" : "congruent");
	if (sys_is_error(ret))
		ea_log_quoted(&log, "reason", "the kernel refused: left to the plain call");
	ea_log_end(&log);
}

/*
 * Returns the address, or -errno when the plain call is to be made. Nothing that ld.so would not
 * do happens before the filters are known.
 */
static long try_congruent(struct request *request)
{
	long ret;

	if (ea_seccomp_filters() != mapper.seccomp_filters)
		return -EPERM;
	if (getauxval(AT_SECURE) ||
		ea_geometry(SYS_MACHINE, getauxval(AT_PAGESZ), &request->geometry))
		return -EINVAL;
	request->block_bytes = choose_block(request);
	if (!request->block_bytes || !is_plain_file(request->fd) || !is_allowed(request))
		return -EINVAL;
	ret = map_congruent(request);
	if (mapper.settings.log)
		log_mapping(request, ret);
	if (!sys_is_error(ret))
		advise(request, (uint64_t)ret);
	return ret;
}

static void *map(void *addr, size_t bytes, int prot, int flags, int fd, long offset)
{
	struct request request = {bytes, prot, flags, fd, (uint64_t)offset, {0}, 0};
	long ret = -EINVAL;

	if (is_candidate(addr, &request))
		ret = try_congruent(&request);
	if (sys_is_error(ret))
		ret = sys_mmap((uint64_t)(uintptr_t)addr, bytes, prot, flags, fd, (uint64_t)offset);
	if (!sys_is_error(ret))
		return (void *)ret;
	if (&__errno_location)
		*__errno_location() = (int)-ret;
	return (void *)-1; /* MAP_FAILED */
}

__attribute__((visibility("default"))) void *mmap(
	void *addr, size_t bytes, int prot, int flags, int fd, long offset)
{
	if (mapper.next_mmap)
		return mapper.next_mmap(addr, bytes, prot, flags, fd, offset);
	return map(addr, bytes, prot, flags, fd, offset);
}

__attribute__((visibility("default"))) void *mmap64(
	void *addr, size_t bytes, int prot, int flags, int fd, long offset)
{
	if (mapper.next_mmap64)
		return mapper.next_mmap64(addr, bytes, prot, flags, fd, offset);
	return map(addr, bytes, prot, flags, fd, offset);
}
