/* SPDX-License-Identifier: MIT */
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

static void write_line(long fd, struct ea_text *text)
{
	text->buf[text->length] = '\n';
	sys_write((int)fd, text->buf, text->length + 1);
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
