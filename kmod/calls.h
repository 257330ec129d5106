/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls: pools of instances, of calls that are followed to their return: port/kernel/followed.h.
 *
 * A pool is made for a probe. One whose probe has gone is an orphan until all of its calls have returned.
 * Meanwhile it keeps this module, whose text they return to.
 */
#ifndef DP_KMOD_CALLS_H
#define DP_KMOD_CALLS_H

#include "port/kernel/followed.h"
#include <linux/list.h>

/** struct dp_calls - the instances of a probe; @user: whose; NULL: it is an orphan */
struct dp_calls {
	struct dp_followed_pool pool;
	struct list_head list;
	const void *user;
};

/** struct dp_calls_account - of calls that have not returned: @inside: they may; @ended: as of the pool */
struct dp_calls_account {
	u64 inside, ended;
};

/** dp_calls_list - return addresses are in the lists of tasks. Tests find it by its name. */
extern bool dp_calls_list;
/** dp_calls_begin() - @trampoline: see dp_node_trampoline; @may_list: pools are for lists then, not for stubs
 *  Context: there are no pools */
void dp_calls_begin(u64 trampoline, bool may_list);
/**
 * dp_calls_make() - a pool of @n instances, or, if that is 0, of as many as are usual
 * @room: bytes behind each struct dp_followed
 * @fill: prepare an instance, before it can be taken
 * Return: NULL: there is no memory, or there are not so many stubs.
 */
struct dp_calls *dp_calls_make(const void *user, u32 n, u32 room,
			       void (*fill)(struct dp_followed *instance,
					    const void *user));
/** dp_calls_of() - the pool of a user. Return: NULL: it has none */
struct dp_calls *dp_calls_of(const void *user);
/** dp_calls_silence() - no handler runs any more when RCU has waited. NULL is fine. */
void dp_calls_silence(struct dp_calls *calls);
/** dp_calls_leave() - its probe has gone: free it, or let it be an orphan. NULL is fine.
 *  Context: RCU has waited since the probe was disarmed, and since dp_calls_silence() */
void dp_calls_leave(struct dp_calls *calls);
/** dp_calls_account() - what has become of those that have not returned */
struct dp_calls_account dp_calls_account(struct dp_calls *calls);
/** dp_calls_end() - this module goes: no call is followed any more. A task may still be behind its stub. */
void dp_calls_end(void);

#endif
