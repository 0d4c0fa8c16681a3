/* SPDX-License-Identifier: MIT */
/*
 * forget.h - have the page cache forget what was read in small folios before the promotion
 *
 * When the shim is only preloaded, ld.so has mapped and relocated all start-up libraries before any
 * code of ours runs. From a cold cache it has read headers, tables and what read-ahead adds to them
 * in small folios, and a block of which anything is cached so can never be read in one piece:
 *
 *	|####|....|....|....|....|####|     # cached in small folios by the first start
 *	0    2M                  ^ 10M      . not cached
 *	header, tables           what read-ahead in the data segment spilled back
 *
 * Just before the exec, which ends all these mappings anyway, such blocks are unmapped and dropped
 * from the page cache. The second start reads them in one folio each.
 */
#ifndef EA_SHIM_FORGET_H
#define EA_SHIM_FORGET_H

#include "settings.h"
#include "startup.h"

/*
 * ea_forget_small_folios - drop the blocks of eligible text that are cached in small folios
 *
 * Only in a process that has waited for the disk since it was forked, so that a start from a warm cache
 * drops nothing; only where advice on this file's filesystem reads blocks in one folio and the pages of
 * one folio are mapped together, by which the two are told apart without privileges: contiguous blocks
 * since Linux 7.2. Pages that another process has mapped, and dirty ones, stay. Should the exec fail,
 * what is needed is read again.
 * Context: as ea_promotion_try(), not under a seccomp filter.
 */
void ea_forget_small_folios(const struct ea_startup *startup, const struct ea_settings *settings);

#endif
