// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * there: a hit whose handler the tool has put into the process.
 *
 * It runs on a stack from a small pool, with all signals blocked but those that it
 * may raise itself, and with what it may change of vector state saved around it. One
 * that faults is left through dp_guard(), and its probe not called again.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/layout/site.h"
#include "engine/layout/handler.h"
#include "engine/hit/thread.h"
#include "arch/arch.h"
#include "port.h"

static struct dp_there *there_at(u32 i)
{
	return (void *)(dp_arena.control.there_base + (u64)i * DP_THERE_SIZE);
}

static bool is_off(u32 probe)
{
	return !__atomic_load_n(&dp_probe(probe)->enabled, __ATOMIC_SEQ_CST) ||
	       __atomic_load_n(&dp_probe_state(probe)->status,
			       __ATOMIC_SEQ_CST) &
		       DP_PROBE_REMOVED;
}

/* Who takes a probe away looks here for those that still run. */
struct dp_there *dp_there_begin(u32 probe)
{
	u32 from = dp_hit_cpu(), i, none;

	if (!dp_arena.control.there_base)
		return NULL;
	for (i = 0; i < DP_THERES; i++) {
		struct dp_there *there = there_at((from + i) % DP_THERES);

		none = 0;
		if (!__atomic_compare_exchange_n(
			    &there->probe, &none, probe + 1, false,
			    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			continue;
		if (!is_off(probe))
			return there;
		dp_there_end(there);
		break;
	}
	return NULL;
}

void dp_there_end(struct dp_there *there)
{
	__atomic_store_n(&there->probe, 0, __ATOMIC_RELEASE);
}

static void run(void *arg)
{
	struct dp_there *there = arg;
	u32 probe = there->probe - 1;
	const struct dp_probe_entry *p = dp_probe(probe);
	struct dp_given given;

	given = dp_guard(p->pre, p->user, (u64)there->regs, 0, &there->guard,
			 0);
	there->guard = 0;
	if (given.up)
		dp_call_give_up(probe);
}

void dp_there_call(struct dp_there *there, u64 x87)
{
	u64 needs = dp_probe(there->probe - 1)->pre_needs;

	if (needs == DP_STATE_ALL)
		needs = dp_arena.control.vectors;
	if (needs)
		dp_vectors_save(there->vectors, needs, x87);
	dp_call_on(there, run, (char *)there + DP_THERE_SIZE);
	if (needs)
		dp_vectors_restore(there->vectors, needs, x87);
}

bool dp_there_fault(struct dp_mcontext *regs)
{
	u64 base = dp_arena.control.there_base,
	    at = dp_mcontext_sp(regs) - base;
	struct dp_there *there;

	if (!base || at >= (u64)DP_THERES * DP_THERE_SIZE)
		return false;
	there = there_at((u32)(at / DP_THERE_SIZE));
	if (!there->guard)
		return false;
	dp_mcontext_set_pc(regs, (u64)dp_guard_up);
	dp_mcontext_set_sp(regs, there->guard);
	return true;
}
