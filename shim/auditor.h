/* SPDX-License-Identifier: MIT */
/*
 * auditor.h - the copy of the shim that ld.so loads for LD_AUDIT
 */
#ifndef EA_SHIM_AUDITOR_H
#define EA_SHIM_AUDITOR_H

#include "process.h"

/*
 * ea_auditor_init - get ready for ld.so's calls, or decide to sit this process out
 * Context: constructor of the auditor's copy, before la_version and before any library is mapped.
 */
void ea_auditor_init(const struct ea_stack *stack);

#endif
