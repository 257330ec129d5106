// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * detour: hits of sites that are armed with a jump.
 *
 * There is no signal and no system call. The thread calls the agent on its own stack,
 * and goes on in the detour.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/hit/program.h"
#include "engine/insn/callout.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/layout/site.h"
#include "arch/arch.h"
#include "port.h"

static bool is_mine(void)
{
	if (!dp_wipe.owner)
		dp_hit_leave(NULL);
	else if (!dp_hit_is_owners())
		__atomic_fetch_add(&dp_arena.hit.missed[DP_MISSED_FORK], 1,
				   __ATOMIC_RELAXED);
	else
		return true;
	return false;
}

/* The thread may be told that an instruction has completed. */
static bool is_hit(const struct dp_site_entry *site, u32 number,
		   const struct dp_hit *hit)
{
	if (!is_mine())
		return false;
	if (!(number & DP_CALLOUT_AFTER))
		return true;
	if (__atomic_load_n(&dp_arena.hit.pending, __ATOMIC_RELAXED))
		dp_pending_complete(site, hit);
	return false;
}

/* Signals may come meanwhile. */
static enum dp_goes run(const struct dp_site_entry *site, struct dp_hit *hit,
			bool counted)
{
	hit->alt_size = DP_ALT_UNKNOWN;
	hit->signals = true;
	dp_hit_know_stack(hit);
	return dp_dispatch_site(site, hit, counted);
}

void dp_detour_resume(struct dp_call_frame *frame)
{
	const struct dp_jump *j = dp_jump_of(dp_site_at(frame->number));

	dp_regs_set_pc(&frame->regs, frame->inner ?
					     frame->back + DP_CALLOUT_TAIL :
					     j->base + j->insn[0]);
}

void dp_detour_told(struct dp_call_frame *frame)
{
	dp_regs_set_pc(&frame->regs, dp_site_place(dp_regs_pc(&frame->regs)));
}

u64 dp_hit_detour(struct dp_call_frame *frame)
{
	u32 number = frame->number;
	const struct dp_site_entry *site =
		dp_site_at(number & DP_CALLOUT_INDEX);
	struct dp_hit hit = { .frame = frame };
	u64 *above = (u64 *)(frame + 1);

	if (number & DP_CALLOUT_TRACKED)
		hit.target = above++;
	hit.sp = (u64)above + DP_RED_ZONE;
	if (!is_hit(site, number, &hit))
		return 0;
	frame->number = number & DP_CALLOUT_INDEX;
	frame->inner = number & DP_CALLOUT_INNER;
	dp_regs_set_pc(&frame->regs, site->addr);
	dp_regs_set_sp(&frame->regs, hit.sp);
	if (run(site, &hit, !(number & DP_CALLOUT_UNCOUNTED)) ==
	    DP_GOES_AS_TOLD) {
		if (!dp_hit_is_apart(&hit))
			dp_detour_told(frame);
		return 1;
	}
	if (dp_regs_sp(&frame->regs) == hit.sp)
		return 0;
	dp_detour_resume(frame);
	return 1;
}

/* The call is made here, whatever a handler says. */
void dp_hit_observed(u32 number, struct dp_mcontext *mc)
{
	const struct dp_site_entry *site =
		dp_site_at(number & DP_CALLOUT_INDEX);
	struct dp_hit hit = { .mc = mc, .sp = dp_mcontext_sp(mc) };

	if (!is_hit(site, number, &hit))
		return;
	run(site, &hit, false);
	dp_mcontext_set_sp(mc, hit.sp);
}
