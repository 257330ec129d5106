// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* foreground: for a while, keys of the terminal are for a child alone. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include "sym/types/foreground.h"

/* From the background this would stop the tool. */
static void set(int terminal, pid_t group)
{
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &before);
	tcsetpgrp(terminal, group);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int dp_foreground_give(pid_t child)
{
	int terminal;

	if (!isatty(STDOUT_FILENO))
		return -1;
	terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (terminal < 0)
		return -1;
	if (tcgetpgrp(terminal) != getpgrp() || setpgid(child, child)) {
		close(terminal);
		return -1;
	}
	set(terminal, child);
	return terminal;
}

void dp_foreground_back(int terminal)
{
	if (terminal < 0)
		return;
	set(terminal, getpgrp());
	close(terminal);
}
