// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Handlers of signals that call functions: in a call, in one another, and on a stack of their own */
#define _GNU_SOURCE
#include "trees.h"
#include <signal.h>
#include <stdlib.h>

CALLED int f_leaf(int n)
{
	return n + 1;
}

CALLED void f_last(int sig)
{
	f_leaf(sig);
}

CALLED void f_handler(int sig)
{
	f_leaf(sig);
	if (sig == SIGUSR1)
		raise(SIGUSR2);
	f_leaf(sig);
}

CALLED int f_raise(int sig)
{
	f_leaf(1);
	raise(sig);
	return f_leaf(2);
}

CALLED int f_twice(int sig)
{
	return f_raise(sig) + f_raise(SIGTERM);
}

UNTOLD int main(void)
{
	stack_t own = { .ss_sp = malloc(65536), .ss_size = 65536 };
	struct sigaction act = { .sa_handler = f_handler };
	int i;

	sigaction(SIGUSR1, &act, NULL);
	act.sa_handler = f_last;
	sigaction(SIGUSR2, &act, NULL);
	act.sa_flags = SA_ONSTACK;
	sigaltstack(&own, NULL);
	sigaction(SIGTERM, &act, NULL);
	for (i = 0; i < 8; i++)
		f_twice(i % 2 ? SIGUSR1 : SIGUSR2);
	return 0;
}
