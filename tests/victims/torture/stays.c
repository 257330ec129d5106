// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stays: functions that never return, when the process ends around them. */
#include "torture.h"
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#define THREADS 10

static sem_t inside;

static APART __attribute__((noreturn)) void for_ever(int n)
{
	if (n)
		for_ever(n - 1);
	sem_post(&inside);
	for (;;)
		pause();
}

static APART void *spinning(void *arg)
{
	static volatile long turns;

	sem_post(&inside);
	while (turns >= 0)
		turns++;
	return NULL;
}

static APART void *sleeping(void *arg)
{
	for_ever(20);
}

static APART __attribute__((noreturn)) void leave(int n)
{
	if (n)
		leave(n - 1);
	exit(verdict());
}

int main(void)
{
	pthread_t id;

	sem_init(&inside, 0, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&id, NULL, sleeping, NULL);
	pthread_create(&id, NULL, spinning, NULL);
	for (int i = 0; i < THREADS + 1; i++)
		sem_wait(&inside);
	check("threads inside for ever", true);
	leave(20);
}
