// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * coroutines: stacks that are left inside many frames, and entered again by the same
 * or another thread, or never.
 */
#include "torture.h"
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define COROUTINES 50
#define DEPTH 30
#define STACK (64 << 10)

struct coroutine {
	ucontext_t own, *caller;
	long turns, sum;
	bool ended;
	char *stack;
};

static struct coroutine all[COROUTINES];

static APART void suspend(struct coroutine *c)
{
	c->turns++;
	swapcontext(&c->own, c->caller);
}

/* Suspended once on each level, on the way down and on the way up. */
static APART long descend(struct coroutine *c, int n)
{
	long below;

	suspend(c);
	below = n ? descend(c, n - 1) : 0;
	suspend(c);
	return below + n;
}

static APART void body(unsigned int high, unsigned int low)
{
	struct coroutine *c = (void *)((uintptr_t)high << 32 | low);

	c->sum = descend(c, DEPTH);
	c->ended = true;
	swapcontext(&c->own, c->caller);
}

static void make(struct coroutine *c)
{
	memset(c, 0, sizeof(*c));
	c->stack = malloc(STACK);
	getcontext(&c->own);
	c->own.uc_stack.ss_sp = c->stack;
	c->own.uc_stack.ss_size = STACK;
	makecontext(&c->own, (void (*)(void))body, 2,
		    (unsigned int)((uintptr_t)c >> 32),
		    (unsigned int)(uintptr_t)c);
}

static APART void resume(struct coroutine *c)
{
	ucontext_t mine;

	c->caller = &mine;
	swapcontext(&mine, &c->own);
}

static APART bool is_right(const struct coroutine *c)
{
	return c->ended && c->sum == DEPTH * (DEPTH + 1) / 2 &&
	       c->turns == 2 * (DEPTH + 1);
}

static void end(struct coroutine *c)
{
	free(c->stack);
	c->stack = NULL;
}

static bool in_turns(void)
{
	bool good = true;
	int i, turn;

	for (i = 0; i < COROUTINES; i++)
		make(&all[i]);
	for (turn = 0; turn < 2 * (DEPTH + 1) + 1; turn++)
		for (i = 0; i < COROUTINES; i++)
			resume(&all[(i * 7 + turn) % COROUTINES]);
	for (i = 0; i < COROUTINES; i++) {
		good &= is_right(&all[i]);
		end(&all[i]);
	}
	return good;
}

static void *resume_all(void *arg)
{
	for (int i = 0; i < COROUTINES; i++)
		if (!all[i].ended)
			resume(&all[i]);
	return NULL;
}

/* Each turn by a thread of its own, which then ends. */
static bool by_many_threads(void)
{
	bool good = true;
	pthread_t id;
	int i;

	for (i = 0; i < COROUTINES; i++)
		make(&all[i]);
	for (i = 0; i < 2 * (DEPTH + 1) + 1; i++) {
		pthread_create(&id, NULL, resume_all, NULL);
		pthread_join(id, NULL);
	}
	for (i = 0; i < COROUTINES; i++) {
		good &= is_right(&all[i]);
		end(&all[i]);
	}
	return good;
}

/* Two threads, each at a random one of its half; then the halves change hands. */
static pthread_barrier_t barrier;

static void *half(void *arg)
{
	long me = (long)arg;

	for (int turn = 0; turn < 2 * (DEPTH + 1) + 1; turn++) {
		for (int i = 0; i < COROUTINES; i++)
			if ((i + turn) % 2 == me)
				resume(&all[i]);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static bool by_two_threads(void)
{
	bool good = true;
	pthread_t id[2];
	long i;

	pthread_barrier_init(&barrier, NULL, 2);
	for (i = 0; i < COROUTINES; i++)
		make(&all[i]);
	for (i = 0; i < 2; i++)
		pthread_create(&id[i], NULL, half, (void *)i);
	for (i = 0; i < 2; i++)
		pthread_join(id[i], NULL);
	for (i = 0; i < COROUTINES; i++) {
		good &= is_right(&all[i]);
		end(&all[i]);
	}
	return good;
}

/* Left for good inside their frames; their stacks are used by others. */
static bool some_never_again(void)
{
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < COROUTINES; i++)
			make(&all[i]);
		for (int turn = 0; turn < round; turn++)
			for (int i = 0; i < COROUTINES; i++)
				resume(&all[i]);
		for (int i = 0; i < COROUTINES; i++)
			end(&all[i]);
	}
	return in_turns();
}

int main(void)
{
	check("in turns", in_turns());
	check("a thread a turn", by_many_threads());
	check("two threads", by_two_threads());
	check("some are never resumed", some_never_again());
	return verdict();
}
