/* SPDX-License-Identifier: MIT */
/*
 * shim_calls.h - included in front of every source of the shim that is built for tests
 *
 * The shim reaches the world through sys_call6() alone, which a header per architecture defines.
 * Reading that header here, under another name, makes shim/sys.h pass over it and leaves
 * sys_call6() to shim_double.c. So the shim's sources are tested as they are.
 */
#ifndef SHIM_CALLS_H
#define SHIM_CALLS_H

#define sys_call6 sys_call6_real
#if defined(__x86_64__)
#include "shim/sys_x86_64.h"
#else
#include "shim/sys_aarch64.h"
#endif
#undef sys_call6

/* sys_call6 - what the shim calls: shim_double.c answers or passes on to sys_call6_real() */
long sys_call6(long number, long a, long b, long c, long d, long e, long f);

#endif
