// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * aggregations: aggregations THREADS CALLS KEYS [fork|jump|wait]: calls step() in each thread, and
 * prints how often each key came.
 *
 * fork: a child makes as many calls again; jump: a handler of a timer's signal leaves step()'s loop
 * by siglongjmp, over and over; wait: the first line that is read begins it, the second one ends it.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMES 5
#define MOST 4096

static const char *const names[NAMES] = {
	"alpha", "beta", "a name of 16 byt",
	"one that has more than sixty-four bytes, so that it is cut off somewhere",
	""
};
long step(int key, long value, const char *name);

static long threads, calls, keys;
static unsigned long counts[MOST];
static sigjmp_buf again;
static volatile sig_atomic_t inside;
static volatile long done, jumps;

__attribute__((noinline)) long step(int key, long value, const char *name)
{
	__asm__ volatile("" ::: "memory");
	return value * 3 - key + !name;
}

static void *run(void *arg)
{
	unsigned long seen[MOST] = { 0 };
	long i, first = (long)arg;

	for (i = 0; i < calls; i++) {
		int key = (int)((i * 11 + first) % keys);

		step(key - 2, i * 1000 - 5000, names[(i + first) % NAMES]);
		seen[key]++;
	}
	for (i = 0; i < keys; i++)
		__atomic_fetch_add(&counts[i], seen[i], __ATOMIC_RELAXED);
	return NULL;
}

static void run_all(void)
{
	pthread_t v[64];
	long i;

	for (i = 1; i < threads; i++)
		pthread_create(&v[i], NULL, run, (void *)i);
	run((void *)0);
	for (i = 1; i < threads; i++)
		pthread_join(v[i], NULL);
}

static void leave(int sig)
{
	(void)sig;
	if (inside)
		siglongjmp(again, 1);
}

/* @done is changed in the caller of step() alone, ahead of the call: so there are as many hits, or
 * one less for each jump. */
static void run_jumping(void)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };

	signal(SIGALRM, leave);
	setitimer(ITIMER_REAL, &often, NULL);
	if (sigsetjmp(again, 1))
		jumps++;
	while (done < calls) {
		inside = 1;
		done++;
		step((int)(done % keys), done, names[0]);
		inside = 0;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("jumps %ld\n", jumps);
}

int main(int argc, char **argv)
{
	const char *how = argc > 4 ? argv[4] : "";
	long i;

	threads = argc > 1 ? atol(argv[1]) : 1;
	calls = argc > 2 ? atol(argv[2]) : 1000;
	keys = argc > 3 ? atol(argv[3]) : 7;
	if (threads > 64 || keys < 1 || keys > MOST)
		return 2;
	if (!strcmp(how, "wait"))
		getchar();
	if (!strcmp(how, "jump")) {
		run_jumping();
		return 0;
	}
	if (!strcmp(how, "fork") && !fork()) {
		run_all();
		_exit(0);
	}
	run_all();
	wait(NULL);
	for (i = 0; i < keys; i++)
		printf("%ld %lu\n", i - 2, counts[i]);
	fflush(stdout);
	if (!strcmp(how, "wait"))
		getchar();
	return 0;
}
