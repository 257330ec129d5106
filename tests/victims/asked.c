// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * asked: a program at work that calls a function as often as it is asked to.
 *
 *	asked [THREADS]
 *
 * Threads allocate, fork, and make other threads, and check what they get. For each line of
 * its input victim_function() is called so many times, and the line said again. At the end
 * of the input it says whether all was right. So many THREADS more sleep, and wake up to ask
 * for their masks.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define MORE 16
#define CALLS 20000 /* some ten milliseconds */

long victim_function(long n);

static volatile int ended;
static int wrong;

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1;
}

static void check(int good)
{
	if (!good)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void *allocate(void *arg)
{
	unsigned int seed = 1;
	char text[32];

	while (!ended) {
		size_t n = 1 + (size_t)rand_r(&seed) % 3000, i;
		unsigned char *p = malloc(n), *q = calloc(1, n);

		memset(p, 7, n);
		memcpy(q, p, n);
		for (i = 0; i < n && q[i] == 7; i++)
			continue;
		check(i == n);
		snprintf(text, sizeof(text), "x-%zu", n);
		check(strtoul(strchr(text, '-') + 1, NULL, 10) == n);
		free(p);
		free(q);
	}
	return NULL;
}

static void *have_children(void *arg)
{
	const struct timespec nap = { 0, 2000000 };
	int status;
	pid_t pid;

	while (!ended) {
		pid = fork();
		if (!pid)
			_exit(victim_function(2));
		check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		      WEXITSTATUS(status) == 7);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static void *give_back(void *arg)
{
	free(malloc(100));
	return arg;
}

static void *make_threads(void *arg)
{
	char place[8];
	pthread_t thread;
	void *got;

	while (!ended) {
		check(!pthread_create(&thread, NULL, give_back, place));
		check(!pthread_join(thread, &got) && got == place);
	}
	return NULL;
}

static void *wait_masked(void *arg)
{
	const struct timespec nap = { 0, 500000 };
	sigset_t masks[2], now;
	unsigned int n = 0;

	sigemptyset(&masks[0]);
	sigemptyset(&masks[1]);
	sigaddset(&masks[1], SIGTRAP);
	while (!ended) {
		pselect(0, NULL, NULL, NULL, &nap, &masks[n++ % 2]);
		pthread_sigmask(SIG_SETMASK, NULL, &now);
		check(!sigismember(&now, SIGTRAP) &&
		      !sigismember(&now, SIGUSR1));
	}
	return NULL;
}

/* It sleeps in a call that no stop may end, and then asks for its mask all the time for as
 * long. */
static void *sleep_and_ask(void *arg)
{
	struct epoll_event event;
	int i, fd = epoll_create1(EPOLL_CLOEXEC);
	sigset_t now;

	while (!ended) {
		check(epoll_wait(fd, &event, 1, 10) <= 0);
		for (i = 0; i < CALLS; i++) {
			pthread_sigmask(SIG_SETMASK, NULL, &now);
			check(!sigismember(&now, SIGTRAP));
		}
	}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	static void *(*const work[THREADS])(void *) = { allocate, have_children,
							make_threads,
							wait_masked };
	int nr = THREADS + (argc > 1 ? atoi(argv[1]) % MORE : 0);
	pthread_t threads[THREADS + MORE];
	char line[32];
	long n, i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL,
			       i < THREADS ? work[i] : sleep_and_ask, NULL);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		n = atol(line);
		for (i = 0; i < n; i++)
			check(victim_function(i) == i * 3 + 1);
		printf("%ld\n", n);
	}
	ended = 1;
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	puts(wrong ? "wrong" : "right");
	return wrong != 0;
}
