/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "message.h"

void message(const char *thing, const char *format, ...)
{
	char what[PATH_MAX + 512];
	char text[2 * PATH_MAX + 1024];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(text, sizeof(text), "execalign: %s: %s", thing, what);

	/* The report may be half-way out on the same terminal. */
	fflush(stdout);
	print_escaped(stderr, text);
	fputc('\n', stderr);
}

int message_written(FILE *stream, const char *name, int err)
{
	if (!err && !fflush(stream))
		return EXIT_DONE;
	message(name, "cannot be written: %s; is there room?", strerror(errno));
	return EXIT_TROUBLE;
}
