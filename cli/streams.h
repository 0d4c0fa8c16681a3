/* SPDX-License-Identifier: MIT */
/*
 * streams.h - where the output of a command goes that is run for a measurement's sake
 */
#ifndef CLI_STREAMS_H
#define CLI_STREAMS_H

#include <stdbool.h>

/*
 * streams_silence - /dev/null in place of standard input and output
 * @errors_too: of standard error as well
 *
 * Returns whether it is done. Context: in the child, ahead of its execve().
 */
bool streams_silence(bool errors_too);

#endif
