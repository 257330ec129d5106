/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * followed: calls of a kernel's functions that are followed to their return.
 *
 *     entry ─► dp_followed_take() ─► dp_followed_begin(): the return address becomes the stub's, or the trampoline's
 *     ret ─► stub, or trampoline ─► returned.c ─► dp_followed_returned()
 *
 *     FREE ─► TAKEN ─► LIVE ─► FREE     the call has returned, or is not to be followed
 *                      LIVE ─► FREE     its task has ended inside, which control finds
 *
 * One whose return address is in its task's list (node.h) is free for another call when the kernel has put the node
 * back, too. A node that comes back while its instance is LIVE is of a task that has ended inside.
 *
 * Context of every function but those of control: a hit, with preemption off.
 */
#ifndef DP_KERNEL_FOLLOWED_H
#define DP_KERNEL_FOLLOWED_H

#include "port/kernel/node.h"
#include "port/kernel/returned.h"
#include <linux/types.h>

struct task_struct;

enum dp_followed_state {
	DP_FOLLOWED_FREE,
	DP_FOLLOWED_TAKEN,
	DP_FOLLOWED_LIVE
};

/**
 * struct dp_followed_pool - instances, which control has made
 * @n: how many, of @stride bytes, at @instances; @first: the stub of the first one
 * @hint: where a free one may be; @room: bytes behind each struct dp_followed
 * @listed: their return addresses are in the lists of tasks; @first is of no stub then
 * @ended: calls whose task has ended inside
 */
struct dp_followed_pool {
	u32 n, first, hint, room;
	size_t stride;
	u8 *instances;
	u64 ended;
	bool listed;
};

/** struct dp_followed - an instance; @room bytes of its user's follow
 *  @state: enum dp_followed_state; @task: which made the call, held where it has a stub */
struct dp_followed {
	struct dp_kernel_call call;
	struct dp_followed_pool *pool;
	u32 state, stub;
	struct task_struct *task;
	struct dp_node node;
};

static inline struct dp_followed *
dp_followed_at(const struct dp_followed_pool *pool, u32 i)
{
	return (void *)(pool->instances + i * pool->stride);
}

/** dp_followed_has_ended() - its task has, inside */
static inline void dp_followed_has_ended(struct dp_followed *f)
{
	__atomic_fetch_add(&f->pool->ended, 1, __ATOMIC_RELAXED);
}

/** dp_followed_take_node() - take one that is listed, if it is free */
static __always_inline bool dp_followed_take_node(struct dp_followed *f)
{
	if (!dp_node_take(&f->node))
		return false;
	if (unlikely(f->state == DP_FOLLOWED_LIVE))
		dp_followed_has_ended(f);
	f->state = DP_FOLLOWED_TAKEN;
	f->task = current;
	return true;
}

/** dp_followed_search() - dp_followed_take(), wherever a free one is */
struct dp_followed *dp_followed_search(struct dp_followed_pool *pool);

/** dp_followed_take() - Return: NULL: none is free */
static __always_inline struct dp_followed *
dp_followed_take(struct dp_followed_pool *pool)
{
	struct dp_followed *f = dp_followed_at(pool, READ_ONCE(pool->hint));

	return pool->listed && dp_compat_may_list() &&
			       dp_followed_take_node(f) ?
		       f :
		       dp_followed_search(pool);
}

/** dp_followed_begin_stub() - dp_followed_begin(), of one that has a stub */
void dp_followed_begin_stub(struct dp_followed *instance, unsigned long *slot);

/** dp_followed_begin() - follow the call; @slot: where its return address is */
static __always_inline void dp_followed_begin(struct dp_followed *f,
					      unsigned long *slot)
{
	if (f->pool->listed) {
		WRITE_ONCE(f->state, DP_FOLLOWED_LIVE);
		dp_node_link(&f->node, slot);
	} else {
		dp_followed_begin_stub(f, slot);
	}
}

/** dp_followed_give() - its call is not to be followed: it is free */
void dp_followed_give(struct dp_followed *instance);
/** dp_followed_give_stub() - its call has returned to its stub, or is not to be followed: it is free */
void dp_followed_give_stub(struct dp_followed *instance);

/** dp_followed_returned() - its call has: it is free, or will be when the kernel gives the node, which it reads until then */
static __always_inline void dp_followed_returned(struct dp_followed *f)
{
	if (f->pool->listed) {
		WRITE_ONCE(f->pool->hint, f->stub - f->pool->first);
		WRITE_ONCE(f->state, DP_FOLLOWED_FREE);
	} else {
		dp_followed_give_stub(f);
	}
}

/* Of control */

/** dp_followed_by_program() - what follows is a struct dp_exit_instance; the return is a hit. Context: the instance has not
 *  been taken yet */
void dp_followed_by_program(struct dp_followed *instance);
/** dp_followed_list() - its return address is to be in a list; @room: DP_NODE_ROOM bytes. Context: as before */
void dp_followed_list(struct dp_followed *instance, void *room);
/** dp_followed_settle() - free it if its task has ended inside, and its stack is nobody's any more
 *  Return: is it free now, or was it? Nothing of it is read any more then. */
bool dp_followed_settle(struct dp_followed *instance);
/** dp_followed_leave_dead() - take nodes out of the lists of tasks that have ended. The kernel does so when the task's parent
 *  has waited for it. */
void dp_followed_leave_dead(void);

#endif
