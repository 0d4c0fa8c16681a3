/* SPDX-License-Identifier: MIT */
/*
 * interruption.h - a benchmark that is told to stop says so, and leaves nothing behind
 */
#ifndef CLI_INTERRUPTION_H
#define CLI_INTERRUPTION_H

#include <signal.h>

/*
 * interruption_catch - from now on SIGINT, SIGTERM and SIGHUP do no more than to be noted
 *
 * System calls that they interrupt are not restarted. What is executed gets their default action
 * back. Returns where the signal's number will be; 0 until then. Context: once in a process, single
 * thread.
 */
volatile sig_atomic_t *interruption_catch(void);

#endif
