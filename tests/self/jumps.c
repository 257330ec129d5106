// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * jumps: a timer's handler leaves whatever it interrupts by siglongjmp, while calls are
 * followed by few instances: the hit half itself, the handlers, the function. No
 * instance may be lost by that, and every call that was not missed ends.
 *
 * JUMPS: how many times.
 */
#include "tests/self/tap.h"
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#define ACTIVE 3
#define APART __attribute__((noipa))

static sigjmp_buf up;
static volatile sig_atomic_t jumps, armed;
static volatile long spins;
static char stack[1 << 20]; /* signals come while siglongjmp() unblocks them */

static APART long leaf(long n)
{
	return n + 1;
}

static APART long followed(long n)
{
	return n > 1 ? followed(n - 1) + 1 : leaf(n);
}

/* Handlers with something in them to be interrupted in. */
static int enters(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(long *)ri->data = (long)regs->di;
	spins++;
	return 0;
}

static double weight = 1;

static int leaves(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	spins += *(long *)ri->data;
	return 0;
}

static int leaves_with_vectors(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	weight = weight * 0.5 + (double)regs->ax;
	return 0;
}

static void on_timer(int sig)
{
	if (!armed)
		return;
	jumps++;
	siglongjmp(up, 1);
}

static void start_timer(int flags, long us)
{
	struct itimerval every = { { 0, us }, { 0, us } };
	struct sigaction sa = { .sa_handler = on_timer, .sa_flags = flags };
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaltstack(&alt, NULL);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static long wrong;

static void run(long wanted)
{
	jumps = 0;
	while (jumps < wanted) {
		if (sigsetjmp(up, 1))
			continue;
		armed = 1;
		for (;;)
			wrong += followed(ACTIVE) != ACTIVE + 1;
	}
	armed = 0;
}

/* Instances that were lost would be missing now. */
static void check(struct kretprobe *rp, const char *what)
{
	struct dp_kretprobe_account a = { 0 };
	int missed = rp->nmissed, i;

	for (i = 0; i < 10; i++)
		wrong += followed(ACTIVE) != ACTIVE + 1;
	ok(rp->nmissed == missed, "%s: all instances are there", what);
	is(dp_kretprobe_account(rp, &a), 0, "the account is given");
	ok(!a.inside && a.entries == a.returned + a.unwound + a.abandoned,
	   "%s: each entry has ended", what);
	printf("# %lu entries, %lu returned, %lu abandoned, %lu inside, %lu missed\n",
	       a.entries, a.returned, a.abandoned, a.inside, a.missed);
}

static void under(int flags, kretprobe_handler_t leave, unsigned int way,
		  const char *what)
{
	struct kretprobe rp = { .kp.addr = (void *)followed,
				.kp.flags = way,
				.entry_handler = enters,
				.handler = leave,
				.data_size = sizeof(long),
				.maxactive = ACTIVE };

	is(register_kretprobe(&rp), 0, what);
	start_timer(flags, 150);
	run(amount("JUMPS", 3000));
	start_timer(flags, 0);
	check(&rp, what);
	is(wrong, 0, "and every result is right");
	unregister_kretprobe(&rp);
}

int main(void)
{
	under(0, leaves, 0, "plain handlers");
	under(0, leaves_with_vectors, 0, "a handler that needs vectors");
	under(SA_ONSTACK, leaves, 0, "from the alternate stack");
	under(SA_ONSTACK, leaves_with_vectors, 0,
	      "with vectors from the alternate stack");
	under(0, leaves, KPROBE_FLAG_RET_SITES, "by the exits");
	under(SA_ONSTACK, leaves_with_vectors, KPROBE_FLAG_RET_SITES,
	      "by the exits, with vectors from the alternate stack");
	return plan();
}
