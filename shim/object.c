/* SPDX-License-Identifier: MIT */
#include <asm/stat.h>

#include "object.h"
#include "sys.h"

int ea_object_identify(struct ea_object *object, const char *path)
{
	struct stat status;
	long ret;

	ret = sys_call6(__NR_newfstatat, AT_FDCWD, (long)path, (long)&status, 0, 0, 0);
	if (ret)
		return (int)ret;
	if ((status.st_mode & S_IFMT) != S_IFREG)
		return -ENOEXEC;
	object->device = status.st_dev;
	object->inode = status.st_ino;
	object->file_bytes = (uint64_t)status.st_size;
	return 0;
}

int ea_object_open(struct ea_object *object, const char *path)
{
	long fd = sys_open(path, SYS_O_CLOEXEC, 0);

	if (fd < 0)
		return (int)fd;
	object->fd = (int)fd;
	return 0;
}

int ea_object_parse(
	struct ea_object *object, const void *head, size_t head_bytes, uint64_t page_bytes)
{
	unsigned char far_phdrs[EA_PHDRS_MAX * EA_PHDR_BYTES];
	struct ea_header header;
	long bytes;
	int ret;

	ret = ea_header_parse(head, head_bytes, object->file_bytes, SYS_MACHINE, &header);
	if (ret)
		return ret;
	/* ea_header_parse() checked the sum. */
	if (header.phdrs_offset + header.phdrs_bytes <= head_bytes)
		return ea_image_parse(&header, (const char *)head + header.phdrs_offset,
			header.phdrs_bytes, page_bytes, &object->image);

	bytes = sys_pread(object->fd, far_phdrs, header.phdrs_bytes, header.phdrs_offset);
	if (bytes < 0)
		return (int)bytes;
	return ea_image_parse(&header, far_phdrs, (size_t)bytes, page_bytes, &object->image);
}

int ea_object_read(struct ea_object *object, uint64_t page_bytes)
{
	unsigned char head[EA_OBJECT_HEAD_BYTES];
	long bytes = sys_read(object->fd, head, sizeof(head));

	if (bytes < 0)
		return (int)bytes;
	return ea_object_parse(object, head, (size_t)bytes, page_bytes);
}

void ea_object_close(struct ea_object *object)
{
	sys_close(object->fd);
	object->fd = -1;
}

/* Open, read and close; the rest of @object is the caller's. */
static int read_closed(struct ea_object *object, const char *path, uint64_t page_bytes)
{
	int ret;

	ret = ea_object_open(object, path);
	if (ret)
		return ret;
	ret = ea_object_read(object, page_bytes);
	ea_object_close(object);
	return ret;
}

int ea_object_load(struct ea_object *object, const char *path, uint64_t page_bytes)
{
	int ret = ea_object_identify(object, path);

	return ret ? ret : read_closed(object, path, page_bytes);
}

int ea_object_peek(struct ea_object *object, const char *path, uint64_t page_bytes)
{
	object->file_bytes = INT64_MAX;
	return read_closed(object, path, page_bytes);
}
