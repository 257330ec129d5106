// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * trap: hits of sites that are armed with a breakpoint.
 *
 *   breakpoint at a site ──► kernel, port ──► dp_trap_hit(): dispatch, pc = copy
 *   copy runs, jumps back behind the site ◄── the thread goes on
 *
 * Where a record has to wait for the instruction, the pc goes to a second copy with a
 * breakpoint behind the instruction. That trap commits the record.
 *
 * Nothing is single-stepped and the site keeps its breakpoint throughout. So no other
 * thread can run past it unseen.
 */
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/hit/program.h"
#include "arch/arch.h"
#include "port.h"

/* The most that the kernel writes below a stack pointer */
#define FRAME_MAX 16384

void dp_hit_of_trap(struct dp_hit *hit, struct dp_trap *trap)
{
	u64 sp = dp_mcontext_sp(trap->regs);

	hit->frame = NULL;
	hit->target = NULL;
	hit->trap = trap;
	hit->mc = trap->regs;
	hit->sp = sp;
	hit->low = hit->high = hit->before = 0;
	hit->fpstate = dp_mcontext_vectors(trap->regs);
	hit->signals = hit->waits = hit->halts = hit->left = false;
	hit->alt_sp = trap->alt_sp;
	hit->alt_size = trap->alt_size;
	if (trap->at < sp && sp - trap->at <= FRAME_MAX)
		dp_hit_know_stack(hit);
}

static void dispatch(const struct dp_site_entry *site, struct dp_trap *trap)
{
	struct dp_hit hit;
	enum dp_goes goes;

	dp_hit_of_trap(&hit, trap);
	goes = dp_dispatch_site(site, &hit, false);
	if (goes != DP_GOES_AS_TOLD)
		dp_mcontext_set_pc(trap->regs, dp_site_copy(site, hit.waits));
	else if (!dp_hit_is_apart(&hit))
		dp_mcontext_set_pc(trap->regs,
				   dp_site_place(dp_mcontext_pc(trap->regs)));
}

static void hit(const struct dp_site_entry *site, struct dp_trap *trap)
{
	dp_mcontext_set_pc(trap->regs, site->addr);
	switch (dp_hit_who()) {
	case DP_WHO_OWNER:
		dispatch(site, trap);
		break;
	case DP_WHO_CHILD:
		if (!dp_hit_leave(trap->mask))
			dp_mcontext_set_pc(trap->regs, site->copy);
		break;
	case DP_WHO_VM_CHILD:
		__atomic_fetch_add(&dp_arena.hit.missed[DP_MISSED_FORK], 1,
				   __ATOMIC_RELAXED);
		dp_mcontext_set_pc(trap->regs, site->copy);
		break;
	}
}

/* Count a trap inside a jump: for the site that is there, if it has probes, or else for
 * the jump's site. Children are not counted. */
static void count_middle(const struct dp_site_entry *site)
{
	if (dp_hit_who() != DP_WHO_OWNER)
		return;
	__atomic_fetch_add(&dp_arena.hit.interior_arrivals, 1,
			   __ATOMIC_RELAXED);
	if (site->first_probe)
		dp_tally(site->first_probe - 1, DP_TALLY_MIDDLE);
}

/* A thread has come to an inner instruction of a region: by a branch, or because it was
 * within the region when the jump was written. If the jump has gone since, so has the
 * breakpoint. A fork child has its own text, which is not what the site says. */
static void interior_arrival(const struct dp_site_entry *site, int insn,
			     struct dp_trap *trap)
{
	const struct dp_jump *j = dp_jump_of(site);

	dp_mcontext_set_pc(trap->regs, site->addr + j->offset[insn]);
	if (!dp_wipe.owner && dp_hit_leave(trap->mask))
		return;
	if (!dp_site_jumps(site) && dp_hit_who() == DP_WHO_OWNER)
		return;
	dp_mcontext_set_pc(trap->regs, j->base + j->at[insn]);
}

/* The breakpoint behind the second copy: the instruction has completed. */
static void completed(const struct dp_site_entry *site, struct dp_trap *trap)
{
	struct dp_hit hit;

	if (dp_hit_who() != DP_WHO_OWNER) {
		dp_mcontext_set_pc(trap->regs, site->addr + site->insn_len);
		return;
	}
	if (__atomic_load_n(&dp_arena.hit.pending, __ATOMIC_RELAXED)) {
		dp_hit_of_trap(&hit, trap);
		dp_pending_complete(site, &hit);
	}
	if (site->calls)
		dp_call_after(site, trap);
}

bool dp_trap_hit(struct dp_trap *trap, u64 pc, bool breakpoint)
{
	const struct dp_site_entry *site, *around;

	site = dp_site_trapped(pc, breakpoint, &around);
	if (!site)
		return breakpoint && dp_swap_trapped(trap, pc);
	/* Walks of stacks tell a breakpoint that has been looked at. */
	dp_mcontext_look(trap->regs);
	if (around)
		count_middle(site);
	if (pc == site->addr)
		hit(site, trap);
	else if (around)
		interior_arrival(site, dp_site_boundary(site, pc), trap);
	else
		completed(site, trap);
	return true;
}

/* Return: false: the engine itself has accessed the data. */
static bool show_own_pc(struct dp_mcontext *mc)
{
	u64 pc = dp_mcontext_pc(mc), own;

	if (pc - dp_arena.control.base < DP_AGENT_TEXT)
		return false;
	if (!dp_copy_behind(pc, &own))
		return false;
	dp_mcontext_set_pc(mc, own);
	return true;
}

/* Another thread may have unmapped it. Apart, because its frame is not needed for long. */
static __attribute__((__noinline__)) u64
last_seen(const struct dp_site_entry *site, u32 probe)
{
	u64 *last = &dp_probe_state(probe)->last, now = 0;

	if (dp_port_read(&now, site->addr, site->watch_len) != site->watch_len)
		return __atomic_load_n(last, __ATOMIC_RELAXED);
	return __atomic_exchange_n(last, now, __ATOMIC_RELAXED);
}

/* Another probe may be there by now, or none. */
static bool is_watched(const struct dp_site_entry *site, u32 tag)
{
	return dp_site_index(site) < dp_arena.control.nr_sites && site->watch &&
	       site->watch_serial == tag >> DP_WATCH_INDEX_BITS;
}

void dp_trap_watched(struct dp_trap *trap, u32 tag)
{
	u64 pc = dp_mcontext_pc(trap->regs);
	const struct dp_site_entry *site =
		dp_site_at(tag & ((1u << DP_WATCH_INDEX_BITS) - 1));
	struct dp_hit hit;
	u32 first;

	if (!is_watched(site, tag) || dp_hit_who() != DP_WHO_OWNER)
		return;
	/* Read once: the probe may be taken away at any time. */
	first = __atomic_load_n(&site->first_probe, __ATOMIC_ACQUIRE);
	if (!first || !show_own_pc(trap->regs))
		return;
	dp_hit_of_trap(&hit, trap);
	hit.before = last_seen(site, first - 1);
	dp_dispatch_site(site, &hit, false);
	dp_mcontext_set_pc(trap->regs, pc);
}

bool dp_trap_returned(struct dp_trap *trap)
{
	return dp_mcontext_pc(trap->regs) ==
		       (u64)dp_jprobe_return + DP_BREAKPOINT_BEHIND &&
	       dp_jprobe_leave(trap);
}
