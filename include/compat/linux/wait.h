/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Wait queues: threads that wait until something is so. */
#ifndef DP_LINUX_WAIT_H
#define DP_LINUX_WAIT_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/jiffies.h>

/**
 * struct wait_queue_head - who waits
 * @wakes: how often they have been woken; @waiters: how many there are
 */
struct wait_queue_head {
	int wakes;
	int waiters;
};
typedef struct wait_queue_head wait_queue_head_t;

#define __WAIT_QUEUE_HEAD_INITIALIZER(name) { 0, 0 }
#define DECLARE_WAIT_QUEUE_HEAD(name) struct wait_queue_head name = { 0, 0 }
#define init_waitqueue_head(wq) ((void)(*(wq) = (struct wait_queue_head){ 0, 0 }))

/** dp_compat_wake() - all of them. Context: any; in a handler, too. */
void dp_compat_wake(struct wait_queue_head *wq);
/**
 * dp_compat_wait() - sleep, unless somebody has woken them since @wakes was read
 * @left: nanoseconds at most, and what is left of them; negative: for ever
 * Context: task; a handler should not. Return: false: the time is over.
 */
bool dp_compat_wait(struct wait_queue_head *wq, int wakes, s64 *left);

#define wake_up(wq) dp_compat_wake(wq)
#define wake_up_all(wq) dp_compat_wake(wq)
#define wake_up_interruptible(wq) dp_compat_wake(wq)
#define wake_up_interruptible_all(wq) dp_compat_wake(wq)
#define waitqueue_active(wq) (READ_ONCE((wq)->waiters) != 0)
#define wq_has_sleeper(wq) waitqueue_active(wq)

#define DP_WAIT(wq, condition, left)                                        \
	({                                                                  \
		bool dp_so, dp_time = true;                                 \
		for (;;) {                                                  \
			int dp_wakes = __atomic_load_n(&(wq).wakes,         \
						       __ATOMIC_SEQ_CST);   \
			dp_so = !!(condition);                              \
			if (dp_so || !dp_time)                              \
				break;                                      \
			dp_time = dp_compat_wait(&(wq), dp_wakes, &(left)); \
		}                                                           \
		dp_so;                                                      \
	})
#define wait_event(wq, condition)                     \
	do {                                          \
		s64 dp_left = -1;                     \
		(void)DP_WAIT(wq, condition, dp_left); \
	} while (0)
/* No signal ends them: those are the program's. */
#define wait_event_interruptible(wq, condition) \
	({                                      \
		wait_event(wq, condition);      \
		0;                              \
	})
#define wait_event_killable(wq, condition) wait_event_interruptible(wq, condition)
/** wait_event_timeout() - Return: 0: it is not so, and the time is over; else what is
 *  left of it, at least 1 */
#define wait_event_timeout(wq, condition, timeout)                           \
	({                                                                   \
		s64 dp_left = (s64)(timeout) * (1000000000LL / HZ);          \
		bool dp_is = DP_WAIT(wq, condition, dp_left);                \
		long dp_rest = (long)(dp_left / (1000000000LL / HZ));        \
		dp_is ? (dp_rest > 0 ? dp_rest : 1L) : 0L;                   \
	})
#define wait_event_interruptible_timeout(wq, condition, timeout) \
	wait_event_timeout(wq, condition, timeout)

#endif
