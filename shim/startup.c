/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "environment.h"
#include "object.h"
#include "startup.h"
#include "sys.h"
#include "text.h"

#define PATH_BYTES 4096

/* glibc sysdeps/ARCH/nptl/tls.h, TCB_ALIGNMENT: alignment of static TLS that is always there. */
#if defined(__x86_64__)
#define TCB_ALIGN_BYTES 64
#else
#define TCB_ALIGN_BYTES 16
#endif

/* The block that the auditor would choose; 0 when there is none. */
static uint64_t choose_block(const struct ea_startup *startup, const struct ea_settings *settings,
	const char *path, struct ea_object *object, unsigned int *text)
{
	const struct ea_geometry *geometry = &startup->geometry;

	if (ea_object_peek(object, path, geometry->page_bytes))
		return 0;
	return ea_settings_block(settings, geometry, &object->image, text);
}

static int is_misplaced(const struct ea_startup *startup, const struct link_map *map,
	const struct ea_settings *settings)
{
	const struct ea_segment *segment;
	struct ea_object object;
	unsigned int text;
	uint64_t block_bytes;

	block_bytes = choose_block(startup, settings, map->l_name, &object, &text);
	if (!block_bytes)
		return 0;
	segment = &object.image.loads[text];
	return ea_distance_bytes(map->l_addr + segment->vaddr, segment->offset, block_bytes) &&
	       ea_settings_allow(settings, map->l_name);
}

int ea_startup_is_misplaced(const struct ea_startup *startup, const struct ea_settings *settings)
{
	const struct link_map *self = ea_link_map_self(startup->main_map);

	for (const struct link_map *map = startup->main_map->l_next; map; map = map->l_next) {
		/* The vdso has no file: its name has no slash. */
		if (map == self || map->l_addr == startup->loader_addr ||
			ea_basename(map->l_name) == map->l_name)
			continue;
		if (is_misplaced(startup, map, settings))
			return 1;
	}
	return 0;
}

static int is_shell(const char *exe_path)
{
	static const char shells[] = "sh:bash:dash:zsh:ksh:ksh93:mksh:fish:busybox:csh:tcsh:yash";

	return ea_env_list_has(shells, ea_basename(exe_path));
}

/* Was @name found through $ORIGIN: does it begin with the executable's own directory? */
static int is_beside(const char *name, const char *exe_path)
{
	size_t directory_bytes = (size_t)(ea_basename(exe_path) - exe_path);

	return directory_bytes > 1 && ea_strlen(name) > directory_bytes &&
	       !memcmp(name, exe_path, directory_bytes);
}

/* Fill in the executable's path; an empty one when /proc does not tell. */
static void read_exe_path(char *path, size_t size)
{
	long bytes = sys_readlink("/proc/self/exe", path, size - 1);

	path[bytes > 0 ? bytes : 0] = '\0';
}

static int imports_dlopen(const struct link_map *map)
{
	const char *const names[] = {"dlopen", "dlmopen", NULL};

	return ea_link_map_imports(map, names);
}

int ea_startup_imports_dlopen(const struct ea_startup *startup)
{
	for (const struct link_map *map = startup->main_map; map; map = map->l_next) {
		if (imports_dlopen(map))
			return 1;
	}
	return 0;
}

int ea_startup_loads_more(const struct ea_startup *startup)
{
	const struct link_map *map = startup->main_map;
	char exe_path[PATH_BYTES];

	read_exe_path(exe_path, sizeof(exe_path));
	if (imports_dlopen(map))
		return !is_shell(exe_path);
	while ((map = map->l_next)) {
		if (is_beside(map->l_name, exe_path) && imports_dlopen(map))
			return 1;
	}
	return 0;
}

const char *ea_startup_tls(
	const struct ea_startup *startup, uint64_t main_align_bytes, uint64_t *bytes)
{
	uint64_t align_bytes_max =
		main_align_bytes > TCB_ALIGN_BYTES ? main_align_bytes : TCB_ALIGN_BYTES;
	struct ea_object object;

	*bytes = 0;
	for (const struct link_map *map = startup->main_map->l_next; map; map = map->l_next) {
		if (ea_basename(map->l_name) == map->l_name)
			continue; /* the vdso */
		if (ea_object_load(&object, map->l_name, startup->geometry.page_bytes))
			return "cannot tell the static TLS of a library";
		if (!object.image.tls_bytes)
			continue;
		if (object.image.tls_align_bytes > align_bytes_max)
			return "a library's TLS is aligned as an auditor does not allow";
		/* Up to one alignment for where it begins, one for where its first byte is. */
		*bytes += object.image.tls_bytes + 2 * (object.image.tls_align_bytes - 1);
	}
	return NULL;
}
