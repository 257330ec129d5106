// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* lock: spin locks, read-write locks and mutexes: a probe module's own (DESIGN.md, Locks). */
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
	return !__atomic_load_n(&lock->locked, __ATOMIC_RELAXED) &&
	       !__atomic_exchange_n(&lock->locked, 1, __ATOMIC_ACQUIRE);
}

void spin_lock(spinlock_t *lock)
{
	unsigned int turns = 0;

	while (!spin_trylock(lock))
		wait_a_little(&turns);
}

void spin_unlock(spinlock_t *lock)
{
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}

void read_lock(rwlock_t *lock)
{
	unsigned int turns = 0;
	int n;

	for (;;) {
		n = __atomic_load_n(&lock->count, __ATOMIC_RELAXED);
		if (n >= 0 && __atomic_compare_exchange_n(
				      &lock->count, &n, n + 1, true,
				      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
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

	while (!__atomic_compare_exchange_n(&lock->count, &none, -1, true,
					    __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		none = 0;
		wait_a_little(&turns);
	}
}

void write_unlock(rwlock_t *lock)
{
	__atomic_store_n(&lock->count, 0, __ATOMIC_RELEASE);
}

void synchronize_rcu(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (dp_compat_hooks.settle)
		dp_compat_hooks.settle();
}

/* FUTEX_WAIT_PRIVATE and FUTEX_WAKE_PRIVATE */
static void futex(int *word, int op, int value)
{
	dp_sys6(__NR_futex, (long)word, op, value, 0, 0, 0);
}

int mutex_trylock(struct mutex *lock)
{
	int none = 0;

	return __atomic_compare_exchange_n(&lock->state, &none, 1, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void mutex_lock(struct mutex *lock)
{
	if (mutex_trylock(lock))
		return;
	while (__atomic_exchange_n(&lock->state, 2, __ATOMIC_ACQUIRE))
		futex(&lock->state, 128, 2);
}

void mutex_unlock(struct mutex *lock)
{
	if (__atomic_exchange_n(&lock->state, 0, __ATOMIC_RELEASE) == 2)
		futex(&lock->state, 129, 1);
}
