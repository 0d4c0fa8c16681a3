/* SPDX-License-Identifier: MIT */
/*
 * message.h - what the command says on stderr
 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdio.h>

/* Exit codes of the command itself; those of `run` follow the shell's and env(1)'s custom. */
#define EXIT_DONE 0
#define EXIT_ANSWER_NO 1
#define EXIT_TROUBLE 2
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

/*
 * message - print "execalign: THING: TEXT" as one line on stderr
 * @thing: what the message is about: a file, an option, a process
 * @format: printf format of the text: what is wrong, and after a semicolon the remedy
 *
 * File names may hold any byte but NUL, so control characters are shown as \xNN: a message
 * is one line whatever it quotes. Any context.
 */
void message(const char *thing, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * message_written - have what was printed written, and say so if it cannot be
 * @name: of the stream: a file, or "standard output"
 * @err: not 0 if printing has failed already, with errno set
 *
 * Returns EXIT_DONE, or EXIT_TROUBLE after a message. Any context.
 */
int message_written(FILE *stream, const char *name, int err);

#endif
