// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * server: two threads answer requests. Some requests are refused, some answers are slow, some buffers are
 * not freed, and a lock is held for long. doc/compared.md asks about it.
 *
 *   cc -g -O2 -pthread -o server server.c
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUESTS 200

struct request {
	int id;
	unsigned int size;
	const char *path;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long handled;
static char *volatile last;

__attribute__((noipa)) static int parse(struct request *r)
{
	r->path = r->id % 3 ? "/index" : "/search";
	return r->id % 7 ? 0 : -1;
}

__attribute__((noipa)) static void answer(const struct request *r)
{
	char *text = malloc(r->size);

	memset(text, '.', r->size);
	last = text;
	if (r->id % 5)
		free(text);
	usleep((unsigned int)r->id % 4 * 300);
	last = NULL;
}

__attribute__((noipa)) static int handle(int id)
{
	struct request r = { .id = id, .size = 64u << id % 6 };

	if (parse(&r))
		return -1;
	answer(&r);
	pthread_mutex_lock(&lock);
	handled++;
	usleep(100);
	pthread_mutex_unlock(&lock);
	return 0;
}

static void *work(void *unused)
{
	int i;

	for (i = 0; i < REQUESTS; i++)
		handle(i);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld handled\n", handled);
	return 0;
}
