// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * instance: take and free instances: see instance.h.
 *
 * A thread whose calls are usual ones (arch/x86/pairs.S) reserves the instances that they have had. It takes
 * them again by plain stores, and other threads leave them alone:
 *
 *	its owner:	held = 1; is the pool shared? then held = 0, and as other threads do
 *	another:	the pool is shared; a barrier in all threads; held? then it is in use
 *
 * pairs.S reserves an instance whose call has returned, and whose frame is bound to it, and takes it without
 * looking at the frame. So all code that ends a call in another way, or takes the frame, ends the
 * reservation too.
 *
 * A thread does that which finds no other instance, once for a pool: from then on all instances are all
 * threads'. Whichever comes first sees the other's word, so each call has an instance if there is one.
 */
#include "engine/layout/instance.h"
#include "engine/layout/handler.h"
#include "engine/instance/instance.h"
#include "port.h"

static bool exchange(struct dp_instance *ri, u32 was, u32 is)
{
	return __atomic_compare_exchange_n(&ri->used, &was, is, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static bool is_held(const struct dp_instance *ri)
{
	return __atomic_load_n(&ri->held, __ATOMIC_ACQUIRE);
}

static bool is_others(u32 used, const struct dp_stack *stack)
{
	return used & DP_INSTANCE_RESERVED &&
	       (used & ~DP_INSTANCE_RESERVED) != stack->tid;
}

/* Free, this thread's own, or any thread's by now. One that this thread has and that has no call: the
 * thread was interrupted for good. */
static bool claim(const struct dp_instance_pool *f, struct dp_instance *ri,
		  struct dp_stack *stack)
{
	u32 mine = stack->tid | DP_INSTANCE_NEW;
	u32 was = __atomic_load_n(&ri->used, __ATOMIC_RELAXED);
	bool shares = __atomic_load_n(&f->shared, __ATOMIC_ACQUIRE) ==
		      DP_POOL_SHARES;

	if (!was)
		return exchange(ri, was, mine);
	if (was & DP_INSTANCE_RESERVED)
		return (shares || !is_others(was, stack)) && !is_held(ri) &&
		       exchange(ri, was, mine);
	return was == mine && !dp_instance_is_inside(ri);
}

static struct dp_instance *scan(const struct dp_instance_pool *f,
				struct dp_stack *stack)
{
	u32 i = *dp_instance_hint(stack, f), left;

	if (i >= f->nr)
		i = 0;
	for (left = f->nr; left; left--) {
		struct dp_instance *ri = dp_instance_at(f, i);

		i = i + 1 == f->nr ? 0 : i + 1;
		if (claim(f, ri, stack)) {
			stack->instance = (u64)ri;
			*dp_instance_hint(stack, f) = i;
			return ri;
		}
	}
	return NULL;
}

/* Return: true: other threads have had reserved instances that they do not use. */
static bool revoke(struct dp_instance_pool *f, const struct dp_stack *stack)
{
	u32 shared = DP_POOL_RESERVES, i;
	bool idle = false;

	for (i = 0; i < f->nr && !idle; i++) {
		const struct dp_instance *ri = dp_instance_at(f, i);

		idle = is_others(ri->used, stack) && !is_held(ri);
	}
	if (!idle)
		return false;
	__atomic_compare_exchange_n(&f->shared, &shared, DP_POOL_REVOKES, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	if (shared == DP_POOL_SHARES)
		return true;
	if (!dp_port_barrier())
		return false;
	__atomic_store_n(&f->shared, DP_POOL_SHARES, __ATOMIC_RELEASE);
	return true;
}

struct dp_instance *dp_instance_search(struct dp_instance_pool *f,
				       struct dp_stack *stack)
{
	struct dp_instance *ri = scan(f, stack);

	return ri || !revoke(f, stack) ? ri : scan(f, stack);
}

struct dp_instance *dp_instance_take(struct dp_instance_pool *f,
				     struct dp_stack *stack)
{
	struct dp_instance *ri;

	if (f->nr <= DP_INSTANCE_SCAN)
		return dp_instance_search(f, stack);
	/* A thread that passes this check finds an instance, nearly always. */
	if (__atomic_load_n(&f->away, __ATOMIC_RELAXED) >= (s64)f->nr)
		return NULL;
	ri = dp_instance_search(f, stack);
	if (ri)
		__atomic_fetch_add(&f->away, 1, __ATOMIC_RELAXED);
	return ri;
}

struct dp_instance *dp_instance_next(struct dp_stack *stack)
{
	struct dp_instance *ri = dp_instance_ptr(stack->rest);

	stack->instance = (u64)ri;
	if (!ri)
		return NULL;
	dp_barrier();
	stack->rest = ri->next;
	ri->used = stack->tid;
	return ri;
}

/* The thread notes the instance before it claims it. */
bool dp_instance_claim(struct dp_stack *stack, struct dp_instance *ri)
{
	u32 followed = DP_INSTANCE_AT_SLOT;

	stack->instance = (u64)ri;
	dp_barrier();
	if (__atomic_compare_exchange_n(&ri->used, &followed, stack->tid, false,
					__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return true;
	stack->instance = 0;
	return false;
}

void dp_instance_fill(struct dp_instance *ri, struct dp_stack *stack,
		      const struct dp_instance_pool *f, u64 back)
{
	u64 (*get)(void) = (void *)dp_arena.control.task;
	u64 *data = (u64 *)(ri + 1), *end = data + (f->data_size + 7) / 8;

	/* The task does not change while the thread lives. */
	if (!stack->task && get)
		stack->task = get();
	ri->task = stack->task;
	ri->ret_addr = back;
	ri->next = 0;
	ri->ending = DP_CALL_ABANDONED;
	/* The stride is whole words. */
	while (data < end) {
		*data++ = 0;
		dp_barrier();
	}
}
