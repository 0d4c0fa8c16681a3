/* SPDX-License-Identifier: MIT */
#include "record_reader.h"
#include "status.h"
#include "sys.h"
#include "text.h"

/* Returns 1 when the line is one of those that tell something. */
static int take_line(struct ea_status *status, const char *line)
{
	const char *rest;

	if ((rest = ea_after_prefix(line, "PPid:\t")))
		status->parent = ea_parse_number(rest, NULL);
	else if ((rest = ea_after_prefix(line, "TracerPid:\t")))
		status->tracer = ea_parse_number(rest, NULL);
	else if ((rest = ea_after_prefix(line, "Seccomp:\t")))
		status->filters = *rest != '0';
	else if ((rest = ea_after_prefix(line, "Seccomp_filters:\t")))
		status->filters = (int)ea_parse_number(rest, NULL);
	return rest != NULL;
}

int ea_status_read(const char *path, struct ea_status *status)
{
	struct ea_record_reader reader;
	int is_status = 0;
	char line[64];
	int ret;

	ret = ea_record_open(&reader, path, '\n');
	if (ret)
		return ret;
	/* A kernel without seccomp has no line about it. */
	*status = (struct ea_status){0};
	while (ea_record_next(&reader, line, sizeof(line), NULL))
		is_status |= take_line(status, line);
	ea_record_close(&reader);
	return is_status ? 0 : -ENOENT;
}
