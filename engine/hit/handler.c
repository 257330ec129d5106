// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * handler: call a handler.
 *
 * A handler that faults is left through dp_guard(); its probe is not called again.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/hit/thread.h"
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/handler.h"
#include "engine/layout/site.h"

static s32 *errno_of(void)
{
	return (s32 *)(dp_hit_thread() +
		       (u64)(s64)dp_arena.control.errno_offset);
}

void dp_call_give_up(u32 probe)
{
	const struct dp_site_entry *site = dp_site_at(dp_probe(probe)->site);

	__atomic_fetch_or(&dp_probe_state(probe)->status, DP_PROBE_FAULTED,
			  __ATOMIC_RELAXED);
	/* From now on the general path checks the probe. In another process there is no
	 * fast path. */
	if (dp_arena.control.self_offset)
		__atomic_store_n((u64 *)&site->fast, 0, __ATOMIC_RELAXED);
	dp_tally(probe, DP_TALLY_FAULTED);
	__atomic_fetch_add(&dp_arena.hit.news, 1, __ATOMIC_RELEASE);
}

static u64 guarded(struct dp_stack *stack, u32 probe, u64 handler, u64 a, u64 b,
		   u64 via)
{
	struct dp_given given;
	u64 before = stack->guard;
	u32 outer = stack->probe;

	stack->probe = probe + 1;
	given = dp_guard(handler, a, b, 0, &stack->guard, via);
	stack->guard = before;
	stack->probe = outer;
	if (!given.up)
		return given.value;
	dp_call_give_up(probe);
	return 0;
}

u64 dp_call_handler(struct dp_stack *stack, u32 probe, u64 handler, u64 a,
		    u64 b, u8 needs)
{
	u64 level = needs != DP_STATE_ALL ? needs : dp_arena.control.vectors;
	u64 x87 = stack->x87, value;
	bool knows_errno = dp_arena.control.errno_offset;
	s32 error;

	/* A handler that needs so little does not look at the stack. */
	if (!needs)
		return guarded(stack, probe, handler, a, b, 0);
	error = knows_errno ? *errno_of() : 0;
	dp_vectors_save(stack->vectors, level, x87);
	value = guarded(stack, probe, handler, a, b,
			stack->after ? dp_arena.control.handler_after :
				       dp_arena.control.handler_before);
	dp_vectors_restore(stack->vectors, level, x87);
	if (knows_errno)
		*errno_of() = error;
	return value;
}
