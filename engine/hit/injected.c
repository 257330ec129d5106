// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * injected: a hit whose handler the tool has put into the process.
 *
 * The handler runs on a stack from a small pool. All signals are blocked but those that
 * it may raise itself. The vector state that it may change is saved around it. A
 * handler that faults is left through dp_guard(); its probe is not called again.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/layout/site.h"
#include "engine/layout/handler.h"
#include "engine/hit/thread.h"
#include "arch/arch.h"
#include "port.h"

static struct dp_injected *injected_at(u32 i)
{
	return (void *)(dp_arena.control.injected_base +
			(u64)i * DP_INJECTED_SIZE);
}

static bool is_off(u32 probe)
{
	return !__atomic_load_n(&dp_probe(probe)->enabled, __ATOMIC_SEQ_CST) ||
	       __atomic_load_n(&dp_probe_state(probe)->status,
			       __ATOMIC_SEQ_CST) &
		       DP_PROBE_REMOVED;
}

/* A tool that removes a probe looks here for handlers that still run. */
struct dp_injected *dp_injected_begin(u32 probe)
{
	u32 from = dp_hit_cpu(), i, none;

	if (!dp_arena.control.injected_base)
		return NULL;
	for (i = 0; i < DP_INJECTED_MAX; i++) {
		struct dp_injected *injected =
			injected_at((from + i) % DP_INJECTED_MAX);

		none = 0;
		if (!__atomic_compare_exchange_n(
			    &injected->probe, &none, probe + 1, false,
			    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			continue;
		if (!is_off(probe))
			return injected;
		dp_injected_end(injected);
		break;
	}
	return NULL;
}

void dp_injected_end(struct dp_injected *injected)
{
	__atomic_store_n(&injected->probe, 0, __ATOMIC_RELEASE);
}

static void run(void *arg)
{
	struct dp_injected *injected = arg;
	u32 probe = injected->probe - 1;
	const struct dp_probe_entry *p = dp_probe(probe);
	struct dp_given given;

	given = dp_guard(p->pre, p->user, (u64)injected->regs, 0,
			 &injected->guard, 0);
	injected->guard = 0;
	if (given.up)
		dp_call_give_up(probe);
}

void dp_injected_call(struct dp_injected *injected, u64 x87)
{
	u64 needs = dp_probe(injected->probe - 1)->pre_needs;

	if (needs == DP_STATE_ALL)
		needs = dp_arena.control.vectors;
	if (needs)
		dp_vectors_save(injected->vectors, needs, x87);
	dp_call_on(injected, run, (char *)injected + DP_INJECTED_SIZE);
	if (needs)
		dp_vectors_restore(injected->vectors, needs, x87);
}

bool dp_injected_fault(struct dp_mcontext *regs)
{
	u64 base = dp_arena.control.injected_base,
	    at = dp_mcontext_sp(regs) - base;
	struct dp_injected *injected;

	if (!base || at >= (u64)DP_INJECTED_MAX * DP_INJECTED_SIZE)
		return false;
	injected = injected_at((u32)(at / DP_INJECTED_SIZE));
	if (!injected->guard)
		return false;
	dp_mcontext_set_pc(regs, (u64)dp_guard_up);
	dp_mcontext_set_sp(regs, injected->guard);
	return true;
}
