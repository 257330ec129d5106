// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* instance: take and free instances: see instance.h. */
#include "engine/layout/instance.h"
#include "engine/layout/handler.h"
#include "engine/instance/instance.h"

/* An instance that this thread has and that has no call: the thread was interrupted for
 * good. */
static bool claim(struct dp_instance *ri, struct dp_stack *stack)
{
	u32 mine = stack->tid | DP_INSTANCE_NEW;
	u32 was = __atomic_load_n(&ri->used, __ATOMIC_RELAXED);

	if (was)
		return was == mine && !dp_instance_is_inside(ri);
	return __atomic_compare_exchange_n(&ri->used, &was, mine, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

struct dp_instance *dp_instance_search(struct dp_instance_pool *f,
				       struct dp_stack *stack)
{
	u32 i = *dp_instance_hint(stack, f), left;

	if (i >= f->nr)
		i = 0;
	for (left = f->nr; left; left--) {
		struct dp_instance *ri = dp_instance_at(f, i);

		i = i + 1 == f->nr ? 0 : i + 1;
		if (claim(ri, stack)) {
			stack->instance = (u64)ri;
			*dp_instance_hint(stack, f) = i;
			return ri;
		}
	}
	return NULL;
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
