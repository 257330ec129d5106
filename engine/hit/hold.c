// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hold: a thread that asks for a core dump waits until the tool has copied its stack; one that asks
 * for a debugger, until the tool lets it go back to its instruction.
 *
 *   thread  takes the place, leaves its registers there, commits its record, waits
 *   tool    reads the record, copies, empties the place, wakes
 *        or reads the record, says that the thread halts, empties the place, leads it out
 *
 * One thread at a time has the place; others wait for it before they commit theirs. Nobody waits for
 * much longer than a second: a thread that has been killed leaves the place taken, and a tool may be
 * stopped, or busy with a large file. Then the thread goes on, and the tool finds another's number there.
 */
#include "engine/hit/hit.h"
#include "engine/hit/program.h"
#include "engine/layout/arena.h"
#include "port.h"

#define SLICE_MS 10
#define MOST_MS 1000

static bool is_served(void)
{
	const struct dp_arena_control *c = &dp_arena.control;

	return c->core_holds &&
	       !(__atomic_load_n(&c->tool_futex, __ATOMIC_RELAXED) &
		 DP_TOOL_DIED) &&
	       !__atomic_load_n(&dp_private.leaving, __ATOMIC_RELAXED);
}

static void nap(void)
{
	const u32 *served = &dp_arena.control.core_served;

	dp_port_wait(served, __atomic_load_n(served, __ATOMIC_ACQUIRE),
		     SLICE_MS);
}

static bool take(u32 tid)
{
	u32 none = 0;

	return __atomic_compare_exchange_n(&dp_arena.hit.core_tid, &none, tid,
					   false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* A stop of the thread ends a nap early, so it is no measure of time. */
static bool is_over(u64 since)
{
	u64 now = dp_port_now();

	return !now || now - since >= MOST_MS;
}

/* At an intercepted call there is no way back to the instruction. */
static bool is_wanted(u8 facility, const struct dp_hit *hit)
{
	if (facility == DP_FACILITY_DEBUGGER)
		return hit->frame || hit->trap;
	return facility == DP_FACILITY_CORE;
}

bool dp_hold_begin(const struct dp_context *ctx, const struct dp_hit *hit)
{
	struct dp_arena_hit *h = &dp_arena.hit;
	u64 since;

	if (!is_wanted(ctx->vm.facility, hit) || !is_served())
		return false;
	for (since = dp_port_now(); !take(ctx->tid); nap()) {
		if (!is_served())
			return false;
		if (!is_over(since))
			continue;
		__atomic_store_n(&h->core_tid, ctx->tid, __ATOMIC_RELAXED);
		break;
	}
	dp_bytes_copy(&h->core_regs, ctx->vm.regs, sizeof(h->core_regs));
	h->core_fpstate = hit->fpstate;
	return true;
}

void dp_hold_end(const struct dp_context *ctx)
{
	u32 *tid = &dp_arena.hit.core_tid, mine = ctx->tid;
	u64 since = dp_port_now();

	while (is_served() && !is_over(since) &&
	       __atomic_load_n(tid, __ATOMIC_ACQUIRE) == mine)
		nap();
	__atomic_compare_exchange_n(tid, &mine, 0, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	if (ctx->vm.facility == DP_FACILITY_DEBUGGER &&
	    __atomic_load_n(&dp_arena.control.halted_tid, __ATOMIC_ACQUIRE) ==
		    ctx->tid)
		((struct dp_hit *)ctx->hit)->halts = true;
}
