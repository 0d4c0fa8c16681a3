/* SPDX-License-Identifier: MIT */
/*
 * object.h - mapped files that hold text, and how that text is mapped
 *
 *	VMAs as the kernel lists them          texts               object
 *
 *	r--p  offset 0         libA
 *	r-xp  offset 0x20000   libA  --+
 *	r-xp  offset 0x200000  libA  --+--> one text segment --+--> libA
 *	r-xp  offset 0x800000  libA  --+                       |
 *	rw-p  ...              libA                            |
 *	r-xp  offset 0x20000   libA  -----> its second copy  --+
 *
 * One text segment may be in several VMAs, since advice and mprotect() split them. A file may be
 * mapped more than once (dlmopen, or by the program itself).
 */
#ifndef CLI_OBJECT_H
#define CLI_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"
#include "filesystem.h"
#include "machine.h"
#include "maps.h"
#include "pagemap.h"
#include "process.h"
#include "samples.h"

/* struct text - one text segment where it is mapped */
struct text {
	uint64_t offset;	 /* file range: the ELF segment's, or what is mapped */
	uint64_t bytes;
	uint64_t start;		 /* address that @offset is mapped at */
	const struct vma **vmas;  /* valid while the maps are */
	size_t vma_count;

	uint64_t distance_bytes; /* from congruent; 0: congruent. For the object's block */
	uint64_t whole_bytes;	 /* in whole blocks of the file */
	uint64_t first_whole;	 /* file offset of the first */
	uint64_t touched_bytes;	 /* of these, present in the page tables; may be unknown */
	uint64_t block_mapped_bytes; /* of these, mapped large; may be unknown */

	/* Why not, in bytes of whole blocks. */
	uint64_t split_bytes;	 /* blocks that are not inside one VMA */
	uint64_t replaced_bytes; /* not mapped from the file any more, or never */
	uint64_t small_folio_bytes; /* touched and in folios smaller than the block */
	unsigned int small_order_max; /* the largest order among these */
	bool advised;		 /* all its VMAs have MADV_HUGEPAGE */
	bool refused;		 /* some have MADV_NOHUGEPAGE */
};

/* enum role - who placed it */
enum role {
	ROLE_LIBRARY,		 /* the loader, or the program itself */
	ROLE_EXECUTABLE,	 /* the kernel */
	ROLE_INTERPRETER,	 /* the kernel: ld.so */
};

/* enum reason - why something is not mapped large; the names in JSON are in reason.c */
enum reason {
	REASON_NONE,		 /* nothing is missing */
	REASON_TOO_SMALL,
	REASON_WRONG_CLASS,
	REASON_EXECUTABLE,
	REASON_INTERPRETER,
	REASON_FILE_OFFSET,
	REASON_POLICY,
	REASON_BASE,
	REASON_NOT_TOUCHED,
	REASON_REPLACED,
	REASON_VMA_END,
	REASON_THP_DISABLED,
	REASON_FILESYSTEM,
	REASON_OLD_KERNEL,
	REASON_SMALL_FOLIOS,
	REASON_SMALL_ENTRIES,
	REASON_NOT_ADVISED,
	REASON_UNKNOWN,
};

/* enum verdict - the answer that report --check is about */
enum verdict {
	VERDICT_YES,
	VERDICT_UNKNOWN,
	VERDICT_NO,
};

#define REASON_TEXT_MAX 320

/* struct object - one mapped file with text */
struct object {
	char *path;
	bool deleted;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t inode;
	enum role role;
	struct text *texts;
	size_t text_count;

	uint64_t block_bytes;	 /* 0: no block fits, not eligible */
	uint64_t text_bytes;
	uint64_t distance_bytes; /* of the first text that is misplaced; 0: congruent */
	uint64_t whole_bytes;
	uint64_t touched_bytes;	 /* may be unknown */
	uint64_t block_mapped_bytes; /* may be unknown */
	bool folios_known;
	struct present present;	 /* all of the text; bytes may be unknown */
	struct entry_counts samples; /* of a command that was started: in its text */

	enum reason reason;
	char reason_text[REASON_TEXT_MAX];
};

/* struct evidence - what else is known about an object while it is judged */
struct evidence {
	const struct machine *machine;
	const struct process *process;
	bool musl;		 /* libraries are placed by musl's loader */
	struct ea_loader_note loader; /* of the loader; version 0: no note, or not readable */
	struct mapped_file file;
	struct elf_file elf;
	struct filesystem filesystem;
};

/*
 * objects_find - group the VMAs that are executable and not writable by file
 * @maps: has to outlive the objects' use of text.vmas
 * @out, @count: an array, in the order of the first address; free with objects_free()
 *
 * Returns 0 or -ENOMEM. Only path, dev_*, inode and texts are filled, texts as mapped.
 */
int objects_find(const struct maps *maps, struct object **out, size_t *count);

void objects_free(struct object *objects, size_t count);

/*
 * object_identify - open the file and take the text segments from its headers
 * @evidence: machine, process, musl and loader are set; the rest is filled
 *
 * Fills path, deleted, role, and the texts' extent. Returns 0 or -ENOMEM.
 */
int object_identify(
	struct object *object, const struct maps *maps, struct evidence *evidence);

/*
 * object_measure - choose the block and measure the texts
 * @forced_block_bytes: 0, or a block to judge by instead of the one that suits the file
 * @pagemap_fd: /proc/PID/pagemap, or -1
 * @flags: kpageflags
 *
 * Returns 0, or -ESRCH when the process went away meanwhile.
 */
int object_measure(struct object *object, const struct evidence *evidence,
	uint64_t forced_block_bytes, int pagemap_fd, struct page_flags *flags);

/* object_verdict - is everything mapped large that could be? */
enum verdict object_verdict(const struct object *object);

/* object_eligible, object_congruent - see the words at the top of docs/design.md */
bool object_eligible(const struct object *object);
bool object_congruent(const struct object *object);

/* add_known - a sum that is unknown as soon as one of its terms is */
void add_known(uint64_t *sum, uint64_t bytes);

#endif
