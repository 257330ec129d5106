// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* plan: the copies of a site, computed before a byte of the target's text changes. */
#include "arch/arch.h"
#include "engine/insn/detour.h"
#include "engine/layout/site.h"
#include "engine/plan/copy.h"
#include "engine/plan/jump.h"
#include "engine/plan/plan.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

/* A jump to the detour, or to its island, whose jump is written too. */
static int make_jump(struct dp_engine *e, const struct dp_site *s,
		     const struct dp_jump *j, struct dp_site_entry *entry)
{
	u64 detour = j->base + j->start;
	u64 to = s->island ? s->island : detour;
	u32 i;

	entry->patch_len = (u8)dp_emit_jmp(entry->patch, s->addr, to);
	for (i = e->batch.pool; s->island && i < e->need.nr_pools; i++) {
		const struct dp_pool_need *p = &e->need.pools[i];

		if (s->island - p->addr < p->size &&
		    !dp_emit_jmp(p->code + (s->island - p->addr), s->island,
				 detour))
			return -ENOMEM;
	}
	return entry->patch_len ? 0 : -ENOMEM;
}

static int plan_trap(const struct dp_site *s, struct dp_site_entry *entry,
		     struct dp_pool_need *cur)
{
	int err;

	entry->copy = entry->single = cur->addr + cur->used;
	err = dp_entry_copy(s, entry, cur->code + cur->used);
	cur->used += entry->copy_len;
	if (!err && dp_site_needs_post(s)) {
		entry->post = cur->addr + cur->used;
		err = dp_entry_post(s, entry, cur->code + cur->used);
		cur->used += entry->post_len;
	}
	entry->mode = DP_MODE_TRAP;
	entry->patch[0] = DP_BREAKPOINT;
	entry->patch_len = 1;
	return err;
}

/* Plan the site at place @i. A site that another's jump covers has been planned with
 * that jump. */
static int plan_jump(struct dp_engine *e, u32 i, struct dp_site_entry *entry,
		     struct dp_pool_need *cur)
{
	const struct dp_site *s = dp_order_site(e, i);
	struct dp_jump *j = &e->view.jumps[i + 1];
	u32 used = (cur->used + DP_DETOUR_ALIGN - 1) &
		   ~(u32)(DP_DETOUR_ALIGN - 1);
	int err;

	entry->mode = DP_MODE_JUMP;
	if (s->leader)
		return 0;
	if (s->intercept >= 0) {
		entry->intercept = s->observed ? DP_INTERCEPT_OBSERVED :
						 DP_INTERCEPT_MADE;
		entry->number = (u32)s->intercept;
	}
	entry->jump = i + 1;
	entry->traps = s->traps;
	err = dp_jump_plan(e, i, j, cur->addr + used, cur->code + used,
			   cur->addr, e->map.intercept_entry);
	cur->used = used + j->len;
	return err ? err : make_jump(e, s, j, entry);
}

int dp_plan_site(struct dp_engine *e, u32 i, struct dp_site_entry *entry)
{
	const struct dp_site *s = dp_order_site(e, i);
	struct dp_pool_need *cur = &e->need.pools[s->pool];

	if (cur->used + 2 * DP_COPY_MAX + DP_DETOUR_ALIGN + DP_DETOUR_MAX >
	    cur->size)
		return -ENOMEM;
	dp_entry_begin(s, entry);
	entry->wanted = DP_WANT_PLAN;
	if (s->mode == DP_MODE_JUMP)
		return plan_jump(e, i, entry, cur);
	return plan_trap(s, entry, cur);
}
