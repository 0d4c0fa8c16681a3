/* SPDX-License-Identifier: MIT */
/*
 * promotion.h - a preloaded process re-executes itself once under the auditor
 *
 *	LD_PRELOAD=shim prog           ld.so maps everything, then runs our constructor
 *	  execve(/proc/self/exe)       with LD_AUDIT=shim and the static-TLS tunable added
 *	    LD_AUDIT: the auditor      places the libraries while ld.so maps them
 *	    LD_PRELOAD: constructor    takes the additions out of the environment again
 *	      main                      sees the environment that it was started with
 */
#ifndef EA_SHIM_PROMOTION_H
#define EA_SHIM_PROMOTION_H

#include "process.h"
#include "settings.h"

/* struct ea_promotion_marker - what the process before the exec tells the one after it */
struct ea_promotion_marker {
	int is_set;	     /* there is a marker: this process was promoted */
	int seccomp_filters; /* filters that the shim's calls were tried under; -1: not tried */
	int has_loaded;	     /* ld.so has loaded the start-up libraries once already */
};

/*
 * ea_promotion_find - was this process promoted?
 * Does not change anything. Context: any copy.
 */
void ea_promotion_find(char *const *envp, struct ea_promotion_marker *marker);

/*
 * ea_promotion_finish - in a promoted process, restore what the program must not notice
 * @marker: filled in any case
 *
 * Takes LD_AUDIT, the tunable and the marker out of the environment block, and restores the
 * process's name and AT_EXECFN. Returns 1 if the process was promoted, else 0.
 * Context: constructor of the preloaded copy, before main and before libc's own start.
 */
int ea_promotion_finish(const struct ea_stack *stack, struct ea_promotion_marker *marker);

/*
 * ea_promotion_try - promote this process if it has something to gain
 *
 * Does not return when it promotes. When it does return, nothing has changed.
 * Context: constructor of the preloaded copy, one thread, no descriptor of the program's own.
 */
void ea_promotion_try(const struct ea_stack *stack, const struct ea_settings *settings);

/* ea_promotion_log - a line of event=promotion; nothing without a @target */
void ea_promotion_log(const char *target, const char *result, const char *reason, int error);

#endif
