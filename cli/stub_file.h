/* SPDX-License-Identifier: MIT */
/*
 * stub_file.h - a large file of code that does nothing, to be mapped and called
 *
 * Every instruction in it returns, so that any aligned address may be called. The file has no name
 * from before the first byte is written on: whatever ends the process, nothing is left.
 */
#ifndef CLI_STUB_FILE_H
#define CLI_STUB_FILE_H

#include <signal.h>
#include <stdint.h>

/*
 * stub_file_create - write the file and have it on disk
 * @dir: where
 * @bytes: its size, a multiple of 64 KiB
 * @stop: looked at meanwhile; anything but 0 ends it
 *
 * Returns a descriptor that can be read and not written, -EINTR if it was stopped, or -errno.
 * Any context.
 */
int stub_file_create(const char *dir, uint64_t bytes, const volatile sig_atomic_t *stop);

/*
 * stub_file_evict - drop its pages from the page cache
 *
 * Nothing may map it. Returns the bytes that are cached all the same, or -errno.
 */
int64_t stub_file_evict(int fd, uint64_t bytes, uint64_t page_bytes);

#endif
