/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* uprobing: handlers, and probes with them, for the tests of Uprobes. */
#ifndef TESTS_UPROBING_H
#define TESTS_UPROBING_H

#include "tests/self/uprobes.h"

#define UNUSED __attribute__((unused))

static volatile long calls;
static struct pt_regs seen;
static struct task_struct task;

static void UNUSED watch(struct uprobe *u, struct pt_regs *regs)
{
	seen = *regs;
	task = *current;
	__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

static struct uprobe UNUSED probe_of(const struct victim *v,
				     uprobe_handler_t handler)
{
	calls = 0;
	return (struct uprobe){ .pid = v->pid,
				.vaddr = v->twice,
				.handler = handler };
}

static void UNUSED change_argument(struct uprobe *u, struct pt_regs *regs)
{
	regs->di = 50;
}

static int inside, most;
static sem_t enable_word;

static void UNUSED open_gate(int n)
{
	while (n--)
		sem_post(&enable_word);
}

static void UNUSED meet(struct uprobe *u, struct pt_regs *regs)
{
	int n = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST), was;

	for (was = most; was < n; was = most)
		__atomic_compare_exchange_n(&most, &was, n, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	sem_wait(&enable_word);
	__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

static pid_t held;

static void UNUSED hold_first(struct uprobe *u, struct pt_regs *regs)
{
	pid_t none = 0;

	if (__atomic_compare_exchange_n(&held, &none, current->pid, false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		sem_wait(&enable_word);
	__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

/* It is registered. */
static void UNUSED probes(struct uprobe *u, const struct victim *v,
			  uprobe_handler_t handler, const char *what)
{
	*u = probe_of(v, handler);
	is(register_uprobe(u), 0, what);
}

/* A program to probe, whose threads the gate holds from the first one on. */
static void UNUSED begin_gated(struct victim *v)
{
	sem_init(&enable_word, 0, 0);
	held = 0;
	inside = most = 0;
	begin(v);
}

/* Of writing probes. */
static void UNUSED by_each_way(void (*rounds)(void))
{
	static const char *const ways[] = { "interior", "trap", "quiesce" };
	size_t i;

	for (i = 0; i < 3; i++) {
		setenv("DPROBES_ARM", ways[i], 1);
		printf("# %s\n", ways[i]);
		rounds();
	}
	unsetenv("DPROBES_ARM");
}

#endif
