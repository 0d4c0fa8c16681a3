/* SPDX-License-Identifier: MIT */
/*
 * maps.h - the text of /proc/PID/maps and /proc/PID/smaps
 *
 * The parser takes a buffer and nothing else: whoever runs a process chooses the names in it.
 */
#ifndef CLI_MAPS_H
#define CLI_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* struct vma - one mapping of a file */
struct vma {
	uint64_t start;
	uint64_t end;
	uint64_t offset;	 /* file offset of start */
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	bool readable;
	bool writable;
	bool executable;

	/* From smaps only; false or 0 after parsing maps. */
	bool pmd_known;		 /* the kernel reports FilePmdMapped (5.4 and newer) */
	bool advised;		 /* VmFlags hg: MADV_HUGEPAGE */
	bool refused;		 /* VmFlags nh: MADV_NOHUGEPAGE */
	uint64_t rss_bytes;
	uint64_t pmd_mapped_bytes; /* by PMD entries: page cache, shmem and hugetlb */

	char *path;		 /* as the kernel writes it, newlines as \012; owned */
};

/* struct maps - the mappings of files, in ascending order of address */
struct maps {
	struct vma *vmas;
	size_t count;
};

/*
 * maps_parse - read the mappings of files out of @text
 * @text: @bytes bytes of maps or smaps; needs no NUL
 * @out: filled on success only; to be freed with maps_free()
 *
 * Returns 0, -ENOMEM, or -EINVAL for text that is not in that format. Any context.
 */
int maps_parse(const char *text, size_t bytes, struct maps *out);

void maps_free(struct maps *maps);

/*
 * maps_unescape - undo \012 in a path, in place
 *
 * The kernel escapes newlines but not backslashes, so a name that holds the four characters
 * "\012" reads the same: the caller has to look which of the two names is the mapped file.
 * Returns true if something changed.
 */
bool maps_unescape(char *path);

#endif
