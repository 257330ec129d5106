// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dispositions: what a program inherits of SIGTRAP.
 *
 *	dispositions                     prints whether it is blocked and whether it is ignored
 *	dispositions block|ignore COMMAND...   executes the command like that
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int show(void)
{
	struct sigaction action;
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigaction(SIGTRAP, NULL, &action);
	printf("%s %s\n", sigismember(&mask, SIGTRAP) ? "blocked" : "open",
	       action.sa_handler == SIG_IGN ? "ignored" : "default");
	return 0;
}

int main(int argc, char **argv)
{
	sigset_t trap;

	if (argc < 3)
		return show();
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	if (!strcmp(argv[1], "block"))
		sigprocmask(SIG_BLOCK, &trap, NULL);
	else
		signal(SIGTRAP, SIG_IGN);
	execv(argv[2], argv + 2);
	return 127;
}
