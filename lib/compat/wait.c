// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* wait: wait queues. A thread sleeps on the number of wakes, so none is lost. */
#include "lib/compat/compat.h"

#define ALL 0x7fffffff

struct stamp {
	s64 sec, nsec;
};

/* FUTEX_WAKE_PRIVATE */
void dp_compat_wake(struct wait_queue_head *wq)
{
	__atomic_fetch_add(&wq->wakes, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&wq->waiters, __ATOMIC_SEQ_CST))
		dp_sys3(__NR_futex, &wq->wakes, 129, ALL);
}

/* FUTEX_WAIT_PRIVATE */
bool dp_compat_wait(struct wait_queue_head *wq, int wakes, s64 *left)
{
	s64 begin = ktime_get();
	struct stamp stamp = { *left / NSEC_PER_SEC, *left % NSEC_PER_SEC };

	if (!*left)
		return false;
	__atomic_fetch_add(&wq->waiters, 1, __ATOMIC_SEQ_CST);
	dp_sys6(__NR_futex, (long)&wq->wakes, 128, wakes,
		*left > 0 ? (long)&stamp : 0, 0, 0);
	__atomic_fetch_sub(&wq->waiters, 1, __ATOMIC_SEQ_CST);
	if (*left < 0)
		return true;
	*left -= ktime_get() - begin;
	if (*left < 0)
		*left = 0;
	return *left;
}
