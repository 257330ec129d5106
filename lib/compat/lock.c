// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lock: spin locks, read-write locks, mutexes and wait queues: a probe module's own
 * (DESIGN.md, Locks).
 */
#include "lib/compat/compat.h"

/* The holder may have lost its CPU: after a while, give up ours. */
static void wait_a_little(unsigned int *turns)
{
	if (++*turns % 64)
		__builtin_ia32_pause();
	else
		schedule();
}

int spin_trylock(spinlock_t *lock)
{
	return !READ_ONCE(lock->locked) && !xchg(&lock->locked, 1);
}

void spin_lock(spinlock_t *lock)
{
	unsigned int turns = 0;

	while (!spin_trylock(lock))
		wait_a_little(&turns);
}

void spin_unlock(spinlock_t *lock)
{
	smp_store_release(&lock->locked, 0);
}

void read_lock(rwlock_t *lock)
{
	unsigned int turns = 0;
	int n;

	for (;;) {
		n = READ_ONCE(lock->count);
		if (n >= 0 && try_cmpxchg(&lock->count, &n, n + 1))
			return;
		wait_a_little(&turns);
	}
}

void read_unlock(rwlock_t *lock)
{
	__atomic_fetch_sub(&lock->count, 1, __ATOMIC_RELEASE);
}

void write_lock(rwlock_t *lock)
{
	unsigned int turns = 0;
	int none = 0;

	while (!try_cmpxchg(&lock->count, &none, -1)) {
		none = 0;
		wait_a_little(&turns);
	}
}

void write_unlock(rwlock_t *lock)
{
	smp_store_release(&lock->count, 0);
}

void synchronize_rcu(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (dp_compat_hooks.settle)
		dp_compat_hooks.settle();
}

struct stamp {
	s64 sec, nsec;
};

static void futex_wait(int *word, int value, const struct stamp *timeout)
{
	/* FUTEX_WAIT_PRIVATE */
	dp_sys6(__NR_futex, (long)word, 128, value, (long)timeout, 0, 0);
}

static void futex_wake(int *word, int most)
{
	/* FUTEX_WAKE_PRIVATE */
	dp_sys3(__NR_futex, word, 129, most);
}

int mutex_trylock(struct mutex *lock)
{
	int none = 0;

	return try_cmpxchg(&lock->state, &none, 1);
}

void mutex_lock(struct mutex *lock)
{
	if (mutex_trylock(lock))
		return;
	while (xchg(&lock->state, 2))
		futex_wait(&lock->state, 2, NULL);
}

void mutex_unlock(struct mutex *lock)
{
	if (xchg(&lock->state, 0) == 2)
		futex_wake(&lock->state, 1);
}

/* A thread sleeps on the number of wakes, so none is lost. */
void dp_compat_wake(struct wait_queue_head *wq)
{
	__atomic_fetch_add(&wq->wakes, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&wq->waiters, __ATOMIC_SEQ_CST))
		futex_wake(&wq->wakes, INT_MAX);
}

bool dp_compat_wait(struct wait_queue_head *wq, int wakes, s64 *left)
{
	s64 begin = ktime_get();
	struct stamp stamp = { *left / NSEC_PER_SEC, *left % NSEC_PER_SEC };

	if (!*left)
		return false;
	__atomic_fetch_add(&wq->waiters, 1, __ATOMIC_SEQ_CST);
	futex_wait(&wq->wakes, wakes, *left > 0 ? &stamp : NULL);
	__atomic_fetch_sub(&wq->waiters, 1, __ATOMIC_SEQ_CST);
	if (*left < 0)
		return true;
	*left -= ktime_get() - begin;
	if (*left < 0)
		*left = 0;
	return *left;
}
