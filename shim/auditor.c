/* SPDX-License-Identifier: MIT */
/*
 * auditor.c - the calls that ld.so makes to an LD_AUDIT library (rtld-audit(7))
 *
 * For each library that it loads, glibc calls, under its dl_load_lock,
 *
 *	la_objsearch(path)     once per place it looks at     -> shape the gap for this file
 *	  open, read, mmap     only if the file is there
 *	la_objopen(map)        only if it was mapped          -> give the fillers back, check, advise
 *
 * la_pltenter, la_pltexit and la_symbind are not defined on purpose: without them calls through
 * the PLT cost nothing extra (glibc 2.35, elf/dl-reloc.c).
 */
#include <linux/auxvec.h>
#include <linux/elf.h>

#include "advise.h"
#include "auditor.h"
#include "link_map.h"
#include "loaded.h"
#include "log.h"
#include "object.h"
#include "own_loader.h"
#include "placement.h"
#include "promotion.h"
#include "seccomp.h"
#include "settings.h"
#include "sys.h"

/* glibc bits/link.h and link.h: the interface's numbers. */
#define AUDIT_VERSION 2	      /* LAV_CURRENT since 2.35 */
#define SEARCH_ORIGINAL 0x01  /* LA_SER_ORIG */
#define ACTIVITY_CONSISTENT 0 /* LA_ACT_CONSISTENT */

/* struct candidate - the file that ld.so was last seen to be looking at */
struct candidate {
	int is_set;
	struct ea_object object;
	struct ea_placement placement;
	int is_placed; /* placement is valid */
	enum ea_advice advice;
	struct ea_range advised; /* of the file, where advice is useful */
	const char *reason;	 /* why it was not placed */
};

/* struct auditor - all state of this copy; ld.so calls it under its lock */
static struct auditor {
	int is_active;
	int has_started; /* start-up libraries are loaded; what comes now is dlopen */
	int has_main;
	int must_keep_still; /* for the library that is being looked for */
	int has_searched;    /* what the kernel mapped has been announced; now ld.so loads */
	int seccomp_filters; /* filters that the shim's calls are known to survive */
	struct ea_settings settings;
	struct ea_adviser adviser;
	struct ea_placer placer;
	struct ea_loaded loaded;
	struct candidate candidate;
} auditor;

/* The interface's functions, in ld.so's terms. */
unsigned int la_version(unsigned int version);
char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag);
unsigned int la_objopen(struct link_map *map, long namespace_id, uintptr_t *cookie);
unsigned int la_objclose(uintptr_t *cookie);
void la_activity(uintptr_t *cookie, unsigned int flag);
void la_preinit(uintptr_t *cookie);

#define EXPORT __attribute__((visibility("default")))

static void log_inactive(const struct auditor *a, const char *reason)
{
	struct ea_log log;

	if (!a->settings.log)
		return;
	ea_log_begin(&log, a->settings.log, "auditor");
	ea_log_word(&log, "result", "inactive");
	ea_log_quoted(&log, "reason", reason);
	ea_log_end(&log);
}

/* Why the auditor must sit this process out, or NULL. */
static const char *refuse(
	struct auditor *a, const struct ea_stack *stack, const struct ea_promotion_marker *marker)
{
	int must_try = a->settings.promote == EA_PROMOTE_ALWAYS;

	if (ea_geometry(SYS_MACHINE, ea_auxv_value(stack->auxv, AT_PAGESZ), &a->placer.geometry))
		return "unknown base page size";
	if (ea_own_loader_places(stack))
		return EA_OWN_LOADER_PLACES;
	/* The process before the exec may have tried the calls already. */
	if (marker->is_set && marker->seccomp_filters >= 0) {
		a->seccomp_filters = marker->seccomp_filters;
		return NULL;
	}
	return ea_seccomp_refuses(&a->seccomp_filters, must_try);
}

void ea_auditor_init(const struct ea_stack *stack)
{
	struct auditor *a = &auditor;
	struct ea_promotion_marker marker;
	const char *reason;

	ea_promotion_find(stack->envp, &marker);
	/* A promoted process heard about bad values before the exec. */
	if (ea_settings_are_off(stack->envp, !marker.is_set))
		return;
	ea_settings_read(&a->settings, stack->envp, !marker.is_set);
	if (!marker.is_set)
		ea_log_check(a->settings.log);

	reason = refuse(a, stack, &marker);
	if (reason) {
		log_inactive(a, reason);
		return;
	}
	a->placer.stack_addr = (uint64_t)(uintptr_t)stack->envp;
	a->placer.frontier = UINT64_MAX;
	a->placer.is_limited = ea_process_is_limited();
	a->placer.reserve_flags = a->seccomp_filters ? 0 : MAP_FIXED_NOREPLACE;
	a->adviser.geometry = a->placer.geometry;
	a->adviser.mode = a->settings.advise;
	a->adviser.has_loaded = marker.has_loaded;
	ea_process_release(&a->adviser.release);
	a->is_active = 1;
}

EXPORT unsigned int la_version(unsigned int version)
{
	/* 0 tells ld.so to unload us. glibc before 2.35 would call through the PLT. */
	if (!auditor.is_active || version < AUDIT_VERSION)
		return 0;
	return AUDIT_VERSION;
}

/* Forget the file that ld.so did not map after all. */
static void drop_candidate(struct auditor *a)
{
	if (!a->candidate.is_set)
		return;
	a->candidate.is_set = 0;
	if (a->candidate.is_placed)
		ea_place_done(&a->placer, &a->candidate.placement, 0);
	a->candidate.is_placed = 0;
}

/*
 * After start-up, a program may have locked itself in with another filter. Then no call is made
 * that ld.so would not make either; opening and reading a file is such a call. What cannot be told,
 * for want of a descriptor, is taken for the worse, but only this time.
 */
static int is_sandboxed(struct auditor *a)
{
	int filters;

	if (!a->has_started)
		return 0;
	filters = ea_seccomp_filters();
	if (filters >= 0 && filters != a->seccomp_filters) {
		a->is_active = 0;
		log_inactive(a, "the program was put under another seccomp filter");
	}
	return filters != a->seccomp_filters;
}

/* Read the headers, with the first block in one folio where that helps. Returns 0 or -errno. */
static int read_headers(struct auditor *a, struct ea_object *object)
{
	unsigned char head[EA_OBJECT_HEAD_BYTES];
	uint64_t page_bytes = a->placer.geometry.page_bytes;

	if (ea_advise_first_block(&a->adviser, object, head, sizeof(head)))
		return ea_object_parse(object, head, sizeof(head), page_bytes);
	return ea_object_read(object, page_bytes);
}

/* Read the headers, choose the block, shape the gap. Returns NULL, or why nothing was done. */
static const char *place_candidate(struct auditor *a, const char *path)
{
	struct candidate *c = &a->candidate;
	struct ea_object *object = &c->object;

	if (!ea_settings_allow(&a->settings, path))
		return "EXECALIGN_ALLOW or EXECALIGN_DENY";
	if (read_headers(a, object))
		return "not an ELF library of this machine";
	if (object->image.type != ET_DYN)
		return "not a shared object";
	c->placement.block_bytes = ea_settings_block(
		&a->settings, &a->placer.geometry, &object->image, &c->placement.text);
	if (!c->placement.block_bytes)
		return "text holds no whole block";
	c->advice = EA_ADVICE_OLD_KERNEL;
	if (a->settings.advise != EA_ADVISE_NEVER)
		c->advice = ea_advise_check(&a->adviser, object, c->placement.block_bytes);
	if (c->advice == EA_ADVICE_USEFUL) {
		ea_advise_touched_blocks(
			&a->adviser, object, c->placement.text, c->placement.block_bytes);
		c->advised = ea_advise_range(
			&a->adviser, object, c->placement.text, c->placement.block_bytes);
	}
	/* During start-up nobody changes the limits. */
	if (a->has_started)
		a->placer.is_limited = ea_process_is_limited();
	ea_place(&a->placer, object->fd,
		ea_advise_fs_aligns(&a->adviser, object, c->placement.block_bytes), &object->image,
		&c->placement);
	c->is_placed = 1;
	return NULL;
}

/*
 * Small files, and those that are loaded already, are done with after one call; files that are not
 * regular are never opened, which could block or take a FIFO's writer away from ld.so.
 */
static void look_at(struct auditor *a, const char *path)
{
	struct candidate *c = &a->candidate;

	if (ea_object_identify(&c->object, path) ||
		ea_loaded_has(&a->loaded, c->object.device, c->object.inode))
		return;
	c->is_set = 1;
	c->object.image.load_count = 0;
	c->reason = "too small";
	if (c->object.file_bytes < ea_settings_smallest_block(&a->settings, &a->placer.geometry))
		return;
	c->reason = "cannot be opened";
	if (ea_object_open(&c->object, path))
		return;
	c->reason = place_candidate(a, path);
	ea_object_close(&c->object);
}

EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag)
{
	struct auditor *a = &auditor;
	int has_slash = ea_basename(name) != name;

	if (!a->is_active)
		return (char *)name;
	a->has_searched = 1;
	drop_candidate(a);
	/*
	 * A bare name comes first as SEARCH_ORIGINAL and then once per directory; a name with a
	 * slash only comes as SEARCH_ORIGINAL (glibc elf/dl-audit.c, _dl_audit_objsearch()).
	 */
	if (flag == SEARCH_ORIGINAL)
		a->must_keep_still = is_sandboxed(a);
	if (has_slash && !a->must_keep_still)
		look_at(a, name);
	return (char *)name;
}

/* Is @map what was made of the candidate? Its dynamic section lies where the headers say. */
static int is_candidate(const struct candidate *c, const struct link_map *map)
{
	const struct ea_image *image = &c->object.image;

	if (!c->is_set)
		return 0;
	if (!image->load_count)
		return 1; /* nothing was read, nothing is at stake */
	return (uint64_t)(uintptr_t)map->l_ld == map->l_addr + image->dynamic_vaddr;
}

static const char *failure_reason(const struct ea_placement *placement)
{
	switch (placement->result) {
	case EA_GAP_IMPOSSIBLE:
		return "linker layout: text's address and file offset disagree, and its start is "
		       "aligned";
	case EA_GAP_NO_ROOM:
		return "no congruent place found";
	case EA_GAP_FAILED:
		return placement->gap.error == -ENOMEM ? "no address space left (RLIMIT_AS?)"
						       : "a system call failed";
	default:
		return "another mapping took the place";
	}
}

static void log_library(const struct auditor *a, const struct link_map *map,
	uint64_t distance_bytes, int advice_error)
{
	const struct candidate *c = &a->candidate;
	const struct ea_placement *p = &c->placement;
	const struct ea_segment *text = &c->object.image.loads[p->text];
	int is_congruent = c->is_placed && !distance_bytes;
	struct ea_log log;

	if (!a->settings.log)
		return;
	ea_log_begin(&log, a->settings.log, "library");
	ea_log_quoted(&log, "path", map->l_name);
	if (!c->is_placed) {
		ea_log_word(&log, "result",
			ea_settings_allow(&a->settings, map->l_name) ? "ineligible" : "skipped");
		ea_log_quoted(&log, "reason", c->reason);
		ea_log_end(&log);
		return;
	}
	ea_log_number(&log, "text_kib", text->file_bytes >> 10);
	ea_log_number(&log, "block_kib", p->block_bytes >> 10);
	ea_log_number(&log, "whole_kib",
		ea_whole_blocks_bytes(text->offset, text->file_bytes,
			a->adviser.geometry.page_bytes, p->block_bytes, NULL) >>
			10);
	ea_log_word(&log, "result", is_congruent ? "congruent" : "misplaced");
	ea_log_number(&log, "probes", p->gap.probes);
	ea_log_number(&log, "shift_blocks", p->gap.shift_blocks);
	if (is_congruent) {
		ea_log_word(&log, "how", p->result == EA_GAP_SHAPED ? "shaped" : "natural");
		ea_log_word(&log, "advice",
			c->advice == EA_ADVICE_USEFUL && !advice_error ? "given" : "none");
		if (advice_error)
			ea_log_number(&log, "errno", (uint64_t)-advice_error);
		else if (c->advice != EA_ADVICE_USEFUL)
			ea_log_quoted(&log, "advice_reason",
				a->settings.advise == EA_ADVISE_NEVER
					? "EXECALIGN_ADVISE=never"
					: ea_advice_reason(c->advice));
	} else {
		ea_log_number(&log, "distance_kib", distance_bytes >> 10);
		ea_log_quoted(&log, "reason", failure_reason(p));
		if (p->gap.error)
			ea_log_number(&log, "errno", (uint64_t)-p->gap.error);
	}
	ea_log_end(&log);
}

/*
 * ld.so loads a path given to dlmopen() without asking its auditors (elf/dl-load.c: no loader), and
 * asks with $ORIGIN unexpanded.
 */
static void log_unannounced(const struct auditor *a, const struct link_map *map)
{
	struct ea_log log;

	/* The vdso comes late, too; its name has no slash. */
	if (!a->settings.log || !a->is_active || !a->has_searched ||
		ea_basename(map->l_name) == map->l_name)
		return;
	ea_log_begin(&log, a->settings.log, "library");
	ea_log_quoted(&log, "path", map->l_name);
	ea_log_word(&log, "result", "skipped");
	ea_log_quoted(&log, "reason", "ld.so did not ask under this name");
	ea_log_end(&log);
}

/* The candidate was mapped: give the fillers back, see where the text is, advise and log. */
static void settle_candidate(struct auditor *a, const struct link_map *map, uintptr_t *cookie)
{
	struct candidate *c = &a->candidate;
	const struct ea_segment *text;
	uint64_t distance_bytes = 0;
	int advice_error = 0;
	uint64_t addr;

	*cookie = (uintptr_t)ea_loaded_add(&a->loaded, c->object.device, c->object.inode);
	if (c->is_placed) {
		text = &c->object.image.loads[c->placement.text];
		addr = map->l_addr + text->vaddr;
		distance_bytes = ea_distance_bytes(addr, text->offset, c->placement.block_bytes);
		ea_place_done(&a->placer, &c->placement, !distance_bytes);
		if (!distance_bytes && c->advice == EA_ADVICE_USEFUL)
			advice_error = ea_advise_text(&a->adviser,
				addr + (c->advised.offset - text->offset), c->advised.offset,
				c->advised.bytes, c->placement.block_bytes);
	}
	log_library(a, map, distance_bytes, advice_error);
	c->is_placed = 0;
	c->is_set = 0;
}

EXPORT unsigned int la_objopen(struct link_map *map, long namespace_id, uintptr_t *cookie)
{
	struct auditor *a = &auditor;

	*cookie = 0;
	if (a->is_active && is_candidate(&a->candidate, map)) {
		settle_candidate(a, map, cookie);
	} else {
		drop_candidate(a);
		log_unannounced(a, map);
	}

	/* The main executable comes first and lies elsewhere; the rest of the list is ld.so's doing. */
	if (a->has_main && map->l_addr && map->l_addr < a->placer.frontier)
		a->placer.frontier = map->l_addr;
	a->has_main = 1;
	return 0; /* no la_symbind for this object */
}

EXPORT unsigned int la_objclose(uintptr_t *cookie)
{
	ea_loaded_remove(&auditor.loaded, (struct ea_loaded_file *)*cookie);
	return 0;
}

static void become_consistent(struct auditor *a)
{
	drop_candidate(a);
	ea_place_drop_lid(&a->placer);
	a->has_started = 1;
	a->adviser.has_loaded = 0;
}

EXPORT void la_activity(uintptr_t *cookie, unsigned int flag)
{
	if (flag == ACTIVITY_CONSISTENT)
		become_consistent(&auditor);
}

EXPORT void la_preinit(uintptr_t *cookie)
{
	become_consistent(&auditor);
}
