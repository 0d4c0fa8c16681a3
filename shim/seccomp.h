/* SPDX-License-Identifier: MIT */
/*
 * seccomp.h - is it safe to make system calls that ld.so itself would not make?
 *
 * A filter may answer an unexpected call with the death of the process, and what it kills on cannot
 * be read. So a throw-away child tries the calls first; but making a child may be deadly, too:
 *
 *	no filter                      safe
 *	as many as the parent has      inherited: the parent made a child under them; try
 *	started by init, or the first  the service's or the container's own, which know of
 *	process of a container         processes; try
 *	more than the parent has       put on this program alone: keep still
 *
 * Until that is known, the shim only opens, reads and closes files, as ld.so does.
 */
#ifndef EA_SHIM_SECCOMP_H
#define EA_SHIM_SECCOMP_H

/*
 * ea_seccomp_filters - number of filters on this thread, from /proc/self/status
 *
 * Kernels before 5.9 only tell that there is one: 1. Returns -errno when it cannot be told.
 */
int ea_seccomp_filters(void);

/*
 * ea_seccomp_refuses - may the shim make its own system calls in this process?
 * @filters: receives ea_seccomp_filters(): while it stays the same, the answer does
 *
 * Returns NULL if it may, else why not. Context: at start-up only, with one thread; without a
 * filter it costs reading one file, with one a few hundred microseconds.
 */
const char *ea_seccomp_refuses(int *filters);

#endif
