// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* calls: a known number of calls from several threads: calls THREADS TIMES. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

long victim_function(long n);
static long times;

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1;
}

static void *caller(void *arg)
{
	long i, sum = 0;

	for (i = 0; i < times; i++)
		sum += victim_function(i);
	return (void *)sum;
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]), i;
	pthread_t threads[64];
	void *sum;
	long total = 0;

	times = atol(argv[2]);
	for (i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, caller, NULL);
	for (i = 0; i < n; i++) {
		pthread_join(threads[i], &sum);
		total += (long)sum;
	}
	printf("%ld\n", total);
	return 0;
}
