/* SPDX-License-Identifier: MIT */
/*
 * seccomp.h - is it safe to make system calls that ld.so itself would not make?
 *
 * A filter may answer an unexpected call with the death of the process, and what it kills on cannot
 * be read. So a throw-away child tries the calls first; but making a child may be deadly, too:
 *
 *	no filter                      safe
 *	as many as the parent has      inherited: the parent made a child under them; try
 *	the first of a container       the container's own, which knows of processes; try
 *	more than the parent has       put on this program alone: keep still, unless told to try
 *
 * Until that is known, the shim only opens, reads and closes files, as ld.so does.
 */
#ifndef EA_SHIM_SECCOMP_H
#define EA_SHIM_SECCOMP_H

/*
 * ea_seccomp_filters - number of filters on this thread, from its status in /proc
 *
 * Kernels before 5.9 only tell that there is one: 1. Returns -errno when it cannot be told.
 */
int ea_seccomp_filters(void);

/*
 * ea_seccomp_refuses - may the shim make its own system calls in this process?
 * @filters: receives ea_seccomp_filters(): while it stays the same, the answer does
 * @must_try: the user takes the risk: try also where the filter is this program's own
 *
 * Returns NULL if it may, else why not. Context: at start-up only, with one thread; without a
 * filter it costs reading one file, with one a few hundred microseconds.
 */
const char *ea_seccomp_refuses(int *filters, int must_try);

#endif
