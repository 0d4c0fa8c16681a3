/* SPDX-License-Identifier: MIT */
/*
 * reason.h - why the text of an object is not mapped large
 */
#ifndef CLI_REASON_H
#define CLI_REASON_H

#include "object.h"

/* enum shim_state - what the process's memory shows of the shim */
enum shim_state {
	SHIM_ABSENT,
	SHIM_PRELOADED,		 /* loaded, but not as an auditor: start-up libraries are not placed */
	SHIM_AUDITING,
};

/*
 * shim_state_of - look for libexecalign.so among the objects of a process
 *
 * A promoted process has two copies, since auditors are loaded into a namespace of their own.
 */
enum shim_state shim_state_of(
	const struct process *process, const struct object *objects, size_t count);

/* shim_is_off - does the shim take this value of EXECALIGN (NULL: not set) for "do nothing"? */
bool shim_is_off(const char *value);

/*
 * reason_find - fill object->reason and object->reason_text
 * @object: measured
 * @evidence: as object_identify() filled it
 */
void reason_find(
	struct object *object, const struct evidence *evidence, enum shim_state shim);

/* reason_name - the stable name that JSON uses, NULL for REASON_NONE */
const char *reason_name(enum reason reason);

#endif
