// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * two-stacks: signal handlers upon signal handlers, on one stack and on another.
 *
 * The first interrupts the work wherever it is and stays on its stack; the second one
 * interrupts the first, sleeps, and has a stack of its own. Ends by SIGTERM and says
 * whether the work was right. With an argument it works with SIGTRAP blocked.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

long victim_function(long n);
static volatile sig_atomic_t stop, over = 1;

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1;
}

static void on_term(int sig)
{
	stop = 1;
}

/* On the alternate stack. */
static void on_second(int sig)
{
	struct timespec nap = { 0, 15000000 };

	nanosleep(&nap, NULL);
}

/* On that of the work. */
static void on_first(int sig)
{
	raise(SIGUSR1);
	over = 1;
}

static void act(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

int main(int argc, char **argv)
{
	const struct itimerval soon = { { 0, 0 }, { 0, 3000 } };
	stack_t alt = { .ss_sp = malloc(65536), .ss_size = 65536 };
	long n = 0, wrong = 0;

	sigset_t trap;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	if (argc > 1)
		sigprocmask(SIG_BLOCK, &trap, NULL);
	sigaltstack(&alt, NULL);
	act(SIGTERM, on_term, 0);
	act(SIGUSR1, on_second, SA_ONSTACK | SA_RESTART);
	act(SIGALRM, on_first, SA_RESTART);
	puts("ready");
	fflush(stdout);
	for (; !stop; n++) {
		if (over) {
			over = 0;
			setitimer(ITIMER_REAL, &soon, NULL);
		}
		wrong += victim_function(n) != n * 3 + 1;
	}
	sigprocmask(SIG_BLOCK, NULL, &trap);
	wrong += sigismember(&trap, SIGTRAP) != (argc > 1);
	printf("%s after %ld\n", wrong ? "WRONG" : "right", n);
	return wrong != 0;
}
