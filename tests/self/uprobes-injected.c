// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* uprobes-injected: handlers that run in the probed thread. */
#include "tests/self/uprobing.h"

/* Nothing that a sanitizer would call is there. */
#define PLAIN __attribute__((no_sanitize_address, no_sanitize_undefined))

static struct {
	long hits, sum;
	double half;
} tally = { .hits = 100 };

static long *const pointer = &tally.sum;

static void PLAIN __attribute__((noinline)) add(long n)
{
	*pointer += n;
	tally.half += (double)n / 2;
}

static void PLAIN in_thread(struct uprobe *u, struct pt_regs *regs)
{
	__atomic_fetch_add(&tally.hits, 1, __ATOMIC_RELAXED);
	if (regs->ip == u->vaddr)
		add((long)regs->di);
	regs->di = regs->di == 21 ? 22 : regs->di;
}

static volatile long *volatile nowhere = (void *)8;

static void PLAIN crashes(struct uprobe *u, struct pt_regs *regs)
{
	tally.hits++;
	*nowhere = 1;
}

static void PLAIN spins(struct uprobe *u, struct pt_regs *regs)
{
	long i;

	tally.hits++;
	for (i = 0; i < 2000; i++)
		__asm__ volatile("");
}

static void prints(struct uprobe *u, struct pt_regs *regs)
{
	puts("from far away");
}

static __thread long of_thread;

static void thread_local(struct uprobe *u, struct pt_regs *regs)
{
	of_thread++;
}

static struct uprobe there;

/* [rows 205, 218] */
static void in_interrupt(void)
{
	struct uprobe u;
	struct victim v;
	long *hits;

	begin(&v);
	there = probe_of(&v, in_thread);
	there.handler_in_interrupt = 1;
	is(register_uprobe(&there), 0, "a handler that runs in the thread");
	says(&v, "call", "44", "changes an argument");
	hits = dp_uprobe_there(&there, &tally.hits);
	ok(hits && *hits == 101 && tally.hits == 100,
	   "its variables are there, as they were here");
	ok(*(long *)dp_uprobe_there(&there, &tally.sum) == 21 &&
		   *(double *)dp_uprobe_there(&there, &tally.half) == 10.5,
	   "also by an address in a variable, and in floating point");
	says(&v, "vectors", "kept", "its floating point is nobody's business");
	*hits = 7;
	probes(&u, &v, watch, "and one in task context at the same address");
	says(&v, "call", "44", "are both called");
	ok(*hits == 8 && calls == 1, "each once");
	told(&v, "once 3");
	says(&v, "finish", "0 of 0 wrong", "by several threads");
	ok(*hits == 11 && calls == 4, "once each");
	told(&v, "spin 3");
	ok(SOON(*hits > 100), "at the same time");
	ok(atol(told(&v, "finish")) <= 3,
	   "none computes wrongly, but for what is changed once");
	unregister_uprobe(&u);
	unregister_uprobe(&there);
	is(mappings(v.pid, "dprobes"), 0, "nothing is left");
	ok(!dp_uprobe_there(&there, &tally.hits), "nor here");

	u = probe_of(&v, crashes);
	u.handler_in_interrupt = 1;
	is(register_uprobe(&u), 0, "one that faults");
	says(&v, "call", "42", "does no harm");
	says(&v, "call", "42", "and is not called again");
	is(*(long *)dp_uprobe_there(&u, &tally.hits), 101,
	   "after the first time");
	unregister_uprobe(&u);
	u = probe_of(&v, prints);
	u.handler_in_interrupt = 1;
	is(register_uprobe(&u), -EOPNOTSUPP, "one that calls libc is refused");
	ok(strstr(dp_last_diag()->text, "puts"), "by name");
	u.handler = thread_local;
	is(register_uprobe(&u), -EOPNOTSUPP,
	   "and one with a variable a thread");
	is(mappings(v.pid, "dprobes"), 0, "nothing is left");
	ends_well(&v, "the program ends as ever");
}

static void interrupt_comes_and_goes(void)
{
	long n = amount("ROUNDS", 25), i, good = 0, hits = 0;
	struct uprobe u;
	struct victim v;

	begin(&v);
	told(&v, "spin 3");
	u = probe_of(&v, spins);
	u.handler_in_interrupt = 1;
	tally.hits = 0;
	for (i = 0; i < n; i++) {
		good += !register_uprobe(&u);
		usleep((useconds_t)(i % 5) * 200);
		hits += *(long *)dp_uprobe_there(&u, &tally.hits);
		unregister_uprobe(&u);
	}
	is(good, n, "one comes and goes while threads run there");
	ok(hits > 0, "and is hit");
	ok(strstr(told(&v, "finish"), "0 of "), "no thread computes wrongly");
	is(mappings(v.pid, "dprobes"), 0, "nothing is left");
	ends_well(&v, "the program ends as ever");
	tally.hits = 100;
}

static int registers_there(void *arg)
{
	struct uprobe u = probe_of(arg, in_thread);

	u.handler_in_interrupt = 1;
	if (register_uprobe(&u))
		return 1;
	kill(getpid(), SIGKILL);
	return 3;
}

static void interrupt_left(void)
{
	struct victim v;
	struct uprobe u;

	begin(&v);
	in_child(registers_there, &v, 30);
	says(&v, "call", "42",
	     "a handler in the thread is not called when we are gone");
	probes(&u, &v, watch, "another one takes over");
	unregister_uprobe(&u);
	is(mappings(v.pid, "dprobes"), 0, "and nothing is left");
	ends_well(&v, "the program ends as ever");
}

static void rounds(void)
{
	in_interrupt();
	interrupt_comes_and_goes();
}

int main(void)
{
	by_each_way(rounds);
	interrupt_left();
	return plan();
}
