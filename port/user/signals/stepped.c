// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stepped: a thread that the tool was stepping out of the agent when the tool ended.
 *
 * The kernel leaves the thread its trap flag and the mask that it had for the stepping. So
 * the next instruction, or the end of the next system call, raises a SIGTRAP that is not the
 * program's. The kernel clears the flag when it makes the signal frame; the mask is restored
 * here. While the tool lives, the tool sees that trap first.
 *
 * Agent code may have saved the flags with the trap flag in them. Restoring them sets the
 * flag again, and the kernel takes it for the thread's own. So the thread stays noted until
 * it is out of the agent, or that trap has come.
 */
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "port/user/signals/mask.h"
#include "port/user/signals/trap.h"
#include "port.h"
#include "port_hit.h"

#define TRAP_BRKPT 1 /* at the end of a system call */
#define TRAP_TRACE 2

static bool is_step(const struct dp_siginfo *info)
{
	return info->signo == DP_SIGTRAP &&
	       (info->code == TRAP_TRACE || info->code == TRAP_BRKPT);
}

/* While the tool lives it lets no signal frame have the mask of the stepping. */
static bool unmask(const struct dp_stepped *s, struct dp_ucontext *uc)
{
	if (!dp_stepped_undoes(s, uc->sigmask))
		return false;
	uc->sigmask = s->mask;
	return true;
}

/* Is a thread at @pc in a detour or in the agent, where saved flags may have the trap flag? */
static bool is_inside(u64 pc)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u32 i;

	for (i = 0; i < c->nr_pools && i < DP_MAX_POOLS; i++)
		if (pc - c->pools[i].start < c->pools[i].size)
			return true;
	return dp_trap_inside(pc);
}

bool dp_stepped_end(const struct dp_siginfo *info, struct dp_ucontext *uc)
{
	struct dp_stepped *s = &dp_private.stepped;
	bool again = uc->mc.eflags & DP_TF, step = is_step(info);

	if (!s->thread || s->thread != dp_mask_thread())
		return false;
	/* A thread that steps by itself has the trap flag in its frame. */
	if (again && s->own)
		step = false;
	if (unmask(s, uc) || step)
		s->masked = 0;
	if (!step)
		return false;
	uc->mc.eflags &= ~(u64)DP_TF;
	if (again || !is_inside(uc->mc.rip))
		s->thread = 0;
	return true;
}
