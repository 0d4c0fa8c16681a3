/* SPDX-License-Identifier: MIT */
/*
 * io.h - reading whole files of unknown size, such as those of /proc, and exact ranges
 */
#ifndef CLI_IO_H
#define CLI_IO_H

#include <stddef.h>
#include <stdint.h>

/* struct buffer - bytes from a file, with a NUL behind the last; free with free(data) */
struct buffer {
	char *data;
	size_t bytes;
};

/*
 * read_file_at - read all of a file
 * @dir_fd: directory that @path is relative to, or AT_FDCWD
 * @out: filled on success only
 *
 * Returns 0 or -errno. Any context.
 */
int read_file_at(int dir_fd, const char *path, struct buffer *out);

/*
 * read_line - the first line of a small file, without its newline
 * @out: receives at most @out_bytes - 1 bytes and a NUL
 *
 * Returns 0 or -errno. Any context.
 */
int read_line(const char *path, char *out, size_t out_bytes);

/* read_number - a file that holds one decimal number; 0, -EINVAL or -errno */
int read_number(const char *path, uint64_t *out);

/*
 * read_value - the number behind a key of a file of /proc
 * @key: "\nMemAvailable:": the beginning of a line, but of the first
 *
 * Returns 0, -ENODATA if there is no such key, or -errno. Any context.
 */
int read_value(const char *path, const char *key, uint64_t *out);

/*
 * pread_all - read exactly @bytes at @offset
 *
 * Returns 0, -ENODATA when the file ends before, or -errno. Any context.
 */
int pread_all(int fd, void *out, size_t bytes, uint64_t offset);

/* pwrite_all - write all of @bytes at @offset; 0 or -errno */
int pwrite_all(int fd, const void *data, size_t bytes, uint64_t offset);

#endif
