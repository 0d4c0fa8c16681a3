/* SPDX-License-Identifier: MIT */
/*
 * init.c - the constructor: which copy of the shim is this, and what is there to do?
 *
 *	copy of            symbols that resolve        constructor's arguments
 *	LD_AUDIT (glibc)   none: alone in a namespace  argc, argv, envp
 *	LD_PRELOAD, glibc  ld.so's and libc's          argc, argv, envp
 *	LD_PRELOAD, musl   libc's                      none
 *
 * With -z initfirst it runs before every other constructor and before libc's own start-up.
 */
#include <linux/auxvec.h>

#include "auditor.h"
#include "log.h"
#include "mapping.h"
#include "process.h"
#include "promotion.h"
#include "settings.h"

/* ld.so's (glibc), present wherever a libc is; and libc's. Weak: absent in the auditor's copy. */
extern void *__libc_stack_end __attribute__((weak, visibility("default")));
extern char **environ __attribute__((weak, visibility("default")));

static void start_preloaded(const struct ea_stack *stack)
{
	struct ea_promotion_marker marker;
	struct ea_settings settings;
	int was_promoted = ea_promotion_finish(stack, &marker);
	int is_off = ea_settings_are_off(stack->envp, !was_promoted);

	ea_mapping_init(stack->envp, is_off, marker.seccomp_filters);
	if (is_off)
		return;
	ea_settings_read(&settings, stack->envp, !was_promoted);
	if (was_promoted) {
		ea_promotion_log(settings.log, "done", NULL, 0);
		return;
	}
	ea_log_check(settings.log);
	ea_promotion_try(stack, &settings);
}

/*
 * libc is under way already: we were loaded by dlopen, or ld.so gave its first turn to another
 * library (-z initfirst; the last one with it has it). The stack's vectors may be others by now.
 */
static void start_late(char *const *envp)
{
	struct ea_settings settings;
	int is_off = ea_settings_are_off(envp, 1);

	ea_mapping_init(envp, is_off, 0);
	if (is_off)
		return;
	ea_settings_read(&settings, envp, 1);
	ea_promotion_log(settings.log, "declined",
		"not the first to be initialised: loaded by dlopen, or another library is linked "
		"with -z initfirst",
		0);
}

__attribute__((constructor)) static void init(int argc, char **argv, char **envp)
{
	struct ea_stack stack;
	int is_preloaded = &__libc_stack_end != NULL;

	/* musl passes no arguments, and has no auditors: only mmap is for us to do there. */
	if (!is_preloaded && &environ) {
		ea_mapping_init(environ, ea_settings_are_off(environ, 1), 0);
		return;
	}
	if (!argv || !envp)
		return;
	if (is_preloaded && &environ && environ) {
		start_late(envp);
		return;
	}
	ea_stack_find(&stack, argv, envp);
	if (ea_stack_is_privileged(&stack))
		return;
	if (is_preloaded)
		start_preloaded(&stack);
	else
		ea_auditor_init(&stack);
}
