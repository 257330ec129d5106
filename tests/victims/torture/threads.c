// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * threads: that end inside nested calls, by pthread_exit, by cancellation, by the
 * system call, and with the process.
 */
#include "torture.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 60
#define DEPTH 20

static sem_t inside, never;
static pthread_key_t key;
static int cleaned, destroyed;

static APART void clean(void *arg)
{
	__atomic_fetch_add(&cleaned, (int)(long)arg, __ATOMIC_RELAXED);
}

static APART void destroy(void *arg)
{
	__atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
}

static APART void by_exit(void)
{
	pthread_exit((void *)77);
}

static APART void by_deferred_cancel(void)
{
	sem_post(&inside);
	for (;;)
		sem_wait(&never);
}

static APART void by_asynchronous_cancel(void)
{
	static volatile long counter;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	sem_post(&inside);
	for (;;)
		counter++;
}

static APART void by_system_call(void)
{
	syscall(SYS_exit, 0);
}

static APART long descend(int n, void (*end)(void))
{
	long below = 0;

	pthread_cleanup_push(clean, (void *)1);
	if (n)
		below = descend(n - 1, end);
	else
		end();
	pthread_cleanup_pop(0);
	return below + 1;
}

static void *thread(void *end)
{
	pthread_setspecific(key, &key);
	return (void *)descend(DEPTH, (void (*)(void))end);
}

static bool all(void (*end)(void), bool cancel, void *value, int each)
{
	pthread_t id[THREADS];
	bool good = true;
	void *got;
	int i;

	cleaned = destroyed = 0;
	for (i = 0; i < THREADS; i++) {
		pthread_create(&id[i], NULL, thread, (void *)end);
		if (cancel) {
			sem_wait(&inside);
			pthread_cancel(id[i]);
		}
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(id[i], &got);
		good &= !each || got == value;
	}
	return good && cleaned == each * THREADS &&
	       destroyed == (each ? THREADS : 0);
}

/* In the way that has nobody clean anything up. */
static bool silently(void)
{
	return all(by_system_call, false, NULL, 0);
}

static void *last_one(void *id)
{
	pthread_join(*(pthread_t *)id, NULL);
	check("the first thread has left", true);
	exit(verdict());
}

int main(void)
{
	static pthread_t first;
	pthread_t id;

	sem_init(&inside, 0, 0);
	sem_init(&never, 0, 0);
	pthread_key_create(&key, destroy);
	check("pthread_exit", all(by_exit, false, (void *)77, DEPTH + 1));
	check("deferred cancellation",
	      all(by_deferred_cancel, true, PTHREAD_CANCELED, DEPTH + 1));
	check("asynchronous cancellation",
	      all(by_asynchronous_cancel, true, PTHREAD_CANCELED, DEPTH + 1));
	check("the system call", silently());
	check("pthread_exit again", all(by_exit, false, (void *)77, DEPTH + 1));
	first = pthread_self();
	pthread_create(&id, NULL, last_one, &first);
	return (int)descend(DEPTH, by_exit);
}
