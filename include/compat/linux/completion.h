/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completions: one thread says that something is done, others wait for it. */
#ifndef DP_LINUX_COMPLETION_H
#define DP_LINUX_COMPLETION_H

#include <linux/wait.h>

#define DP_COMPLETED_ALL 0x40000000

/** struct completion - @done: so many waits are over at once */
struct completion {
	int done;
	struct wait_queue_head wait;
};

#define COMPLETION_INITIALIZER(name) { 0, { 0, 0 } }
#define DECLARE_COMPLETION(name) struct completion name = { 0, { 0, 0 } }
#define DECLARE_COMPLETION_ONSTACK(name) DECLARE_COMPLETION(name)
#define init_completion(c) ((void)(*(c) = (struct completion){ 0, { 0, 0 } }))
#define reinit_completion(c) WRITE_ONCE((c)->done, 0)

static inline bool try_wait_for_completion(struct completion *c)
{
	int done = __atomic_load_n(&c->done, __ATOMIC_ACQUIRE);

	while (done && done < DP_COMPLETED_ALL &&
	       !__atomic_compare_exchange_n(&c->done, &done, done - 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return done;
}

/** complete() - one wait is over; complete_all() - and all to come. Context: any. */
static inline void complete(struct completion *c)
{
	__atomic_fetch_add(&c->done, 1, __ATOMIC_ACQ_REL);
	dp_compat_wake(&c->wait);
}

static inline void complete_all(struct completion *c)
{
	__atomic_store_n(&c->done, DP_COMPLETED_ALL, __ATOMIC_RELEASE);
	dp_compat_wake(&c->wait);
}

static inline bool completion_done(struct completion *c)
{
	return __atomic_load_n(&c->done, __ATOMIC_ACQUIRE);
}

#define wait_for_completion(c) \
	wait_event((c)->wait, try_wait_for_completion(c))
#define wait_for_completion_interruptible(c) \
	wait_event_interruptible((c)->wait, try_wait_for_completion(c))
#define wait_for_completion_killable(c) wait_for_completion_interruptible(c)
#define wait_for_completion_timeout(c, timeout) \
	((unsigned long)wait_event_timeout((c)->wait, try_wait_for_completion(c), timeout))
#define wait_for_completion_interruptible_timeout(c, timeout) \
	wait_event_timeout((c)->wait, try_wait_for_completion(c), timeout)

#endif
