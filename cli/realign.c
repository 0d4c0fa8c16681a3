/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "attributes.h"
#include "io.h"
#include "realign.h"

#define TEMPORARY_PREFIX ".execalign-"

/* Attempts at a name for the copy; each failure is another process that cleans up. */
#define NAME_TRIES 4

/* struct copy - the new file before it takes the place of the old one */
struct copy {
	int fd;
	bool named;
	char name[sizeof(TEMPORARY_PREFIX) + 24];
};

bool realign_is_temporary(const char *name)
{
	if (strncmp(name, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX)))
		return false;
	name += strlen(TEMPORARY_PREFIX);
	return *name && !name[strspn(name, "0123456789")];
}

int realign_clean(int dir_fd, const char *name)
{
	/* Nobody's pipe shall make this wait. */
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	/* Under the lock, so that no other process takes the name for its copy meanwhile. */
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else if (unlinkat(dir_fd, name, 0))
		err = -errno;
	close(fd);
	return err;
}

/*
 * Lock what was just created. Returns 0; -EAGAIN if another process took it for left behind and
 * removed it before it was locked; or another -errno. It is gone unless it is ours.
 */
static int lock_named(int dir_fd, struct copy *copy)
{
	struct stat info;
	int err = 0;

	if (flock(copy->fd, LOCK_EX) || fstat(copy->fd, &info))
		err = -errno;
	else if (!info.st_nlink)
		err = -EAGAIN;
	if (!err) {
		copy->named = true;
		return 0;
	}
	/* Without locks nobody else can have removed it: the name is that of this copy. */
	if (err != -EAGAIN)
		unlinkat(dir_fd, copy->name, 0);
	close(copy->fd);
	/* The worker next to this one may be given the same number. */
	copy->fd = -1;
	return err;
}

/*
 * A copy without a name vanishes with the process. Some filesystems have no such files: there it is
 * named from the beginning, and locked before it is ours.
 */
static int create_named(int dir_fd, struct copy *copy)
{
	unsigned int tries;
	int err;

	for (tries = 0; tries < NAME_TRIES; tries++) {
		copy->fd = openat(dir_fd, copy->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (copy->fd >= 0) {
			err = lock_named(dir_fd, copy);
			if (err != -EAGAIN)
				return err;
			continue;
		}
		if (errno != EEXIST)
			return -errno;
		err = realign_clean(dir_fd, copy->name);
		if (err)
			return err;
	}
	return -EBUSY;
}

static int create_copy(const struct target_file *file, struct copy *copy)
{
	snprintf(copy->name, sizeof(copy->name), TEMPORARY_PREFIX "%ju",
		(uintmax_t)file->info.st_ino);
	copy->named = false;
	copy->fd = openat(file->dir_fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (copy->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		return create_named(file->dir_fd, copy);
	if (copy->fd < 0)
		return -errno;
	return flock(copy->fd, LOCK_EX) ? -errno : 0;
}

static int name_copy(const struct target_file *file, struct copy *copy)
{
	char path[64];
	unsigned int tries;
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy->fd);
	for (tries = 0; tries < NAME_TRIES; tries++) {
		/* The second way takes CAP_DAC_READ_SEARCH, the first one /proc. */
		if (!linkat(AT_FDCWD, path, file->dir_fd, copy->name, AT_SYMLINK_FOLLOW) ||
			(errno == ENOENT &&
				!linkat(copy->fd, "", file->dir_fd, copy->name, AT_EMPTY_PATH))) {
			copy->named = true;
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
		err = realign_clean(file->dir_fd, copy->name);
		if (err)
			return err;
	}
	return -EBUSY;
}

static int copy_by_hand(int from, int to, off_t offset, off_t end)
{
	char buffer[64 << 10];

	while (offset < end) {
		size_t wanted = sizeof(buffer);
		int err;

		if (end - offset < (off_t)wanted)
			wanted = (size_t)(end - offset);
		err = pread_all(from, buffer, wanted, (uint64_t)offset);
		if (!err)
			err = pwrite_all(to, buffer, wanted, (uint64_t)offset);
		if (err)
			return err;
		offset += (off_t)wanted;
	}
	return 0;
}

/* Shared blocks where the filesystem has them (btrfs, xfs), else within the kernel, else by hand. */
static int copy_data(int from, int to, off_t bytes)
{
	off_t in = 0, out = 0;

	if (!ioctl(to, FICLONE, from))
		return 0;
	while (in < bytes) {
		ssize_t got = copy_file_range(from, &in, to, &out, (size_t)(bytes - in), 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
			return -errno;
		/* Not for these filesystems; or they say so by an early end. */
		if (got <= 0)
			return copy_by_hand(from, to, in, bytes);
	}
	return 0;
}

/* The file as it was when it was judged? */
static bool is_unchanged(const struct target_file *file)
{
	const struct stat *before = &file->info;
	struct stat now;

	return !fstatat(file->dir_fd, file->name, &now, AT_SYMLINK_NOFOLLOW) &&
	       now.st_dev == before->st_dev && now.st_ino == before->st_ino &&
	       now.st_size == before->st_size && now.st_nlink == before->st_nlink &&
	       now.st_ctim.tv_sec == before->st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == before->st_ctim.tv_nsec;
}

static int fill_copy(const struct target_file *file, uint64_t field_offset, uint64_t align_bytes,
	struct copy *copy)
{
	int err = copy_data(file->fd, copy->fd, file->info.st_size);

	/* In the file's byte order, which is this machine's (layout_read()). */
	if (!err)
		err = pwrite_all(copy->fd, &align_bytes, sizeof(align_bytes), field_offset);
	if (!err)
		err = attributes_copy(file->fd, &file->info, copy->fd);
	if (!err && fsync(copy->fd))
		err = -errno;
	return err;
}

static int put_in_place(const struct target_file *file, struct copy *copy)
{
	int err = copy->named ? 0 : name_copy(file, copy);
	struct stat info;

	if (err)
		return err;
	if (!is_unchanged(file))
		return -ESTALE;
	if (file->seen && !fstat(copy->fd, &info))
		seen_add(file->seen, &info);
	if (renameat(file->dir_fd, copy->name, file->dir_fd, file->name))
		return -errno;
	copy->named = false;
	/* Some filesystems cannot, which is EINVAL. */
	return fsync(file->dir_fd) && errno != EINVAL ? -EREMOTEIO : 0;
}

static int replace(const struct target_file *file, uint64_t field_offset, uint64_t align_bytes)
{
	struct copy copy;
	int err = create_copy(file, &copy);

	if (!err)
		err = fill_copy(file, field_offset, align_bytes, &copy);
	if (!err)
		err = put_in_place(file, &copy);
	if (copy.named)
		unlinkat(file->dir_fd, copy.name, 0);
	if (copy.fd >= 0)
		close(copy.fd);
	return err;
}

static void refuse(struct change *out, enum refusal refusal, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse(struct change *out, enum refusal refusal, const char *format, ...)
{
	va_list args;

	out->outcome = OUTCOME_REFUSED;
	out->refusal = refusal;
	va_start(args, format);
	vsnprintf(out->text, sizeof(out->text), format, args);
	va_end(args);
}

static void fail(struct change *out, int err)
{
	const char *what = strerror(-err), *remedy = "see what the system log says of that disk";
	const char *state = "not changed: ";

	out->outcome = OUTCOME_FAILED;
	out->error = err;
	switch (-err) {
	case EROFS:
		what = "is on a read-only filesystem";
		remedy = "mount it writable, or change it where the image is built";
		break;
	case EACCES:
	case EPERM:
		what = "may not be replaced by this user (rights of the file, its directory, its "
		       "owner or its attributes)";
		remedy = "run as root, or as its owner with the right to write both";
		break;
	case ENOSPC:
	case EDQUOT:
		what = "no room for the copy that is to replace it";
		remedy = "free as much as the file takes";
		break;
	case EBUSY:
		what = "another execalign is changing it";
		remedy = "wait for that one";
		break;
	case ENOLCK:
		what = "its filesystem has no locks";
		remedy = "start its lock daemon, or change it where the image is built";
		break;
	case ESTALE:
		what = "it was changed meanwhile";
		remedy = "run again";
		break;
	case ENOTSUP:
		what = "an extended attribute of it cannot be given to a copy";
		remedy = "run as root; 'getfattr -dm - FILE' shows them";
		break;
	case EREMOTEIO:
		state = "";
		what = "changed, but the disk does not confirm that its directory was written";
		break;
	default:
		break;
	}
	snprintf(out->text, sizeof(out->text), "%s%s; %s", state, what, remedy);
}

/* The kernel appends this to what it signs: scripts/sign-file.c, MODULE_SIG_STRING. */
static bool has_appended_signature(const struct target_file *file)
{
	static const char mark[] = "~Module signature appended~\n";
	char end[sizeof(mark) - 1];

	if ((uint64_t)file->info.st_size < sizeof(end))
		return false;
	return !pread_all(file->fd, end, sizeof(end), (uint64_t)file->info.st_size - sizeof(end)) &&
	       !memcmp(end, mark, sizeof(end));
}

static bool refuse_attributes(const struct target_file *file, struct change *out)
{
	const char *measured = attributes_find_measured(file->fd);
	struct statx info;

	if (measured) {
		refuse(out, REFUSAL_MEASURED,
			"has a signature or checksum (%s) that would not fit any more; sign it "
			"after "
			"the change, where it is built",
			measured);
		return true;
	}
	if (statx(file->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &info))
		return false;
	if (info.stx_attributes & STATX_ATTR_VERITY) {
		refuse(out, REFUSAL_VERITY,
			"is protected by fs-verity, which a changed file is not; change it before "
			"it "
			"is enabled");
		return true;
	}
	if (info.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) {
		refuse(out, REFUSAL_IMMUTABLE, "is immutable or append-only; chattr -ia first");
		return true;
	}
	return false;
}

/* What would break, or be lost. */
static bool refuse_file(const struct target_file *file, struct change *out)
{
	if (file->info.st_nlink > 1) {
		refuse(out, REFUSAL_HARD_LINKS,
			"has %ju names (hard links), and only this one would lead to the changed "
			"file; make it a copy of its own first",
			(uintmax_t)file->info.st_nlink);
		return true;
	}
	if (has_appended_signature(file)) {
		refuse(out, REFUSAL_SIGNED,
			"ends with a signature that would not fit any more; sign it after the "
			"change");
		return true;
	}
	return refuse_attributes(file, out);
}

/* Of use, and to be undone? */
static bool refuse_layout(const struct layout *layout, struct change *out)
{
	if (layout->verdict == LAYOUT_MISLAID) {
		char text[CHANGE_TEXT_MAX];

		layout_remedy(layout, text, sizeof(text));
		refuse(out, REFUSAL_MISLAID, "%s", text);
		return true;
	}
	if (!layout->original_bytes) {
		refuse(out, REFUSAL_ALIGNMENTS,
			"its segments have different alignments, so that --restore could not tell "
			"what there was; link it with -Wl,-z,max-page-size=0x%" PRIx64,
			layout->block_bytes);
		return true;
	}
	return false;
}

/* Before anything is copied, what would stand in the way at the end. */
static int check_rights(const struct target_file *file)
{
	if (faccessat(file->dir_fd, file->name, W_OK, AT_EACCESS) ||
		faccessat(file->dir_fd, ".", W_OK | X_OK, AT_EACCESS))
		return -errno;
	return 0;
}

/* What p_align is to be, 0: as it is. */
static uint64_t wanted_align(const struct layout *layout, enum request request)
{
	const struct ea_align *align = &layout->align;

	switch (request) {
	case REQUEST_NONE:
		break;
	case REQUEST_RAISE:
		return layout->align_bytes >= layout->block_bytes ? 0 : layout->block_bytes;
	case REQUEST_RESTORE:
		return layout->original_bytes < align->bytes ? layout->original_bytes : 0;
	}
	return 0;
}

void realign(const struct target_file *file, const struct layout *layout, enum request request,
	bool dry_run, struct change *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	if (request == REQUEST_NONE || (request == REQUEST_RAISE && !layout_eligible(layout)))
		return;
	out->outcome = OUTCOME_ALREADY;
	if (request == REQUEST_RAISE && !layout_carries(layout) && refuse_layout(layout, out))
		return;
	out->to_bytes = wanted_align(layout, request);
	if (!out->to_bytes)
		return;
	out->from_bytes = layout->align.bytes;
	if (refuse_file(file, out))
		return;
	err = check_rights(file);
	if (!err && !dry_run)
		err = replace(file, layout->align.field_offset, out->to_bytes);
	if (err)
		fail(out, err);
	else
		out->outcome = dry_run ? OUTCOME_WOULD_CHANGE : OUTCOME_CHANGED;
}

const char *refusal_name(enum refusal refusal)
{
	static const char *const names[REFUSAL_COUNT] = {
		[REFUSAL_NONE] = NULL,
		[REFUSAL_MISLAID] = "mislaid",
		[REFUSAL_ALIGNMENTS] = "alignments",
		[REFUSAL_HARD_LINKS] = "hard-links",
		[REFUSAL_SIGNED] = "signed",
		[REFUSAL_MEASURED] = "measured",
		[REFUSAL_VERITY] = "verity",
		[REFUSAL_IMMUTABLE] = "immutable",
	};

	return names[refusal];
}

const char *outcome_name(enum outcome outcome)
{
	static const char *const names[OUTCOME_COUNT] = {
		[OUTCOME_NONE] = "none",
		[OUTCOME_ALREADY] = "already",
		[OUTCOME_CHANGED] = "changed",
		[OUTCOME_WOULD_CHANGE] = "would-change",
		[OUTCOME_REFUSED] = "refused",
		[OUTCOME_FAILED] = "failed",
	};

	return names[outcome];
}
