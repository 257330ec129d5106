// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* observe: call-outs of intercepted system calls that are made in place. */
#include "engine/hit/hit.h"
#include "engine/insn/callout.h"
#include "engine/layout/private.h"
#include "engine/layout/site.h"
#include "port/user/signals/intercept.h"
#include "arch/arch.h"
#include "port.h"

/* The frame has no pc and no stack pointer. */
static struct dp_mcontext *regs_of(struct dp_observed_frame *frame,
				   const struct dp_site_entry *site)
{
	struct dp_mcontext *regs = (void *)frame->regs;

	dp_mcontext_set_pc(regs, site->addr);
	dp_mcontext_set_sp(regs, (u64)(frame + 1) + DP_RED_ZONE);
	return regs;
}

/* If the call was answered here, skip it and its second call-out. */
static void observe(struct dp_observed_frame *frame,
		    const struct dp_site_entry *site)
{
	const struct dp_jump *j = dp_jump_of(site);
	u32 what = frame->number & (DP_CALLOUT_AFTER | DP_CALLOUT_CALLS);

	if (site->first_probe && !what && dp_wipe.owner && dp_hit_is_owners())
		dp_hit_observed(frame->number, regs_of(frame, site));
	if (site->number == DP_PLAIN_CALL && !what)
		return;
	if (dp_intercept_observe(site, regs_of(frame, site),
				 frame->number & DP_CALLOUT_AFTER))
		frame->back = j->base + j->at[j->nr] - DP_CALLOUT_TAIL;
}

/* Probes on other instructions of the intercept are no business of the call. */
void dp_intercept_detour(struct dp_observed_frame *frame)
{
	const struct dp_site_entry *site =
		dp_site_at(frame->number & DP_CALLOUT_INDEX);

	if (site->intercept == DP_INTERCEPT_OBSERVED)
		observe(frame, site);
	else
		dp_hit_observed(frame->number, regs_of(frame, site));
}
