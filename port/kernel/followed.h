/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * followed: calls of a kernel's functions that are followed to their return.
 *
 *     entry ─► dp_followed_take() ─► dp_followed_begin(): the return address becomes the stub's
 *     ret ─► stub ─► returned.c ─► @over of struct dp_kernel_call ─► dp_followed_give()
 *
 *     FREE ─► TAKEN ─► LIVE ─► FREE     the call has returned, or is not to be followed
 *                      LIVE ─► FREE     its task has ended inside, which control finds
 *
 * Context of every function but dp_followed_is_dead(): a hit, with preemption off.
 */
#ifndef DP_KERNEL_FOLLOWED_H
#define DP_KERNEL_FOLLOWED_H

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
 */
struct dp_followed_pool {
	u32 n, first, hint, room;
	size_t stride;
	u8 *instances;
};

/** struct dp_followed - an instance; @room bytes of its user's follow
 *  @state: enum dp_followed_state; @task: which made the call */
struct dp_followed {
	struct dp_kernel_call call;
	struct dp_followed_pool *pool;
	u32 state, stub;
	struct task_struct *task;
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
/** dp_followed_is_dead() - has its task ended, so that its stack is nobody's any more? Context: any; the instance is
 *  LIVE */
bool dp_followed_is_dead(const struct dp_followed *instance);
/** dp_followed_by_program() - what follows is a struct dp_exit_instance; the return is a hit. Context: control, before the
 *  instance is taken */
void dp_followed_by_program(struct dp_followed *instance);

#endif
