// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * alternate: threads that call two functions in turn, while what is probed there changes. It
 * reads commands, a letter each, and answers each with a line.
 *
 *	g  N threads begin
 *	s  they end, each behind its second call; say how often each function was called
 *	q  end
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64

long alt_first(long n);
long alt_second(long n);

static atomic_int stop;
static pthread_t threads[MOST];
static long calls[MOST][2];

__attribute__((noipa)) long alt_first(long n)
{
	return n * 3 + 1;
}

__attribute__((noipa)) long alt_second(long n)
{
	return n * 5 + 2;
}

static void *run(void *arg)
{
	long *mine = arg, n = 0;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		n = alt_first(n);
		mine[0]++;
		n = alt_second(n);
		mine[1]++;
	}
	return (void *)n;
}

static void begin(int n)
{
	int i;

	atomic_store(&stop, 0);
	for (i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, calls[i]);
	puts("gone");
}

static void end(int n)
{
	long first = 0, second = 0;
	int i;

	atomic_store(&stop, 1);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < n; i++) {
		first += calls[i][0];
		second += calls[i][1];
	}
	printf("%ld %ld\n", first, second);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while ((c = getchar()) != EOF && c != 'q') {
		if (c == 'g')
			begin(n);
		else if (c == 's')
			end(n);
	}
	return 0;
}
