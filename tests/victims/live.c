// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * live: a program that is looked into while it runs: live HOW [THREADS].
 *
 * sleep: the first thread sleeps again and again, the others call victim_function;
 * spin: all of them do; handler: the first one sleeps in a signal handler; fork:
 * it sleeps, and so does its child; deaf: it sleeps with all signals blocked; count: only the
 * others call, they end on SIGUSR2, and their calls are told. On SIGTERM it says whether all
 * went well.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

long victim_function(long n);
static volatile sig_atomic_t ended, rest;
static long wrong, calls;
static int counts;

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1;
}

static void end(int sig)
{
	ended = 1;
}

static void stop_calling(int sig)
{
	rest = 1;
}

static void work(long i)
{
	if (victim_function(i) != i * 3 + 1)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void *spin(void *arg)
{
	long i;

	for (i = 0; !ended && !rest; i++)
		work(i);
	__atomic_fetch_add(&calls, i, __ATOMIC_RELAXED);
	return NULL;
}

static void sleep_again(void)
{
	const struct timespec t = { 0, 5000000 };
	long i;

	for (i = 0; !ended; i++) {
		if (!counts)
			work(i);
		errno = 77;
		if ((nanosleep(&t, NULL) || errno != 77) && !ended && !rest)
			wrong++;
	}
}

static void sleep_here(int sig)
{
	sleep_again();
}

/* Return: the child, or 0 in it. */
static pid_t divide(void)
{
	pid_t pid = fork();

	if (pid)
		printf("child %d\n", pid);
	return pid;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0, status = 0;
	pthread_t threads[64];
	pid_t child = 0;
	sigset_t all;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGTERM, end);
	signal(SIGUSR1, sleep_here);
	signal(SIGUSR2, stop_calling);
	counts = !strcmp(argv[1], "count");
	while (n-- > 0)
		pthread_create(&threads[n], NULL, spin, NULL);
	if (!strcmp(argv[1], "fork"))
		child = divide();
	else
		puts("ready");
	if (!strcmp(argv[1], "deaf")) {
		sigfillset(&all);
		sigdelset(&all, SIGTERM);
		sigprocmask(SIG_BLOCK, &all, NULL);
	}
	if (!strcmp(argv[1], "handler"))
		raise(SIGUSR1);
	if (!strcmp(argv[1], "spin"))
		spin(NULL);
	else
		sleep_again();
	for (n = argc > 2 ? atoi(argv[2]) : 0; n-- > 0;)
		pthread_join(threads[n], NULL);
	if (child) {
		kill(child, SIGTERM);
		waitpid(child, &status, 0);
		wrong += status != 0;
	}
	if (counts)
		printf("%ld calls\n", calls);
	puts(wrong ? "wrong" : "right");
	return wrong != 0;
}
