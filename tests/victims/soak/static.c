// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* static: threads that sort, print and compute, and compare with what they had at first;
 * for any libc. Says "ready"; by SIGTERM it ends, and says "ok ROUNDS". */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define VALUES 300

static volatile sig_atomic_t stop;
static unsigned long wanted[8], rounds[THREADS], wrong;

static int compare(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static unsigned long work(unsigned int seed)
{
	unsigned long digest = 5381;
	char *v[VALUES], text[64];
	int i;

	for (i = 0; i < VALUES; i++) {
		seed = seed * 1664525u + 1013904223u;
		snprintf(text, sizeof(text), "%u %.3f", seed >> 8, seed / 3e4);
		v[i] = malloc(strlen(text) + 1);
		strcpy(v[i], text);
	}
	qsort(v, VALUES, sizeof(v[0]), compare);
	for (i = 0; i < VALUES; i++) {
		digest = digest * 33 + strtoul(v[i], NULL, 10) + strlen(v[i]);
		free(v[i]);
	}
	return digest;
}

static void *run(void *arg)
{
	unsigned long *n = arg;

	for (; !stop; ++*n)
		if (work(*n % 8) != wanted[*n % 8])
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void on_term(int sig)
{
	stop = 1;
}

int main(void)
{
	pthread_t id[THREADS];
	unsigned long sum = 0;
	unsigned int i;

	signal(SIGTERM, on_term);
	for (i = 0; i < 8; i++)
		wanted[i] = work(i);
	for (i = 0; i < THREADS; i++)
		pthread_create(&id[i], NULL, run, &rounds[i]);
	puts("ready");
	fflush(stdout);
	for (i = 0; i < THREADS; i++) {
		pthread_join(id[i], NULL);
		sum += rounds[i];
	}
	printf(wrong ? "wrong %lu\n" : "ok %lu\n", wrong ? wrong : sum);
	return wrong != 0;
}
