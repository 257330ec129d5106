// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * signals: handlers on either stack, nested, and at any moment of the work, whose
 * functions call the very functions that they interrupt.
 */
#include "torture.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#define TICKS 200

static volatile int depth, deepest, handled, wrong_inside;
static volatile int ticks;

static APART long work(long n)
{
	long sum = n ? n + work(n - 1) : 0;

	STAY();
	return sum;
}

static APART bool work_is_right(void)
{
	return work(20) == 210;
}

static APART void on_chain(int sig)
{
	if (++depth > deepest)
		deepest = depth;
	handled++;
	wrong_inside += !work_is_right();
	if (sig < SIGRTMIN + 4)
		raise(sig + 1);
	wrong_inside += !work_is_right();
	depth--;
}

static APART int raise_below(int n, int sig)
{
	int result = n ? raise_below(n - 1, sig) : raise(sig);

	STAY();
	return result;
}

static bool chain(int flags)
{
	struct sigaction sa = { .sa_handler = on_chain, .sa_flags = flags };

	handled = deepest = wrong_inside = 0;
	for (int sig = SIGRTMIN; sig <= SIGRTMIN + 4; sig++)
		sigaction(sig, &sa, NULL);
	for (int i = 0; i < 100; i++)
		raise_below(i % 10, SIGRTMIN);
	return handled == 500 && deepest == 5 && !wrong_inside && !depth;
}

/* Steps over the fault; returns through the probed handler all the same. */
static APART void on_fault(int sig, siginfo_t *info, void *arg)
{
	ucontext_t *uc = arg;

	wrong_inside += !work_is_right();
	uc->uc_mcontext.gregs[REG_RIP] += 2;
	handled++;
}

static APART int fault_below(int n)
{
	int result;

	if (!n)
		__asm__ volatile("ud2" ::: "memory");
	result = n ? fault_below(n - 1) : 7;
	STAY();
	return result;
}

static bool faults(void)
{
	struct sigaction sa = { .sa_sigaction = on_fault,
				.sa_flags = SA_SIGINFO };
	bool good = true;

	handled = wrong_inside = 0;
	sigaction(SIGILL, &sa, NULL);
	for (int i = 0; i < 100; i++)
		good &= fault_below(i % 10) == 7;
	return good && handled == 100 && !wrong_inside;
}

static APART void on_tick(int sig)
{
	ticks++;
	wrong_inside += !work_is_right();
}

static APART bool until_ticks(int n)
{
	bool good = true;

	while (ticks < n)
		good &= work_is_right();
	return good;
}

static bool timer(int flags)
{
	struct sigaction sa = { .sa_handler = on_tick, .sa_flags = flags };
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { 0 };
	bool good;

	ticks = wrong_inside = 0;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	good = until_ticks(TICKS);
	setitimer(ITIMER_REAL, &never, NULL);
	return good && !wrong_inside;
}

static void *thread(void *arg)
{
	char stack[1 << 16];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	bool good;

	sigaltstack(&alt, NULL);
	good = chain(SA_ONSTACK);
	alt.ss_flags = SS_DISABLE;
	sigaltstack(&alt, NULL);
	return (void *)(long)good;
}

int main(void)
{
	static char stack[1 << 17];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	pthread_t id;
	void *good;

	check("nested handlers", chain(0));
	check("faults", faults());
	check("at any moment", timer(SA_RESTART));
	sigaltstack(&alt, NULL);
	check("nested handlers on their own stack", chain(SA_ONSTACK));
	check("at any moment on their own stack", timer(SA_ONSTACK));
	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, &good);
	check("in another thread", good != NULL);
	return verdict();
}
