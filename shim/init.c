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
#include "process.h"
#include "promotion.h"
#include "settings.h"
#include "environment.h"

/* ld.so's (glibc), present wherever a libc is; and libc's. Weak: absent in the auditor's copy. */
extern void *__libc_stack_end __attribute__((weak, visibility("default")));
extern char **environ __attribute__((weak, visibility("default")));

static void start_preloaded(const struct ea_stack *stack)
{
	struct ea_settings settings;

	if (ea_promotion_finish(stack)) {
		ea_promotion_log(ea_env_find(stack->envp, "EXECALIGN_LOG", NULL), "done", NULL, 0);
		return;
	}
	if (ea_settings_are_off(stack->envp, 1))
		return;
	ea_settings_read(&settings, stack->envp, 1);
	ea_log_check(settings.log);
	ea_promotion_try(stack, &settings);
}

__attribute__((constructor)) static void init(int argc, char **argv, char **envp)
{
	struct ea_stack stack;
	int is_preloaded = &__libc_stack_end != NULL;

	/* musl passes no arguments, and has no auditors: only mmap is for us to do there. */
	if (!is_preloaded && &environ)
		return;
	if (!argv || !envp)
		return;
	ea_stack_find(&stack, argv, envp);
	if (ea_auxv_value(stack.auxv, AT_SECURE))
		return;
	if (is_preloaded)
		start_preloaded(&stack);
	else
		ea_auditor_init(&stack);
}
