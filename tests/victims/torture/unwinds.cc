// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* unwinds: threads that end inside functions with objects, and what catches that. */
#include "torture.h"
#include <cxxabi.h>
#include <pthread.h>
#include <semaphore.h>

static const int threads = 40, depth = 15;
static sem_t inside, never;
static int destroyed, seen;

struct object {
	int n = 1;
	~object()
	{
		__atomic_fetch_add(&destroyed, n, __ATOMIC_RELAXED);
	}
};

static APART void by_exit()
{
	object local;

	pthread_exit(&seen);
}

static APART void by_cancel()
{
	object local;

	sem_post(&inside);
	for (;;)
		sem_wait(&never);
}

static APART void by_test()
{
	object local;

	sem_post(&inside);
	for (;;)
		pthread_testcancel();
}

static APART long descend(int n, void (*end)());

static APART long catches(int n, void (*end)())
{
	try {
		return descend(n - 1, end);
	} catch (abi::__forced_unwind &) {
		__atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
		throw;
	}
}

static APART long descend(int n, void (*end)())
{
	object local;
	long below = 0;

	if (!n)
		end();
	else if (n % 3)
		below = descend(n - 1, end);
	else
		below = catches(n, end);
	STAY();
	return below + 1;
}

/* Somebody who throws and catches on the way out. */
struct restless {
	APART ~restless()
	{
		try {
			throw 1;
		} catch (int n) {
			__atomic_fetch_add(&seen, n, __ATOMIC_RELAXED);
		}
	}
};

static APART void *thread(void *end)
{
	restless local;

	return reinterpret_cast<void *>(
		descend(depth, reinterpret_cast<void (*)()>(end)));
}

static bool all(void (*end)(), bool cancel, void *value)
{
	pthread_t id[threads];
	bool good = true;

	destroyed = seen = 0;
	for (auto &t : id) {
		pthread_create(&t, nullptr, thread,
			       reinterpret_cast<void *>(end));
		if (cancel) {
			sem_wait(&inside);
			pthread_cancel(t);
		}
	}
	for (auto t : id) {
		void *got;

		pthread_join(t, &got);
		good &= got == value;
	}
	return good && destroyed == threads * (depth + 2) &&
	       seen == threads * (depth / 3 + 1);
}

int main()
{
	sem_init(&inside, 0, 0);
	sem_init(&never, 0, 0);
	check("pthread_exit", all(by_exit, false, &seen));
	check("cancelled asleep", all(by_cancel, true, PTHREAD_CANCELED));
	check("cancelled at a test", all(by_test, true, PTHREAD_CANCELED));
	return verdict();
}
