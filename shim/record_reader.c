/* SPDX-License-Identifier: MIT */
#include "record_reader.h"
#include "sys.h"

int ea_record_open(struct ea_record_reader *reader, const char *path, char end)
{
	long fd = sys_open(path, SYS_O_CLOEXEC, 0);

	if (fd < 0)
		return (int)fd;
	reader->fd = (int)fd;
	reader->end = end;
	reader->filled = 0;
	reader->next = 0;
	return 0;
}

static int fill(struct ea_record_reader *reader)
{
	reader->next = 0;
	reader->filled = sys_read(reader->fd, reader->buf, sizeof(reader->buf));
	return reader->filled > 0;
}

int ea_record_next(struct ea_record_reader *reader, char *record, size_t size, size_t *length)
{
	size_t bytes = 0;
	char byte;

	for (;;) {
		if (reader->next >= reader->filled && !fill(reader))
			return 0;
		byte = reader->buf[reader->next++];
		if (byte == reader->end)
			break;
		if (bytes < size - 1)
			record[bytes] = byte;
		bytes++;
	}
	record[bytes < size - 1 ? bytes : size - 1] = '\0';
	if (length)
		*length = bytes;
	return 1;
}

void ea_record_close(struct ea_record_reader *reader)
{
	sys_close(reader->fd);
}
