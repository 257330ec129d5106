// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * trap: what a breakpoint of ours, or somebody else's, leads to.
 *
 *   int3 at a site ──► kernel ──► dp_trap_entry ──► dp_hit_trap
 *                                                     │ site? count, pc = copy
 *                                                     │ else dp_foreign_trap
 *   copy runs, jumps back behind the site ◄── sigreturn
 *
 * Nothing is single-stepped and the site keeps its breakpoint throughout, so no
 * other thread can run past it unseen. A site's record stays as long as the
 * agent does: a thread that trapped just before the byte went back is still
 * recognised.
 */
#include "engine/hit/hit.h"
#include "port_hit.h"

static const void *at(u32 offset)
{
	return (const char *)&dp_arena + offset;
}

const struct dp_site_entry *dp_site_lookup(u64 addr)
{
	const struct dp_arena_control *c = &dp_arena.control;
	const struct dp_site_entry *sites = at(c->site_off);
	const u32 *slots = at(c->hash_off);
	u32 i = dp_site_hash(addr) & c->hash_mask;

	if (!c->nr_sites)
		return NULL;
	for (; slots[i]; i = (i + 1) & c->hash_mask)
		if (sites[slots[i] - 1].addr == addr)
			return &sites[slots[i] - 1];
	return NULL;
}

enum dp_who dp_hit_who(void)
{
	if (!dp_wipe.owner)
		return DP_WHO_CHILD;
	return dp_wipe.owner == dp_port_pid() ? DP_WHO_OWNER : DP_WHO_SHARER;
}

bool dp_hit_leave(void)
{
	const struct dp_arena_control *c = &dp_arena.control;
	struct dp_kernel_sigaction action;
	u32 i;

	if (!c->revertible)
		return false;
	for (i = 0; i < c->nr_texts; i++)
		if (dp_port_drop(c->texts[i].start, c->texts[i].size))
			return false;
	dp_action_get(&action);
	dp_port_sigaction(&action);
	return true;
}

u64 dp_hit_trap(struct dp_siginfo *info, struct dp_ucontext *uc)
{
	const struct dp_site_entry *site = NULL;
	u64 pc = uc->mc.rip - 1;

	if (info->code == DP_SI_KERNEL)
		site = dp_site_lookup(pc);
	if (!site)
		return dp_foreign_trap(info, uc);

	uc->mc.rip = site->copy;
	switch (dp_hit_who()) {
	case DP_WHO_OWNER:
		dp_dispatch_site(site);
		break;
	case DP_WHO_CHILD:
		if (dp_hit_leave())
			uc->mc.rip = pc;
		break;
	case DP_WHO_SHARER:
		__atomic_fetch_add(&dp_arena.hit.missed[DP_MISSED_FORK], 1,
				   __ATOMIC_RELAXED);
		break;
	}
	return 0;
}
