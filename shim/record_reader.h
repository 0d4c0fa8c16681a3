/* SPDX-License-Identifier: MIT */
/*
 * record_reader.h - lines of /proc/PID/status, entries of /proc/PID/environ: records of any length,
 * read through a small buffer; each is cut to the space that the caller has for it
 */
#ifndef EA_SHIM_RECORD_READER_H
#define EA_SHIM_RECORD_READER_H

#include <stddef.h>

struct ea_record_reader {
	int fd;
	char end; /* what ends a record: '\n' or '\0' */
	long filled;
	long next;
	char buf[1024];
};

/* ea_record_open - 0 or -errno; ea_record_close() afterwards */
int ea_record_open(struct ea_record_reader *reader, const char *path, char end);

/*
 * ea_record_next - the next record, terminated, cut to @size - 1 bytes
 * @length: receives the length before the cut; may be NULL
 * Returns 1, or 0 at the end of the file (what was not ended is dropped) or on an error.
 */
int ea_record_next(struct ea_record_reader *reader, char *record, size_t size, size_t *length);

void ea_record_close(struct ea_record_reader *reader);

#endif
