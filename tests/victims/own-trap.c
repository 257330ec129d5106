// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * own-trap: a program with SIGTRAPs of its own: own-trap before|after|default.
 *
 * Says "ready", waits for a line on stdin, checks what its handler is told by
 * int3, raise() and kill() while it calls the probed function, and that
 * sigaction() gives back what was set.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

long victim_function(long n);
static volatile int traps, codes[3], masked;
static int failures;
extern char after_int3[];

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1;
}

static void check(int good, const char *what)
{
	if (!good) {
		printf("wrong: %s\n", what);
		failures++;
	}
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	sigset_t now;

	traps++;
	if (info->si_code == SI_KERNEL) {
		codes[0]++;
		if (uc->uc_mcontext.gregs[REG_RIP] != (greg_t)after_int3)
			failures++;
	} else if (info->si_code == SI_TKILL) {
		codes[1]++;
	} else if (info->si_code == SI_USER && info->si_pid == getpid()) {
		codes[2]++;
	}
	sigprocmask(SIG_BLOCK, NULL, &now);
	masked += sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2);
	victim_function(1);
}

static void install(int flags)
{
	struct sigaction sa = { .sa_sigaction = on_trap,
				.sa_flags = SA_SIGINFO | flags };

	sigaddset(&sa.sa_mask, SIGUSR1);
	check(!sigaction(SIGTRAP, &sa, NULL), "sigaction");
}

__attribute__((noipa)) static void breakpoint(void)
{
	__asm__ volatile("int3\n.globl after_int3\nafter_int3:" ::: "memory");
}

static void many(void)
{
	struct sigaction was;
	int i;

	for (i = 0; i < 1000; i++) {
		check(victim_function(i) == i * 3 + 1, "result");
		breakpoint();
		raise(SIGTRAP);
		kill(getpid(), SIGTRAP);
	}
	check(traps == 3000, "number of traps");
	check(codes[0] == 1000 && codes[1] == 1000 && codes[2] == 1000,
	      "si_code");
	check(masked == 3000, "mask in the handler");
	check(!sigaction(SIGTRAP, NULL, &was) && was.sa_sigaction == on_trap &&
		      (was.sa_flags & SA_SIGINFO) &&
		      sigismember(&was.sa_mask, SIGUSR1),
	      "what sigaction says");
}

static void once(void)
{
	struct sigaction was;

	install(SA_RESETHAND);
	breakpoint();
	check(!sigaction(SIGTRAP, NULL, &was) && was.sa_handler == SIG_DFL,
	      "SA_RESETHAND");
}

static void ignored(void)
{
	signal(SIGTRAP, SIG_IGN);
	raise(SIGTRAP);
	check(victim_function(5) == 16, "result while ignored");
	check(signal(SIGTRAP, SIG_DFL) == SIG_IGN, "what signal() says");
}

int main(int argc, char **argv)
{
	int before = argc > 1 && !strcmp(argv[1], "before");

	if (before)
		install(0);
	puts("ready");
	fflush(stdout);
	getchar();
	if (argc > 1 && !strcmp(argv[1], "default")) {
		victim_function(1);
		breakpoint();
		return 1;
	}
	if (!before)
		install(0);
	many();
	once();
	ignored();
	printf("%d failures\n", failures);
	return failures;
}
