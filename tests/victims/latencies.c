// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * latencies: latencies THREADS CALLS: calls late() so often in each thread, and prints of each call
 * its kind, how long it was inside by its own clock, and how long its caller waited for it, in ns.
 *
 * What a probe finds lies between the two. Kind K spins until it has taken 3 << (9 + K) ns, so that
 * most calls are in the middle of a power of two. The last kind calls itself ahead of that, as kind 0.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NESTED 9
#define KINDS 10
#define MOST 40000

/* A call; the one that it makes is behind it. */
struct call {
	int kind;
	long inner, outer;
};

struct thread {
	pthread_t thread;
	struct call *calls;
	long n;
};

static long calls;
long late(int kind, struct thread *t);

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void call(int kind, struct thread *t)
{
	struct call *of = &t->calls[t->n++];
	long before = now();

	of->kind = kind;
	of->inner = late(kind, t);
	of->outer = now() - before;
}

/* Return: how long it was inside */
__attribute__((noinline)) long late(int kind, struct thread *t)
{
	long began = now(), is;

	if (kind == NESTED)
		call(0, t);
	do
		is = now();
	while (is - began < 3l << (9 + kind));
	return is - began;
}

static void *run(void *arg)
{
	struct thread *t = arg;
	long i;

	for (i = 0; i < calls; i++)
		call((int)(i * 7 % KINDS), t);
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? atol(argv[1]) : 1, i, k;
	struct thread t[16] = { 0 };

	calls = argc > 2 ? atol(argv[2]) : 1000;
	if (threads < 1 || threads > 16 || calls > MOST / 2)
		return 2;
	for (i = 0; i < threads; i++)
		if (!(t[i].calls = calloc(MOST, sizeof(*t[i].calls))))
			return 1;
	for (i = 0; i < threads; i++)
		pthread_create(&t[i].thread, NULL, run, &t[i]);
	for (i = 0; i < threads; i++)
		pthread_join(t[i].thread, NULL);
	for (i = 0; i < threads; i++)
		for (k = 0; k < t[i].n; k++)
			printf("%d %ld %ld\n", t[i].calls[k].kind,
			       t[i].calls[k].inner, t[i].calls[k].outer);
	return 0;
}
