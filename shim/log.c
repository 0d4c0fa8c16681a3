/* SPDX-License-Identifier: MIT */
#include <asm/signal.h>

#include "log.h"
#include "sys.h"

#define STDERR 2

static int is_stderr(const char *target)
{
	return ea_streq(target, "stderr");
}

static long open_target(const char *target)
{
	/* A FIFO without a reader must not hold the program up, a terminal not become its own. */
	return sys_open(target,
		SYS_O_WRONLY | SYS_O_CREAT | SYS_O_APPEND | SYS_O_CLOEXEC | SYS_O_NONBLOCK |
			SYS_O_NOCTTY,
		0644);
}

void ea_log_begin(struct ea_log *log, const char *target, const char *event)
{
	log->target = target;
	log->text.buf = log->line;
	log->text.size = sizeof(log->line) - 1;
	log->text.length = 0;
	ea_text_add(&log->text, "execalign");
	ea_log_number(log, "pid", (uint64_t)sys_getpid());
	ea_log_word(log, "event", event);
}

static void add_key(struct ea_log *log, const char *key)
{
	ea_text_add(&log->text, " ");
	ea_text_add(&log->text, key);
	ea_text_add(&log->text, "=");
}

void ea_log_word(struct ea_log *log, const char *key, const char *value)
{
	add_key(log, key);
	ea_text_add(&log->text, value);
}

void ea_log_quoted(struct ea_log *log, const char *key, const char *value)
{
	add_key(log, key);
	ea_text_add_quoted(&log->text, value);
}

void ea_log_number(struct ea_log *log, const char *key, uint64_t value)
{
	add_key(log, key);
	ea_text_add_number(&log->text, value);
}

/* Kernel's signal set, of 64 bits. */
typedef uint64_t signal_set;

#define SIGNAL_BIT(number) ((signal_set)1 << ((number)-1))

static long change_mask(int how, const signal_set *set, signal_set *old)
{
	return sys_call6(__NR_rt_sigprocmask, how, (long)set, (long)old, sizeof(*set), 0, 0);
}

static signal_set pending_signals(void)
{
	signal_set set = 0;

	sys_call6(__NR_rt_sigpending, (long)&set, sizeof(set), 0, 0, 0, 0);
	return set;
}

/*
 * A line that cannot be written, because nobody reads the pipe or the file may not grow, must not
 * end the program: the signal is held back and taken away again.
 */
static void write_line(long fd, struct ea_text *text)
{
	const signal_set deadly = SIGNAL_BIT(SIGPIPE) | SIGNAL_BIT(SIGXFSZ);
	const uint64_t no_time[2] = {0, 0};
	signal_set old_mask;
	signal_set old_pending;
	signal_set raised;

	text->buf[text->length] = '\n';
	if (change_mask(SIG_BLOCK, &deadly, &old_mask))
		return;
	old_pending = pending_signals();
	sys_write((int)fd, text->buf, text->length + 1);
	raised = pending_signals() & deadly & ~old_pending;
	if (raised)
		sys_call6(__NR_rt_sigtimedwait, (long)&raised, 0, (long)no_time, sizeof(raised), 0,
			0);
	change_mask(SIG_SETMASK, &old_mask, NULL);
}

void ea_log_end(struct ea_log *log)
{
	long fd;

	if (is_stderr(log->target)) {
		write_line(STDERR, &log->text);
		return;
	}
	fd = open_target(log->target);
	if (fd < 0)
		return;
	write_line(fd, &log->text);
	sys_close((int)fd);
}

void ea_log_stderr(struct ea_text *text)
{
	write_line(STDERR, text);
}

void ea_log_complain(const char *line)
{
	char buf[256];
	struct ea_text text = {buf, sizeof(buf) - 1, 0};

	ea_text_add(&text, line);
	ea_log_stderr(&text);
}

void ea_log_check(const char *target)
{
	char line[EA_LOG_LINE_BYTES];
	struct ea_text text = {line, sizeof(line) - 1, 0};
	long fd;

	if (!target || is_stderr(target))
		return;
	fd = open_target(target);
	if (fd >= 0) {
		sys_close((int)fd);
		return;
	}
	ea_text_add(&text, "execalign: EXECALIGN_LOG=");
	ea_text_add_quoted(&text, target);
	ea_text_add(&text, ": cannot be written (errno ");
	ea_text_add_number(&text, (uint64_t)-fd);
	ea_text_add(&text, "); name a file in a writable directory, or stderr");
	ea_log_stderr(&text);
}
