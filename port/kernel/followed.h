/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * followed: calls of a kernel's functions that are followed to their return.
 *
 *     entry ─► dp_followed_take() ─► dp_followed_begin(): the return address becomes the stub's, or the trampoline's
 *     ret ─► stub, or trampoline ─► returned.c ─► @over of struct dp_kernel_call ─► dp_followed_give()
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

/** dp_followed_take() - Return: NULL: none is free */
struct dp_followed *dp_followed_take(struct dp_followed_pool *pool);
/** dp_followed_begin() - follow the call; @slot: where its return address is */
void dp_followed_begin(struct dp_followed *instance, unsigned long *slot);
/** dp_followed_give() - it is free */
void dp_followed_give(struct dp_followed *instance);

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
