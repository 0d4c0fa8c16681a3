/* SPDX-License-Identifier: MIT */
/*
 * elf.c - execalign elf: how files are laid out for large blocks, and setting their alignment
 */
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "args.h"
#include "command.h"
#include "crew.h"
#include "dpkg.h"
#include "elf_report.h"
#include "format.h"
#include "message.h"
#include "progress.h"
#include "seen.h"

#define KEY_SET_ALIGN 0x400
#define KEY_RESTORE 0x401
#define KEY_DRY_RUN 0x402
#define KEY_CHECK 0x403
#define KEY_JSON 0x404
#define KEY_VERBOSE 0x405

/* What p_align may be set to. A page at least; more than any PMD maps has no use. */
#define ALIGN_BYTES_MIN (4 * EA_KIB)
#define ALIGN_BYTES_MAX (1024 * EA_MIB)

/* struct elf_run - one call of the command */
struct elf_run {
	struct elf_request request;
	bool json;
	bool check;
	char **paths; /* NULL-terminated */
	size_t path_count;
	struct seen seen;
	struct dpkg dpkg;
	struct progress progress;
	struct elf_sums sums;
	bool failed; /* something was said on stderr */
};

static const struct argp_option elf_argp_options[] = {
	ARGS_HELP_OPTION,
	{"set-align", KEY_SET_ALIGN, "SIZE", 0,
		"have loaders place the text on multiples of SIZE: auto (what suits each file), "
		"64K, "
		"2M or another power of two; only where that would make it congruent",
		0},
	{"restore", KEY_RESTORE, NULL, 0, "put back the alignment that the linker wrote", 0},
	{"dry-run", KEY_DRY_RUN, NULL, 0, "with these two: change nothing, say what would be", 0},
	{"check", KEY_CHECK, NULL, 0,
		"exit with 1 if a file that could be placed does not carry the alignment", 0},
	{"json", KEY_JSON, NULL, 0, "print lines of JSON, with sizes in bytes", 0},
	{"verbose", KEY_VERBOSE, NULL, 0, "show every program and library, with details", 0},
	{0},
};

static error_t parse_align(struct elf_request *request, const char *text)
{
	uint64_t bytes = 0;

	if (request->request == REQUEST_RESTORE)
		return args_error("elf", "--set-align and --restore exclude each other; give one");
	request->request = REQUEST_RAISE;
	request->block_bytes = 0;
	if (!strcmp(text, "auto"))
		return 0;
	if (parse_size(text, &bytes) || bytes & (bytes - 1) || bytes < ALIGN_BYTES_MIN ||
		bytes > ALIGN_BYTES_MAX)
		return args_error("--set-align",
			"'%s' is not an alignment; give auto or a power of two from 4K to 1024M",
			text);
	request->block_bytes = bytes;
	return 0;
}

static error_t check_options(const struct elf_run *run)
{
	const struct elf_request *request = &run->request;

	if (!run->path_count)
		return args_error("elf", "no file is given; see 'execalign elf --help'");
	if (request->dry_run && request->request == REQUEST_NONE)
		return args_error("--dry-run",
			"nothing would be changed anyhow; add --set-align or "
			"--restore");
	if (run->check && request->request == REQUEST_RESTORE)
		return args_error(
			"elf", "--check and --restore exclude each other; check in another call");
	return 0;
}

static error_t parse_elf(int key, char *arg, struct argp_state *state)
{
	struct elf_run *run = state->input;

	switch (key) {
	case KEY_SET_ALIGN:
		return parse_align(&run->request, arg);
	case KEY_RESTORE:
		if (run->request.request == REQUEST_RAISE)
			return args_error(
				"elf", "--set-align and --restore exclude each other; give one");
		run->request.request = REQUEST_RESTORE;
		return 0;
	case KEY_DRY_RUN:
		run->request.dry_run = true;
		return 0;
	case KEY_CHECK:
		run->check = true;
		return 0;
	case KEY_JSON:
		run->json = true;
		return 0;
	case KEY_VERBOSE:
		run->request.verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		run->paths[run->path_count++] = arg;
		return 0;
	case ARGP_KEY_END:
		return check_options(run);
	default:
		return args_common(key, state);
	}
}

static const struct argp elf_argp = {
	.options = elf_argp_options,
	.parser = parse_elf,
	.args_doc = "FILE|DIR...",
	.doc = "Say of each program and shared library, and of those below each DIR, whether its "
	       "text can be mapped by large TLB entries wherever a loader aligns it, and what "
	       "stands "
	       "in the way; or set the alignment in the file.\v"
	       "A changed file takes the place of the old one in one step. Programs that run keep "
	       "the "
	       "old one.\n\n"
	       "Exit status: 0 done; 1 with --check, if a file does not carry the alignment; 2 "
	       "wrong "
	       "usage or failure.",
};

/* Several arguments may lead to one file; else only files with several names can come twice. */
static bool is_repeated(struct elf_run *run, const struct stat *info)
{
	return (info->st_nlink > 1 || run->path_count > 1) && seen_add(&run->seen, info);
}

static bool is_change(const struct change *change)
{
	return change->outcome == OUTCOME_CHANGED || change->outcome == OUTCOME_WOULD_CHANGE;
}

static const char *find_package(struct elf_run *run, const struct elf_item *item)
{
	char *dir, *path = NULL;
	const char *package = NULL;

	if (!is_change(&item->change))
		return NULL;
	dir = realpath(item->dir->path, NULL);
	if (dir && asprintf(&path, "%s/%s", strcmp(dir, "/") ? dir : "", item->name) >= 0) {
		package = dpkg_owner(&run->dpkg, path);
		free(path);
	}
	free(dir);
	return package;
}

static void work_on_file(struct elf_run *run, struct elf_item *item, int fd)
{
	struct target_file file = {.dir_fd = item->dir->fd, .name = item->name, .fd = fd};

	/* So that it is not taken for another file when it comes by another argument. */
	if (run->path_count > 1)
		file.seen = &run->seen;
	if (fstat(fd, &file.info)) {
		item->error = -errno;
		return;
	}
	layout_read(fd, (uint64_t)file.info.st_size, run->request.block_bytes, &item->layout);
	if (item->layout.kind != LAYOUT_JUDGED)
		return;
	item->repeated = is_repeated(run, &file.info);
	if (item->repeated)
		return;
	realign(&file, &item->layout, run->request.request, run->request.dry_run, &item->change);
	item->package = find_package(run, item);
}

static void work_on(void *place, void *context)
{
	struct elf_run *run = context;
	struct elf_item *item = place;
	int fd;

	if (!item->dir)
		return;
	fd = openat(item->dir->fd, item->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		item->error = -errno;
		return;
	}
	work_on_file(run, item, fd);
	close(fd);
}

/* A free place; what the former item held was freed when it was collected. */
static struct elf_item *next_item(struct crew *crew)
{
	struct elf_item *item = crew_next(crew);

	memset(item, 0, sizeof(*item));
	return item;
}

/* struct feeding - what the walk through directories needs */
struct feeding {
	struct crew *crew;
	const struct elf_request *request;
};

static void feed_file(void *context, struct tree_dir *dir, const char *name)
{
	const struct feeding *feeding = context;
	struct elf_item *item;

	/* A copy that is being made is no file of the user's; one that was left behind goes. */
	if (realign_is_temporary(name)) {
		if (feeding->request->request != REQUEST_NONE && !feeding->request->dry_run)
			realign_clean(dir->fd, name);
		return;
	}
	item = next_item(feeding->crew);
	item->dir = tree_dir_get(dir);
	snprintf(item->name, sizeof(item->name), "%s", name);
	crew_feed(feeding->crew);
}

static void feed_trouble(void *context, const char *path, int err)
{
	const struct feeding *feeding = context;
	struct elf_item *item = next_item(feeding->crew);

	item->path = strdup(path);
	item->error = err;
	crew_feed(feeding->crew);
}

/* By its real name: it is that which is replaced, and not a link to it. */
static int feed_argument(struct crew *crew, const char *path)
{
	char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL;
	struct elf_item *item;
	struct tree_dir *dir;
	int err;

	if (!slash)
		return -errno;
	*slash = '\0';
	err = tree_dir_open(slash == real ? "/" : real, &dir);
	if (!err) {
		item = next_item(crew);
		item->dir = dir;
		snprintf(item->name, sizeof(item->name), "%s", slash + 1);
		item->path = strdup(path);
		item->argument = true;
		crew_feed(crew);
	}
	free(real);
	return err;
}

static int feed_path(struct feeding *feeding, const char *path)
{
	const struct tree_visitor visitor = {feed_file, feed_trouble, feeding};
	struct tree_dir *dir;
	struct stat info;
	int err;

	if (stat(path, &info))
		return -errno;
	if (S_ISREG(info.st_mode))
		return feed_argument(feeding->crew, path);
	/* As a device or a pipe would be: no ELF file, and not to be waited for. */
	if (!S_ISDIR(info.st_mode))
		return -ENODEV;
	err = tree_dir_open(path, &dir);
	if (err)
		return err;
	tree_walk(dir, &visitor);
	tree_dir_put(dir);
	return 0;
}

static void feed(struct crew *crew, void *context)
{
	struct elf_run *run = context;
	struct feeding feeding = {crew, &run->request};
	char **path;

	for (path = run->paths; *path; path++) {
		int err = feed_path(&feeding, *path);

		if (err)
			feed_trouble(&feeding, *path, err);
	}
}

static void say(struct elf_run *run, const struct elf_item *item, const char *text)
{
	progress_hide(&run->progress);
	message(item->path ? item->path : "elf", "%s", text);
	run->failed = true;
}

static void say_error(struct elf_run *run, const struct elf_item *item)
{
	char text[256];

	run->sums.unreadable++;
	if (item->error == -ENODEV)
		snprintf(text, sizeof(text), "neither a file nor a directory; name one");
	else if (item->error == -EACCES || item->error == -EPERM)
		snprintf(text, sizeof(text), "may not be read by this user; run as root");
	else if (item->error == -EMFILE)
		snprintf(text, sizeof(text),
			"nested too deep; raise the limit of open files "
			"(ulimit -n)");
	else
		snprintf(text, sizeof(text), "%s; check the path", strerror(-item->error));
	say(run, item, text);
}

/* What is an error when the user names the file, and one of many in a directory. */
static const char *argument_trouble(const struct elf_item *item, char *text, size_t text_bytes)
{
	if (item->change.outcome == OUTCOME_FAILED)
		return item->change.text;
	if (!item->argument)
		return NULL;
	if (item->change.outcome == OUTCOME_REFUSED)
		return item->change.text;
	if (item->layout.kind == LAYOUT_JUDGED)
		return NULL;
	layout_trouble(&item->layout, text, text_bytes);
	return text;
}

static bool carries(const struct elf_item *item)
{
	return item->change.outcome == OUTCOME_CHANGED || layout_carries(&item->layout);
}

static void add_up(struct elf_run *run, const struct elf_item *item)
{
	struct elf_sums *sums = &run->sums;

	sums->kinds[item->layout.kind]++;
	if (item->layout.kind != LAYOUT_JUDGED)
		return;
	sums->verdicts[item->layout.verdict]++;
	sums->eligible += layout_eligible(&item->layout);
	sums->outcomes[item->change.outcome]++;
	sums->refusals[item->change.refusal]++;
	sums->packaged += !!item->package;
	sums->lacking += !carries(item);
}

static bool is_shown(const struct elf_run *run, const struct elf_item *item)
{
	if (item->layout.kind != LAYOUT_JUDGED)
		return run->json && item->argument;
	return run->json || item->argument || run->request.verbose || is_change(&item->change) ||
	       layout_eligible(&item->layout);
}

static void report(struct elf_run *run, const struct elf_item *item)
{
	char text[CHANGE_TEXT_MAX];
	const char *trouble = argument_trouble(item, text, sizeof(text));

	add_up(run, item);
	if (trouble)
		say(run, item, trouble);
	if (!is_shown(run, item))
		return;
	progress_hide(&run->progress);
	if (run->json)
		elf_json_file(stdout, item);
	/* For people, a message says it all. */
	else if (!trouble)
		elf_text_file(stdout, &run->request, item);
}

static void collect(void *place, void *context)
{
	struct elf_run *run = context;
	struct elf_item *item = place;

	if (!item->path && item->dir)
		item->path = tree_file_path(item->dir, item->name);
	run->sums.files += !!item->dir;
	if (!item->path)
		item->error = -ENOMEM;
	if (item->error)
		say_error(run, item);
	else if (item->repeated)
		run->sums.repeated++;
	else
		report(run, item);
	free(item->path);
	if (item->dir)
		tree_dir_put(item->dir);
}

static void tick(void *context)
{
	struct elf_run *run = context;

	if (run->request.has_directory)
		progress_show(&run->progress, run->sums.files);
}

/* A descriptor or two for each directory from the root of a tree to the one that is read. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/*
 * The first Windows subsystem for Linux maps at multiples of 64K and refuses programs and libraries
 * that ask for more. Its kernel is called "...-Microsoft"; the second one has a Linux kernel.
 */
static bool is_wsl1(void)
{
	struct utsname names;
	size_t bytes;

	if (uname(&names))
		return false;
	bytes = strlen(names.release);
	return bytes > 10 && !strcmp(names.release + bytes - 10, "-Microsoft");
}

static bool has_directory(char *const *paths)
{
	struct stat info;

	for (; *paths; paths++)
		if (!stat(*paths, &info) && S_ISDIR(info.st_mode))
			return true;
	return false;
}

static int exit_code(const struct elf_run *run)
{
	if (run->failed)
		return EXIT_TROUBLE;
	return run->check && run->sums.lacking ? EXIT_ANSWER_NO : EXIT_DONE;
}

static int run_all(struct elf_run *run)
{
	const struct crew_duty duty = {
		.feed = feed,
		.work = work_on,
		.collect = collect,
		.tick = tick,
		.context = run,
		.item_bytes = sizeof(struct elf_item),
	};
	int err;

	run->request.has_directory = has_directory(run->paths);
	if (run->json)
		elf_json_begin(stdout, &run->request);
	if (run->request.has_directory)
		progress_start(&run->progress, run->paths);
	err = crew_run(&duty);
	progress_end(&run->progress);
	if (err) {
		message("elf", "no threads can be started: %s; raise the limit of processes",
			strerror(-err));
		return EXIT_TROUBLE;
	}
	if (run->json)
		elf_json_end(stdout, &run->sums);
	else if (run->request.has_directory || run->sums.files > 1)
		elf_text_end(stdout, &run->request, &run->sums);
	if (message_written(stdout, "standard output", ferror(stdout)))
		return EXIT_TROUBLE;
	return exit_code(run);
}

int elf_main(int argc, char **argv)
{
	struct elf_run run = {.seen = SEEN_INITIALIZER, .dpkg = DPKG_INITIALIZER};
	int status = EXIT_TROUBLE;

	run.paths = calloc((size_t)argc + 1, sizeof(*run.paths));
	if (!run.paths || args_parse(&elf_argp, "execalign elf", argc, argv, &run))
		goto out;
	if (run.request.request == REQUEST_RAISE && is_wsl1()) {
		message("--set-align",
			"WSL 1 cannot load files with a large p_align; use WSL 2, or "
			"set it where the files will be used");
		goto out;
	}
	if (elf_version(EV_CURRENT) == EV_NONE) {
		message("libelf", "is of another version than this program; install the one that "
				  "it was built with");
		goto out;
	}
	raise_descriptor_limit();
	status = run_all(&run);
out:
	seen_free(&run.seen);
	dpkg_free(&run.dpkg);
	free(run.paths);
	return status;
}
