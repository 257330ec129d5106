// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * taking: taking THREADS ROUNDS [wait|fork]: threads take memory in four ways, and free it, often in another
 * thread; at its end it prints a line for each way, how many blocks are left and how many bytes.
 *
 * wait: it begins at the first line that is read, and stays until the second one. fork: a child does the same
 * before, and says nothing.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS 512

enum { MALLOC, CALLOC, REALLOC, ALIGNED, WAYS };
static const char *const names[WAYS] = { "by_malloc", "by_calloc", "by_realloc",
					 "by_aligned" };

struct block {
	int way;
	unsigned long size;
	char rest[];
};

static struct block *slots[SLOTS]; /* of all threads */
static unsigned long threads, rounds;

/* More than the call itself, so that none is a tail call */
#define SITE __attribute__((noipa)) static void *
#define DONE(p)                                    \
	({                                         \
		void *made = (p);                  \
		__asm__ volatile("" : "+r"(made)); \
		made;                              \
	})

SITE by_malloc(struct block *old, unsigned long n)
{
	free(old);
	return DONE(malloc(n));
}

SITE by_calloc(struct block *old, unsigned long n)
{
	free(old);
	return DONE(calloc(n / 8, 8));
}

SITE by_realloc(struct block *old, unsigned long n)
{
	return DONE(realloc(old, n));
}

SITE by_aligned(struct block *old, unsigned long n)
{
	free(old);
	return DONE(aligned_alloc(64, n));
}

static void *(*const sites[WAYS])(struct block *old,
				  unsigned long n) = { by_malloc, by_calloc,
						       by_realloc, by_aligned };

static struct block *make(struct block *old, unsigned long draw)
{
	int way = (int)(draw % WAYS);
	unsigned long n = 64 + draw / WAYS % 16 * 64;
	struct block *b = sites[way](old, n);

	if (!b)
		abort();
	b->way = way;
	b->size = n;
	return b;
}

static void *work(void *arg)
{
	unsigned long seed = (unsigned long)arg + 1, i;
	struct block *mine = NULL;

	for (i = 0; i < rounds; i++) {
		seed = seed * 6364136223846793005ul + 1442695040888963407ul;
		mine = __atomic_exchange_n(&slots[(seed >> 33) % SLOTS], mine,
					   __ATOMIC_ACQ_REL);
		if ((seed >> 20) % 3) {
			mine = make(mine, seed >> 43);
		} else {
			free(mine);
			mine = NULL;
		}
	}
	free(mine);
	return NULL;
}

static void all(void)
{
	pthread_t thread[64];
	unsigned long i;

	for (i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

static void tell(void)
{
	unsigned long count[WAYS] = { 0 }, bytes[WAYS] = { 0 }, i;

	for (i = 0; i < SLOTS; i++)
		if (slots[i]) {
			count[slots[i]->way]++;
			bytes[slots[i]->way] += slots[i]->size;
		}
	for (i = 0; i < WAYS; i++)
		printf("%s %lu %lu\n", names[i], count[i], bytes[i]);
	fflush(stdout);
}

static void wait_for_line(void)
{
	char c;

	while (read(0, &c, 1) == 1 && c != '\n')
		;
}

int main(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[3] : "";
	pid_t child;

	threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	if (threads > 64)
		return 2;
	if (!strcmp(how, "wait")) {
		puts("ready");
		fflush(stdout);
		wait_for_line();
	}
	if (!strcmp(how, "fork")) {
		child = fork();
		if (!child) {
			all();
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	all();
	tell();
	if (!strcmp(how, "wait"))
		wait_for_line();
	return 0;
}
