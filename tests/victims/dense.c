// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dense: threads enter close instructions at each of them, and find the sums right:
 * dense [-b] [-s] [-t THREADS] [-n ROUNDS] [-l PASSES]. Without -n until SIGTERM. -b: with
 * all signals blocked. -s: says first that it runs. -l: instead, so many passes of each
 * loop, ROUNDS times or once. Says how often all of it was right.
 */
#include "dense.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST 16

static volatile sig_atomic_t stop;
static long rounds;
static bool blocks;

/* Return: is all of it blocked, or nothing of it, as it should? */
static bool mask_is_right(void)
{
	sigset_t now;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	return sigismember(&now, SIGILL) == blocks &&
	       sigismember(&now, SIGTRAP) == blocks;
}

static void on_term(int sig)
{
	stop = 1;
}

static void *work(void *arg)
{
	long *right = arg, k;
	sigset_t all;

	sigfillset(&all);
	if (blocks)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (!stop && (!rounds || *right < rounds)) {
		for (k = 0; k < dense_steps(); k++)
			if (dense_enter(k) != dense_sum(k)) {
				printf("wrong from %ld: %ld, not %ld\n", k,
				       dense_enter(k), dense_sum(k));
				exit(1);
			}
		if (!mask_is_right()) {
			puts("wrong mask");
			exit(1);
		}
		++*right;
	}
	return NULL;
}

/* eax of the first one is not known at its beginning. */
static int loops(long n)
{
	long one = loop1(n, 0, 0, 0) - loop1(n, 0, 0, 0);
	long sum = loop2(n, 0, 0, 0) + loop3(n, 0, 0, 0) + loop4(n, 0, 0, 0);

	printf("%ld\n", sum);
	return one % 3 || sum != 9 * n;
}

int main(int argc, char **argv)
{
	long right[MOST] = { 0 }, sum = 0, passes = 0;
	pthread_t thread[MOST];
	int threads = 1, c, i;
	bool says = false;

	while ((c = getopt(argc, argv, "bst:n:l:")) != -1) {
		blocks |= c == 'b';
		says |= c == 's';
		if (c == 't')
			threads = atoi(optarg);
		else if (c == 'n')
			rounds = atol(optarg);
		else if (c == 'l')
			passes = atol(optarg);
	}
	for (i = 0; passes && i < (rounds ? rounds : 1); i++)
		if (loops(passes))
			return 1;
	if (passes)
		return 0;
	signal(SIGTERM, on_term);
	if (says && puts("running") > 0)
		fflush(stdout);
	for (i = 0; i < threads && i < MOST; i++)
		pthread_create(&thread[i], NULL, work, &right[i]);
	for (i = 0; i < threads && i < MOST; i++) {
		pthread_join(thread[i], NULL);
		sum += right[i];
	}
	printf("right %ld\n", sum);
	return !sum;
}
