/* SPDX-License-Identifier: MIT */
/*
 * log.h - EXECALIGN_LOG: one line for people and programs per event
 *
 *	execalign pid=7 event=library path="/usr/lib/libz3.so.4" ... result=congruent how=shaped
 *
 * Each line is one write to a file opened for appending and closed again: no descriptor stays in
 * the process, and lines of several processes do not mix.
 */
#ifndef EA_SHIM_LOG_H
#define EA_SHIM_LOG_H

#include <stdint.h>

#include "text.h"

/* A line is cut at this size; a path of PATH_MAX and all fields fit. */
#define EA_LOG_LINE_BYTES 4608

struct ea_log {
	const char *target; /* settings.log; NULL: nothing is logged */
	char line[EA_LOG_LINE_BYTES];
	struct ea_text text;
};

/* ea_log_begin - start a line of @event; everything added until ea_log_end() goes into it */
void ea_log_begin(struct ea_log *log, const char *target, const char *event);
void ea_log_word(struct ea_log *log, const char *key, const char *value);
void ea_log_quoted(struct ea_log *log, const char *key, const char *value);
void ea_log_number(struct ea_log *log, const char *key, uint64_t value);
/* ea_log_end - write the line. A target that cannot be opened is left alone. */
void ea_log_end(struct ea_log *log);

/* ea_log_stderr - write @text as a line to stderr; the buffer needs room for one more byte */
void ea_log_stderr(struct ea_text *text);

/* ea_log_complain - write a fixed line of at most 254 bytes to stderr */
void ea_log_complain(const char *line);

/* ea_log_check - complain on stderr, once, when the log cannot be written */
void ea_log_check(const char *target);

#endif
