// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * detour: hits of sites that are armed with a jump.
 *
 * There is no signal and no system call. The thread calls the agent on its own stack,
 * and goes on in the detour.
 */
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "engine/layout/private.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/hit/program.h"
#include "arch/arch.h"
#include "port.h"
#include "engine/insn/callout.h"

/* The frame has no pc and no stack pointer. */
static struct dp_mcontext *regs_of(struct dp_detour_frame *frame,
				   const struct dp_site_entry *site)
{
	struct dp_mcontext *regs = (void *)frame->regs;

	dp_mcontext_set_pc(regs, site->addr);
	dp_mcontext_set_sp(regs, (u64)(frame + 1) + DP_RED_ZONE);
	return regs;
}

static void hit(struct dp_detour_frame *frame, const struct dp_site_entry *site)
{
	struct dp_hit hit = { .regs = regs_of(frame, site),
			      .alt_size = DP_ALT_UNKNOWN,
			      .signals = true };

	if (site->calls) {
		dp_call_mcontext(site, hit.regs);
		return;
	}
	dp_hit_know_stack(&hit);
	dp_dispatch_site(site, &hit);
}

/* An observed system call. If it was answered here, skip it and its second call-out. */
static void watch(struct dp_detour_frame *frame,
		  const struct dp_site_entry *site)
{
	const struct dp_jump *j = dp_jump_of(site);
	u32 what = frame->number & (DP_CALLOUT_AFTER | DP_CALLOUT_CALLS);

	if (site->first_probe && !what && dp_wipe.owner && dp_hit_is_owners())
		hit(frame, site);
	if (site->number == DP_PLAIN_CALL && !what)
		return;
	if (dp_intercept_observe(site, regs_of(frame, site),
				 frame->number & DP_CALLOUT_AFTER))
		frame->back = j->base + j->at[j->nr] - DP_CALLOUT_TAIL;
}

void dp_detour_hit(struct dp_detour_frame *frame)
{
	const struct dp_site_entry *site = dp_site_at(
		frame->number & ~(DP_CALLOUT_AFTER | DP_CALLOUT_CALLS));

	if (site->intercept == DP_INTERCEPT_OBSERVED)
		watch(frame, site);
	else if (!dp_wipe.owner)
		dp_hit_leave(NULL);
	else if (!dp_hit_is_owners())
		__atomic_fetch_add(&dp_arena.hit.missed[DP_MISSED_FORK], 1,
				   __ATOMIC_RELAXED);
	else if (!(frame->number & DP_CALLOUT_AFTER))
		hit(frame, site);
	else if (__atomic_load_n(&dp_arena.hit.pending, __ATOMIC_RELAXED))
		dp_pending_complete(site);
}
