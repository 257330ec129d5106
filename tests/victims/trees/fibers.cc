// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls at random on several stacks, and what they were: fibers SWITCH STACKS SEED says of each call of an f_… a line:
 *
 *	its number, its name, the number of what has made it (or has resumed its stack), whether it is told of as on
 *	its own stack, and the nanoseconds that it took: at least, and at most
 *
 * The number is its first argument. SWITCH: u (swapcontext), h (written by hand); STACKS: m (malloc), a (above that of
 * the thread), b (below it). On its own stack is what has outlived what had resumed that, which has not made it then;
 * and what was suspended while that has made another call.
 */
#include "trees.h"
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#define FIBERS 4
#define SIZE 32768
#define CALLS 20000
#define NO_DEEPER 9

struct call {
	const char *name;
	long by, began, ended, last;
	bool own;
	unsigned long least, most;
};

struct fiber {
	ucontext_t context;
	void *sp;
	long inside; /* the innermost call, or 0 */
	long resumed; /* in what */
	bool done;
};

static call calls[CALLS + 400];
static fiber fibers[FIBERS + 1]; /* the first: the thread's own stack */
static fiber *on = fibers;
static long made, steps;
static bool by_hand;
static unsigned long seed;

static unsigned randomly(unsigned n)
{
	seed = seed * 6364136223846793005ul + 1442695040888963407ul;
	return (seed >> 33) % n;
}

static unsigned long now()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ul + t.tv_nsec;
}

/* What is written in each function: when it has begun and ended, and what it is in */
struct inside {
	long id, outer;
	unsigned long began;
	fiber *where;

	inside(long number, const char *name)
	    : id(number), outer(on->inside), began(now()), where(on)
	{
		calls[id].name = name;
		calls[id].began = ++steps;
		calls[id].by = outer ? outer : on == fibers ? 0 : on->resumed;
		on->inside = id;
	}
	~inside()
	{
		calls[id].least = now() - began;
		calls[id].ended = ++steps;
		where->inside = outer;
	}
};

#define NEXT (++made)
/* A call, and how long it took at most */
template <class F, class... Rest> static long timed(F *f, Rest... rest)
{
	long id = NEXT;
	unsigned long began = now();

	f(id, rest...);
	calls[id].most = now() - began;
	return id;
}

extern "C" {
CALLED long f_leaf(long id)
{
	inside i(id, "f_leaf");

	return id;
}

CALLED long f_throw(long id, int deeper)
{
	inside i(id, "f_throw");

	if (deeper)
		f_throw(NEXT, deeper - 1);
	else
		throw id;
	return id;
}

static jmp_buf back;
CALLED long f_jump(long id, int deeper)
{
	calls[id].name = "f_jump";
	calls[id].began = ++steps;
	calls[id].by = on->inside;
	on->inside = id;
	if (deeper)
		f_jump(NEXT, deeper - 1);
	longjmp(back, 1);
}

/* Its next call is at the place of what has been left. */
CALLED long f_tries(long id, int how)
{
	inside i(id, "f_tries");

	if (how % 2) {
		try {
			f_throw(NEXT, how);
		} catch (long) {
		}
	} else if (!setjmp(back)) {
		f_jump(NEXT, how);
	}
	on->inside = id;
	f_leaf(NEXT);
	return id;
}

CALLED void f_handled(long id)
{
	inside i(id, "f_handled");

	timed(f_leaf);
}

/* By hand, as libraries of coroutines do it */
void switch_stacks(void **from, void *to);
__asm__(".text\n.globl switch_stacks\nswitch_stacks:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n"
	"	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n"
	"	pop %r12\n	pop %rbx\n	pop %rbp\n	ret\n");
}

static void to(fiber *f)
{
	fiber *from = on;

	on = f;
	if (by_hand)
		switch_stacks(&from->sp, f->sp);
	else
		swapcontext(&from->context, &f->context);
}

/* Each call of a handler has a number, which a signal does not give it. */
static void on_signal(int)
{
	timed(f_handled);
}

extern "C" CALLED long f_walk(long id, int depth);

/* What the turn comes back to makes a call, so it is known that it has come back. */
static void resume()
{
	fiber *f = fibers + 1 + randomly(FIBERS);

	if (f->done)
		return;
	f->resumed = on->inside;
	to(f);
	timed(f_leaf);
}

static void act(int depth)
{
	switch (randomly(10)) {
	case 0:
		timed(f_tries, (int)randomly(4));
		break;
	case 1:
		/* It is known on which stack the thread is. */
		timed(f_leaf);
		raise(SIGUSR1);
		break;
	case 2:
	case 3:
	case 4:
		if (on == fibers)
			resume();
		else
			to(fibers);
		break;
	default:
		if (depth < NO_DEEPER)
			timed(f_walk, depth + 1);
	}
}

extern "C" CALLED long f_walk(long id, int depth)
{
	inside i(id, "f_walk");
	int n = randomly(5);

	while (n-- && made < CALLS)
		act(depth);
	return id;
}

/* The outermost function of a fiber: it may be followed itself, or not. */
static void run()
{
	while (made < CALLS)
		timed(f_walk, 0);
	on->done = true;
	for (;;)
		to(fibers);
}

static void make(fiber *f, char *stack)
{
	void **sp = (void **)(stack + SIZE - 64);

	getcontext(&f->context);
	f->context.uc_stack.ss_sp = stack;
	f->context.uc_stack.ss_size = SIZE;
	makecontext(&f->context, run, 0);
	*--sp = NULL;
	*--sp = (void *)run;
	f->sp = sp - 6;
}

static void *work(void *)
{
	stack_t own = {};
	int i;

	own.ss_sp = malloc(65536);
	own.ss_size = 65536;
	sigaltstack(&own, NULL);
	timed(f_leaf);
	while (made < CALLS)
		timed(f_walk, 0);
	for (i = 1; i <= FIBERS; i++)
		while (!fibers[i].done) {
			fibers[i].resumed = 0;
			to(&fibers[i]);
		}
	return NULL;
}

/* Does what was suspended, or has outlived its caller, return? */
static bool returns(const call *c)
{
	return c->ended && strcmp(c->name, "f_throw");
}

static void look_at(long id)
{
	call *c = &calls[id], *by = &calls[c->by], *last;

	if (c->by && c->ended && by->ended && c->ended > by->ended) {
		c->own = true;
		c->by = 0;
		return;
	}
	last = &calls[by->last];
	last->own |= by->last && returns(last) && last->ended > c->began;
	by->last = id;
}

int main(int argc, char **argv)
{
	char where = *argv[2];
	struct sigaction act = {};
	pthread_attr_t attr;
	pthread_t thread;
	size_t all = FIBERS * SIZE, own = 1 << 20;
	char *m, *stacks;
	long i;

	by_hand = *argv[1] == 'h';
	seed = strtoul(argv[3], NULL, 0);
	act.sa_handler = on_signal;
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &act, NULL);
	m = (char *)mmap(NULL, all + own, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stacks = where == 'm' ? (char *)malloc(all) :
		 where == 'a' ? m + own :
				m;
	for (i = 0; i < FIBERS; i++)
		make(&fibers[1 + i], stacks + i * SIZE);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, where == 'b' ? m + all : m, own);
	pthread_create(&thread, &attr, work, NULL);
	pthread_join(thread, NULL);
	for (i = 1; i <= made; i++)
		look_at(i);
	for (i = 1; i <= made; i++)
		printf("%ld %s %ld %d %lu %lu\n", i, calls[i].name, calls[i].by,
		       calls[i].own, calls[i].least, calls[i].most);
	return 0;
}
