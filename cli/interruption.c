/* SPDX-License-Identifier: MIT */
#include "interruption.h"

/* A handler has no argument but the signal. */
static volatile sig_atomic_t noted;

static void note(int signal)
{
	noted = signal;
}

static void catch(int signal)
{
	struct sigaction action = {.sa_handler = note}, was;

	/* Under nohup(1) it stays ignored. */
	if (!sigaction(signal, NULL, &was) && was.sa_handler == SIG_IGN)
		return;
	sigaction(signal, &action, NULL);
}

volatile sig_atomic_t *interruption_catch(void)
{
	catch(SIGINT);
	catch(SIGTERM);
	catch(SIGHUP);
	return &noted;
}
