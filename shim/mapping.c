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
 * Nothing is remembered between calls: no lock is needed, and the preloaded copy stays without
 * writable memory of its own.
 */
#include <linux/auxvec.h>

#include "advise.h"
#include "log.h"
#include "object.h"
#include "process.h"
#include "record_reader.h"
#include "settings.h"
#include "sys.h"

/* Of whichever libc the program has. */
extern int *__errno_location(void) __attribute__((weak, visibility("default")));
extern unsigned long getauxval(unsigned long type) __attribute__((weak, visibility("default")));

void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, long offset);
void *mmap64(void *addr, size_t bytes, int prot, int flags, int fd, long offset);

/* Flags that do not speak of the address. Any other flag leaves the call as it is. */
#define PLAIN_FLAGS                                                                                \
	(MAP_SHARED | MAP_PRIVATE | MAP_DENYWRITE | MAP_EXECUTABLE | MAP_NORESERVE | MAP_POPULATE)

/* The shift costs address space for the moment of the call: not more than this. */
#define SHIFT_BLOCKS_MAX 512

#define VARIABLES_MAX 16
#define VARIABLE_BYTES 512

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

/* struct variables - the EXECALIGN_* entries of the initial environment */
struct variables {
	char *envp[VARIABLES_MAX + 1];
	char text[VARIABLES_MAX][VARIABLE_BYTES];
};

/*
 * The environment as it was at the start, from /proc: libc's environ may be changed by another
 * thread at any time. A variable too long for us is left out.
 */
static int read_variables(struct variables *variables)
{
	struct ea_record_reader reader;
	size_t count = 0;
	size_t length;

	if (ea_record_open(&reader, "/proc/self/environ", '\0'))
		return 0;
	while (count < VARIABLES_MAX &&
		ea_record_next(&reader, variables->text[count], VARIABLE_BYTES, &length)) {
		if (length >= VARIABLE_BYTES ||
			!ea_after_prefix(variables->text[count], "EXECALIGN"))
			continue;
		variables->envp[count] = variables->text[count];
		count++;
	}
	ea_record_close(&reader);
	variables->envp[count] = NULL;
	return 1;
}

/* Might this call be changed at all? Costs nothing for nearly every call. */
static int is_candidate(const void *addr, const struct request *request)
{
	return !addr && (request->prot & PROT_EXEC) && !(request->prot & PROT_WRITE) &&
	       request->fd >= 0 && !(request->flags & ~PLAIN_FLAGS) &&
	       request->bytes >= 64 * EA_KIB && &getauxval;
}

static uint64_t choose_block(const struct request *request, const struct ea_settings *settings)
{
	struct ea_image image = {
		.load_count = 1,
		.loads = {{.offset = request->offset,
			.file_bytes = request->bytes,
			.mem_bytes = request->bytes,
			.flags = 5 /* PF_R | PF_X */}},
	};

	return ea_settings_block(settings, &request->geometry, &image, NULL);
}

/* Is the file's name allowed? Asked only where there is a list to match it with. */
static int is_allowed(const struct request *request, const struct ea_settings *settings)
{
	char link[40];
	char path[1024];
	struct ea_text text = {link, sizeof(link) - 1, 0};
	long length;

	if (!settings->allow && !settings->deny)
		return 1;
	ea_text_add(&text, "/proc/self/fd/");
	ea_text_add_number(&text, (uint64_t)request->fd);
	link[text.length] = '\0';
	length = sys_readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return 0;
	path[length] = '\0';
	return ea_settings_allow(settings, path);
}

static uint64_t random_blocks(void)
{
	uint16_t number;

	if (sys_getrandom(&number, sizeof(number), 0) != sizeof(number))
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

static void advise(const struct request *request, const struct ea_settings *settings, uint64_t addr)
{
	struct ea_adviser adviser = {
		.geometry = request->geometry,
		.mode = settings->advise,
	};
	struct ea_object object = {.fd = request->fd};

	if (adviser.mode == EA_ADVISE_NEVER)
		return;
	ea_process_release(&adviser.release);
	if (ea_advise_check(&adviser, &object, request->block_bytes) == EA_ADVICE_USEFUL)
		ea_advise_text(addr, request->offset, request->bytes, request->block_bytes);
}

static void log_mapping(const struct request *request, const struct ea_settings *settings, long ret)
{
	struct ea_log log;

	if (!settings->log)
		return;
	ea_log_begin(&log, settings->log, "mapping");
	ea_log_number(&log, "bytes", request->bytes);
	ea_log_number(&log, "offset", request->offset);
	ea_log_number(&log, "block_kib", request->block_bytes >> 10);
	ea_log_word(&log, "result", sys_is_error(ret) ? "misplaced" : "congruent");
	if (sys_is_error(ret))
		ea_log_quoted(&log, "reason", "the kernel refused: left to the plain call");
	ea_log_end(&log);
}

/* Returns the address, or -errno when the plain call is to be made. */
static long try_congruent(struct request *request)
{
	struct variables variables;
	struct ea_settings settings;
	long ret;

	if (getauxval(AT_SECURE) ||
		ea_geometry(SYS_MACHINE, getauxval(AT_PAGESZ), &request->geometry))
		return -EINVAL;
	if (!read_variables(&variables) || ea_settings_are_off(variables.envp, 0))
		return -EPERM;
	ea_settings_read(&settings, variables.envp, 0);
	request->block_bytes = choose_block(request, &settings);
	if (!request->block_bytes || !is_allowed(request, &settings))
		return -EINVAL;
	ret = map_congruent(request);
	log_mapping(request, &settings, ret);
	if (!sys_is_error(ret))
		advise(request, &settings, (uint64_t)ret);
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
	return map(addr, bytes, prot, flags, fd, offset);
}

__attribute__((visibility("default"))) void *mmap64(
	void *addr, size_t bytes, int prot, int flags, int fd, long offset)
{
	return map(addr, bytes, prot, flags, fd, offset);
}
