/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader.h"

bool loader_is_musl(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !strncmp(name, "ld-musl-", strlen("ld-musl-")) ||
	       !strncmp(name, "libc.", strlen("libc."));
}

/* As its loader reads it (decode_exec_align()); NULL for what it ignores. */
static const char *musl_value(const char *variable)
{
	unsigned long number;
	char *end;

	if (!variable || *variable < '0' || *variable > '9')
		return NULL;
	errno = 0;
	number = strtoul(variable, &end, 0);
	if (*end || errno || number & (number - 1) || number > 1UL << 30 ||
		(number > 1 && number <= (unsigned long)sysconf(_SC_PAGESIZE)))
		return NULL;
	return variable;
}

bool loader_is_on(
	const struct ea_loader_note *note, bool is_musl, const char *tunables, const char *variable)
{
	return ea_loader_is_on(note,
		is_musl ? musl_value(variable) : ea_tunable_find(tunables, EA_LOADER_TUNABLE "="));
}

const char *loader_switch(bool is_musl)
{
	return is_musl ? EA_LOADER_VARIABLE "=" : "GLIBC_TUNABLES=" EA_LOADER_TUNABLE "=";
}
