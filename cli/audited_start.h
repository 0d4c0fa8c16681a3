/* SPDX-License-Identifier: MIT */
/*
 * audited_start.h - start a command under the auditor at once
 *
 * The preloaded shim can only re-execute a process after ld.so has mapped and relocated everything
 * once. Whoever starts the command can spare it that: the start-up libraries are known before, from
 * `ld.so --list PROGRAM`, and with them the static TLS that glibc must set aside (bug 31991). The
 * command is then started as the shim's promotion would have started it (shim/promotion.c).
 */
#ifndef CLI_AUDITED_START_H
#define CLI_AUDITED_START_H

#include "machine.h"
#include "target.h"

/*
 * audited_start_prepare - add LD_AUDIT, the static-TLS tunable and the shim's marker to this
 *	process's environment
 * @shim: absolute path of the library, in LD_PRELOAD already
 *
 * Takes away whatever is in the marker's place. Otherwise it changes nothing where that could go
 * wrong: then the command decides for itself, by promotion.
 * Context: single thread; starts a process and waits for it, at most for some seconds.
 */
void audited_start_prepare(
	const struct machine *machine, const struct target *target, const char *shim);

#endif
