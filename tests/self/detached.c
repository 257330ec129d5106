// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * detached: coroutines that a thread leaves behind in tracked functions. Another thread
 * resumes some of them, and their calls return; the stacks of others go away, and their
 * instances are free again.
 */
#include "tests/self/tap.h"
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#define SIZE (256 << 10)
#define FEW 8
#define ROUNDS 2000L

/** struct coroutine - one that stops in the middle of waits() */
struct coroutine {
	ucontext_t own, back;
	char *stack;
	long result;
};

static __attribute__((noipa)) long waits(struct coroutine *c, long n)
{
	swapcontext(&c->own, &c->back);
	return 3 * n;
}

static __thread long lot;
static struct coroutine pool[FEW];

static void run(unsigned int low, unsigned int high)
{
	struct coroutine *c = (void *)((unsigned long)high << 32 | low);

	c->result = waits(c, c - pool + 1);
	swapcontext(&c->own, &c->back);
}

static void make(struct coroutine *c)
{
	unsigned long addr = (unsigned long)c;

	if (!c->stack)
		c->stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	c->result = 0;
	getcontext(&c->own);
	c->own.uc_stack.ss_sp = c->stack;
	c->own.uc_stack.ss_size = SIZE;
	makecontext(&c->own, (void (*)(void))run, 2, (unsigned int)addr,
		    (unsigned int)(addr >> 32));
}

static void resume(struct coroutine *c)
{
	lot++;
	swapcontext(&c->back, &c->own);
}

static void *begin_all(void *arg)
{
	int i;

	for (i = 0; i < FEW; i++) {
		make(&pool[i]);
		resume(&pool[i]);
	}
	return NULL;
}

static void *end_all(void *arg)
{
	long wrong = 0;
	int i;

	for (i = 0; i < FEW; i++) {
		resume(&pool[i]);
		wrong += pool[i].result != 3 * (i + 1);
	}
	*(long *)arg += wrong;
	return NULL;
}

static void elsewhere(void *(*what)(void *), void *arg)
{
	pthread_t id;

	pthread_create(&id, NULL, what, arg);
	pthread_join(id, NULL);
}

static struct kretprobe probe = { .kp.addr = (void *)waits, .maxactive = FEW };

static struct dp_kretprobe_account account(void)
{
	struct dp_kretprobe_account a = { 0 };

	is(dp_kretprobe_account(&probe, &a), 0, "the account is given");
	return a;
}

static void resumed(void)
{
	struct dp_kretprobe_account a;
	long wrong = 0, round;

	elsewhere(begin_all, NULL);
	a = account();
	is((long)a.inside, FEW, "their thread has ended, and they are inside");
	is((long)a.abandoned, 0, "none is given up");
	elsewhere(end_all, &wrong);
	a = account();
	is((long)a.returned, FEW, "resumed by another thread, they return");
	is((long)a.late, 0, "and nobody is surprised");
	for (round = 0; round < ROUNDS; round++) {
		elsewhere(begin_all, NULL);
		elsewhere(end_all, &wrong);
	}
	a = account();
	is((long)a.returned, (ROUNDS + 1) * FEW, "again and again");
	is((long)(a.missed + a.inside + a.abandoned), 0, "none was missed");
	is(wrong, 0, "every result is right");
}

static void gone(void)
{
	struct dp_kretprobe_account a, before = account();
	long wrong = 0;
	int i;

	elsewhere(begin_all, NULL);
	for (i = 0; i < FEW; i++) {
		munmap(pool[i].stack, SIZE);
		pool[i].stack = NULL;
	}
	elsewhere(begin_all, NULL);
	elsewhere(end_all, &wrong);
	a = account();
	is((long)(a.entries - before.entries), 2 * FEW,
	   "instances of stacks that have gone are free again");
	is((long)(a.abandoned - before.abandoned), FEW,
	   "their calls are given up");
	is((long)(a.returned - before.returned), FEW, "the others return");
	is((long)(a.missed + a.inside + a.late), 0, "none was missed");
	is(wrong, 0, "every result is right");
}

int main(void)
{
	is(register_kretprobe(&probe), 0, "a function is followed");
	resumed();
	gone();
	unregister_kretprobe(&probe);
	return plan();
}
