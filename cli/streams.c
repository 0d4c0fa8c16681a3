/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

#include "streams.h"

bool streams_silence(bool errors_too)
{
	int fd = open("/dev/null", O_RDWR);
	bool done = fd >= 0 && dup2(fd, STDIN_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0 &&
		    (!errors_too || dup2(fd, STDERR_FILENO) >= 0);

	if (fd > STDERR_FILENO)
		close(fd);
	return done;
}
