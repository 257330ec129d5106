// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stepped: the thread that a tool was bringing out of us, step by step, when it ended.
 *
 * The kernel leaves the trap flag of such a thread set, and its mask as it was for the
 * stepping. So the next instruction, or the end of the next system call, raises a SIGTRAP
 * that is nobody's. By making our frame for it the kernel has taken the flag away; what is
 * left to do is the mask. A tool that lives sees that trap before it comes here.
 */
#include "engine/hit/hit.h"
#include "engine/arch/x86/flags.h"
#include "port_hit.h"

#define TRAP_BRKPT 1 /* at the end of a system call */
#define TRAP_TRACE 2

/* The flag of a thread that steps by itself is in its frame. */
static bool is_step(const struct dp_siginfo *info, const struct dp_ucontext *uc)
{
	return info->signo == DP_SIGTRAP &&
	       (info->code == TRAP_TRACE || info->code == TRAP_BRKPT) &&
	       !(uc->mc.eflags & DP_TF);
}

/* A tool that lives sees to it that no frame has that mask. */
static bool unmask(const struct dp_stepped *s, struct dp_ucontext *uc)
{
	if (!s->masked || uc->sigmask != s->masked || s->masked == s->mask)
		return false;
	uc->sigmask = s->mask;
	return true;
}

bool dp_stepped_end(const struct dp_siginfo *info, struct dp_ucontext *uc)
{
	struct dp_stepped *s = &dp_private.stepped;
	bool step = is_step(info, uc);

	if (!s->thread || s->thread != dp_mask_thread())
		return false;
	if (unmask(s, uc) || step)
		s->thread = 0;
	return step;
}
