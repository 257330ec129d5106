// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * recorder: threads that call a function while signals come, whose handlers call it, too, leave it
 * by siglongjmp(), or end the thread; and that are moved from CPU to CPU meanwhile:
 * recorder THREADS CALLS US [forks]. US: from signal to signal. forks: children do the same.
 *
 * record(WHO, N) is called with N = 0, 1, 2, … for each WHO: a thread, or the handlers of one.
 * Says for each: WHO, how many calls were begun, and how many may have been left before they were
 * made.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 8
#define HANDLER 100
#define LEAVES 8 /* each so many-th signal is left by siglongjmp() */
#define MOVES 4 /* after so many, the thread goes to another CPU */

static struct worker {
	pthread_t thread;
	long begun[2], left[2];
	long signals, calls;
	sigjmp_buf back;
	volatile bool can_leave, ends;
} workers[MOST];
static __thread struct worker *self;
static long signal_ns;

long record(long who, long n);

__attribute__((noipa)) long record(long who, long n)
{
	__builtin_ia32_pause();
	return who + n;
}

static void move(const struct worker *w)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((int)(w->signals / MOVES % cpus), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void on_signal(int sig)
{
	struct worker *w = self;

	if (!w || !w->can_leave)
		return;
	if (++w->signals % MOVES == 0)
		move(w);
	if (record(HANDLER + (w - workers), w->begun[1]++) < HANDLER)
		_exit(1);
	/* The call that was interrupted may have been made, or not. */
	if (w->ends && w->begun[0] > w->calls / 2) {
		w->left[0]++;
		w->can_leave = false;
		syscall(SYS_exit, 0);
	}
	if (w->signals % LEAVES == 0) {
		w->left[0]++;
		siglongjmp(w->back, 1);
	}
}

/* Signals for this thread, however busy the machine is */
static timer_t begin_signals(void)
{
	const struct itimerspec often = { { 0, signal_ns }, { 0, signal_ns } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = SIGUSR1 };
	timer_t timer;

	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &often, NULL))
		_exit(1);
	return timer;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	timer_t timer;

	self = w;
	timer = begin_signals();
	sigsetjmp(w->back, 1);
	w->can_leave = true;
	while (w->begun[0] < w->calls)
		if (record(w - workers, w->begun[0]++) < 0)
			_exit(1);
	w->can_leave = false;
	timer_delete(timer);
	return NULL;
}

static int run(int threads, long calls)
{
	int i;

	for (i = 0; i < threads; i++) {
		workers[i] = (struct worker){ .calls = calls,
					      .ends = i == threads - 1 };
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < 2 * threads; i++) {
		const struct worker *w = &workers[i / 2];

		printf("%d %d %ld %ld\n", (int)getpid(),
		       i / 2 + i % 2 * HANDLER, w->begun[i % 2],
		       w->left[i % 2]);
	}
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	int threads = argc > 1 ? atoi(argv[1]) : 0, i, status, bad = 0;
	long calls = argc > 2 ? atol(argv[2]) : 0;

	if (threads < 1 || threads > MOST || argc < 4)
		return 2;
	signal_ns = atol(argv[3]) * 1000;
	sigaction(SIGUSR1, &sa, NULL);
	if (argc < 5)
		return run(threads, calls);
	for (i = 0; i < 4; i++)
		if (!fork())
			_exit(run(threads, calls));
	while (wait(&status) > 0)
		bad |= status;
	return bad != 0;
}
