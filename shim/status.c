/* SPDX-License-Identifier: MIT */
#include "record_reader.h"
#include "status.h"
#include "sys.h"
#include "text.h"

static void take_line(struct ea_status *status, const char *line)
{
	const char *rest = ea_after_prefix(line, "PPid:\t");

	if (rest)
		status->parent = ea_parse_number(rest, NULL);
	rest = ea_after_prefix(line, "TracerPid:\t");
	if (rest)
		status->tracer = ea_parse_number(rest, NULL);
	rest = ea_after_prefix(line, "Seccomp:\t");
	if (rest)
		status->filters = *rest != '0';
	rest = ea_after_prefix(line, "Seccomp_filters:\t");
	if (rest)
		status->filters = (int)ea_parse_number(rest, NULL);
}

int ea_status_read(const char *path, struct ea_status *status)
{
	struct ea_record_reader reader;
	char line[64];
	int ret;

	ret = ea_record_open(&reader, path, '\n');
	if (ret)
		return ret;
	*status = (struct ea_status){.filters = -ENOENT};
	while (ea_record_next(&reader, line, sizeof(line), NULL))
		take_line(status, line);
	ea_record_close(&reader);
	return status->filters < 0 ? status->filters : 0;
}
