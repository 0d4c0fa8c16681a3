/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"

#define FIRST_READ_BYTES ((size_t)64 << 10)

static int grow(struct buffer *buffer, size_t *room)
{
	size_t wanted = *room ? *room * 2 : FIRST_READ_BYTES;
	char *data = realloc(buffer->data, wanted);

	if (!data)
		return -ENOMEM;
	buffer->data = data;
	*room = wanted;
	return 0;
}

static int read_to_end(int fd, struct buffer *buffer)
{
	size_t room = 0;

	for (;;) {
		ssize_t got;

		/* One byte stays free for the NUL. */
		if (room - buffer->bytes < 2 && grow(buffer, &room))
			return -ENOMEM;
		got = read(fd, buffer->data + buffer->bytes, room - buffer->bytes - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		buffer->bytes += (size_t)got;
	}
	buffer->data[buffer->bytes] = '\0';
	return 0;
}

int read_file_at(int dir_fd, const char *path, struct buffer *out)
{
	struct buffer buffer = {0};
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = read_to_end(fd, &buffer);
	close(fd);
	if (err) {
		free(buffer.data);
		return err;
	}
	*out = buffer;
	return 0;
}

int read_line(const char *path, char *out, size_t out_bytes)
{
	struct buffer buffer;
	int err = read_file_at(AT_FDCWD, path, &buffer);

	if (err)
		return err;
	buffer.data[strcspn(buffer.data, "\n")] = '\0';
	snprintf(out, out_bytes, "%s", buffer.data);
	free(buffer.data);
	return 0;
}

int read_number(const char *path, uint64_t *out)
{
	char line[64], *end;
	int err = read_line(path, line, sizeof(line));

	if (err)
		return err;
	errno = 0;
	*out = strtoull(line, &end, 10);
	return errno || end == line || *end ? -EINVAL : 0;
}

int read_value(const char *path, const char *key, uint64_t *out)
{
	struct buffer text;
	const char *line;
	int err = read_file_at(AT_FDCWD, path, &text);

	if (err)
		return err;
	line = strstr(text.data, key);
	if (line)
		*out = strtoull(line + strlen(key), NULL, 10);
	free(text.data);
	return line ? 0 : -ENODATA;
}

int pread_all(int fd, void *out, size_t bytes, uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = pread(fd, (char *)out + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return -ENODATA;
		done += (size_t)got;
	}
	return 0;
}

int pwrite_all(int fd, const void *data, size_t bytes, uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t put =
			pwrite(fd, (const char *)data + done, bytes - done, (off_t)(offset + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		done += (size_t)put;
	}
	return 0;
}
