// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * harsh: unkind surroundings for a probe on harsh_tick(): harsh MODE TIMES.
 *
 * stacks   threads with an alternate stack of 8 KB run on stacks of 2 KB, with
 *          SIGALRM at 1 kHz, whose handler, on the alternate stack, ticks too
 * threads  threads that make threads, each of which ticks once
 *
 * Says "running", and at the end how often it ticked. TIMES 0: until SIGTERM.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#define THREADS 4
#define SMALL 2048
#define ALTERNATE 8192
#define CANARY 0x5a

void harsh_tick(void);
static long ticks, limit;
static volatile sig_atomic_t stop;
static int wrong;

__attribute__((noipa)) void harsh_tick(void)
{
	__atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);
}

static int more(void)
{
	return !stop &&
	       (!limit || __atomic_load_n(&ticks, __ATOMIC_RELAXED) < limit);
}

static void on_term(int sig)
{
	stop = 1;
}

static void on_alarm(int sig)
{
	harsh_tick();
}

/* On a stack of SMALL bytes, with its surroundings watched. */
static void on_small_stack(void)
{
	while (more())
		harsh_tick();
}

static void run_on_small_stack(void)
{
	static __thread ucontext_t here, there;
	unsigned char *memory = malloc(3 * ALTERNATE);
	size_t i;

	memset(memory, CANARY, 3 * ALTERNATE);
	getcontext(&there);
	there.uc_stack.ss_sp = memory + ALTERNATE;
	there.uc_stack.ss_size = SMALL;
	there.uc_link = &here;
	makecontext(&there, on_small_stack, 0);
	swapcontext(&here, &there);
	for (i = 0; i < 3 * ALTERNATE; i++)
		if ((i < ALTERNATE || i >= ALTERNATE + SMALL) &&
		    memory[i] != CANARY)
			wrong = 1;
	free(memory);
}

static void *stacks(void *arg)
{
	stack_t ss = { .ss_size = ALTERNATE };
	unsigned char *memory = malloc(3 * ALTERNATE);
	size_t i;

	memset(memory, CANARY, 3 * ALTERNATE);
	ss.ss_sp = memory + ALTERNATE;
	sigaltstack(&ss, NULL);
	run_on_small_stack();
	ss.ss_flags = SS_DISABLE;
	sigaltstack(&ss, NULL);
	for (i = 0; i < ALTERNATE; i++)
		if (memory[i] != CANARY || memory[2 * ALTERNATE + i] != CANARY)
			wrong = 1;
	free(memory);
	return NULL;
}

static void *once(void *arg)
{
	harsh_tick();
	return NULL;
}

static void *threads(void *arg)
{
	pthread_t made;

	while (more())
		if (!pthread_create(&made, NULL, once, NULL))
			pthread_join(made, NULL);
	return NULL;
}

static void start_alarm(void)
{
	struct sigaction sa = { .sa_handler = on_alarm,
				.sa_flags = SA_ONSTACK | SA_RESTART };
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

int main(int argc, char **argv)
{
	int small = argc > 1 && !strcmp(argv[1], "stacks"), i;
	pthread_t ids[THREADS];
	sigset_t alarm, term;

	limit = argc > 2 ? atol(argv[2]) : 0;
	signal(SIGTERM, on_term);
	puts("running");
	fflush(stdout);
	/* Its frame is too large for the small stacks, and we may be about to be woken, so
	 * that the kernel would choose another thread for it. */
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, small ? stacks : threads, NULL);
	pthread_sigmask(SIG_UNBLOCK, &term, NULL);
	/* The alarms are for the threads on small stacks. */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	if (small)
		start_alarm();
	for (i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	printf("%s %ld\n", wrong ? "wrong" : "right", ticks);
	return wrong;
}
