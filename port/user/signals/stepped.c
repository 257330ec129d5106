// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stepped: the thread that a tool was bringing out of us, step by step, when it ended.
 *
 * The kernel leaves the trap flag of such a thread set, and its mask as it was for the
 * stepping. So the next instruction, or the end of the next system call, raises a SIGTRAP
 * that is nobody's. By making our frame for it the kernel has taken the flag away; what is
 * left to do is the mask. A tool that lives sees that trap before it comes here.
 *
 * An instruction that saves its flags may have saved that one, too. When we bring them back
 * it is set once more, and the kernel takes it for the thread's own. So the thread stays
 * noted until it is out of us, or that has happened.
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

/* A tool that lives sees to it that no frame has that mask. */
static bool unmask(const struct dp_stepped *s, struct dp_ucontext *uc)
{
	if (!dp_stepped_undoes(s, uc->sigmask))
		return false;
	uc->sigmask = s->mask;
	return true;
}

/* In whose flags, saved by us, the trap flag may still be? */
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
	/* The flag of a thread that steps by itself is in its frame. */
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
