// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * foreign: caught signals that belong to the program.
 *
 * The program must see them as if there were no agent. Its handler gets the frame that the
 * kernel made for the agent's, and leaves through its own restorer. The handler's mask is what
 * the kernel would have set, without the caught signals. Without a handler the program dies of
 * the signal with the registers it had.
 */
#include "engine/layout/base.h"
#include "engine/layout/marks.h"
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "port/user/signals/mask.h"
#include "port/user/signals/trap.h"
#include "port/user/signals/masked_wait.h"
#include "arch/arch.h"
#include "port.h"
#include "port_hit.h"

/* Of a perf event that the program has opened: such a trap waits where it is blocked. */
static bool is_events(const struct dp_siginfo *info)
{
	return info->signo == DP_SIGTRAP && info->code == DP_TRAP_PERF;
}

/* Raised by an instruction */
static bool is_forced(const struct dp_siginfo *info)
{
	return info->code > 0 && !is_events(info);
}

/* An instruction that raises a blocked signal ends the process without a system call: the
 * program's own instruction again or, after another cause, a breakpoint of the agent. */
static void die_trapped(const struct dp_siginfo *info, struct dp_ucontext *uc)
{
	uc->sigmask |= DP_SIGMASK(info->signo);
	/* A fault's pc is at its instruction, a trap's is behind. */
	if (info->signo != DP_SIGTRAP && info->code > 0)
		return;
	uc->sigmask |= DP_SIGMASK(DP_SIGTRAP);
	if (info->signo == DP_SIGTRAP && info->code == DP_SI_KERNEL &&
	    ((const u8 *)uc->mc.rip)[-1] == 0xcc)
		uc->mc.rip--;
	else
		uc->mc.rip = (u64)dp_jprobe_return;
}

static void die(struct dp_siginfo *info, struct dp_ucontext *uc)
{
	static const struct dp_kernel_sigaction dfl;

	if (dp_hit_who() == DP_WHO_OWNER)
		dp_arena.hit.own_death = 1;
	if (!dp_port_may_kill()) {
		die_trapped(info, uc);
		return;
	}
	dp_port_sigaction((u32)info->signo, &dfl);
	/* Blocked until sigreturn, so that a core file shows the program where
	 * it was, and not the agent. */
	dp_port_swap_sigmask(~0ull);
	uc->sigmask &= ~DP_SIGMASK(info->signo);
	dp_port_requeue(info->signo, info);
}

/* The mask in force when the signal came. In a masked wait that is not the mask to which the
 * thread returns. */
static u64 interrupted_mask(const struct dp_siginfo *info,
			    struct dp_ucontext *uc)
{
	struct dp_masked_wait *s = dp_masked_wait_of(&uc->mc);
	const struct dp_kernel_wait *n =
		s ? NULL : dp_masked_wait_in_kernel(&uc->mc, info->signo);

	if (!s)
		return n ? n->mask : uc->sigmask;
	if (s->closed)
		uc->sigmask = s->real;
	s->closed = 0;
	return s->mask;
}

/* The handler that runs has marks in its mask, and they block the signal. A masked wait has
 * a mask of its own. */
static bool marked(const struct dp_siginfo *info, struct dp_ucontext *uc)
{
	return !dp_marks_in_trap(uc->sigmask) &&
	       dp_marks_blocked(uc->sigmask) & DP_SIGMASK(info->signo) &&
	       !dp_masked_wait_of(&uc->mc) &&
	       !dp_masked_wait_in_kernel(&uc->mc, info->signo);
}

/* A blocked signal that was sent waits; a blocked signal that the program's own instruction
 * raises kills. Return: is it dealt with? */
static bool is_blocked(struct dp_siginfo *info, struct dp_ucontext *uc)
{
	bool forced = is_forced(info);
	bool held = dp_mask_blocked() & DP_SIGMASK(info->signo);
	/* The program's handler waits for the end of the agent's: it may hit a probe, and be
	 * interrupted there, too, as often as signals are sent. */
	bool inside = !forced && dp_marks_in_trap(uc->sigmask);

	if (!held && !inside && !marked(info, uc))
		return !forced && dp_masked_wait_delay(info, uc);
	if (forced) {
		die(info, uc);
		return true;
	}
	if (is_events(info))
		DP_PERF_BE_LATE(info);
	if (!held)
		return dp_marks_defer(info);
	if (!dp_mask_defer(info))
		return false;
	dp_masked_wait_again(info, uc);
	return true;
}

/* What the kernel would set for the handler, with marks for caught signals: otherwise a probe in
 * the handler would kill the process. */
static u64 handlers_mask(const struct dp_kernel_sigaction *action, s32 sig,
			 u64 interrupted)
{
	u64 mask = action->mask;

	if (!(action->flags & DP_SA_NODEFER))
		mask |= DP_SIGMASK(sig);
	return (interrupted & ~dp_mask_caught()) | dp_marks_of(mask, 0);
}

u64 dp_foreign_trap(struct dp_siginfo *info, struct dp_ucontext *uc)
{
	struct dp_kernel_sigaction action, once = { 0 };
	u32 k = dp_caught_index((u64)info->signo);
	bool forced = is_forced(info);
	u64 mask;

	if (is_blocked(info, uc))
		return 0;
	if (dp_wipe.owner && dp_hit_is_owners())
		__atomic_fetch_add(&dp_arena.hit.foreign, 1, __ATOMIC_RELAXED);
	dp_action_get(k, &action);
	if (action.handler == DP_SIG_IGN && !forced) {
		dp_masked_wait_again(info, uc);
		return 0;
	}
	mask = interrupted_mask(info, uc);
	if (action.handler == DP_SIG_DFL || action.handler == DP_SIG_IGN) {
		die(info, uc);
		return 0;
	}
	if (action.flags & DP_SA_RESETHAND)
		dp_action_set(k, &once, NULL);
	dp_port_swap_sigmask(handlers_mask(&action, info->signo, mask));
	*((u64 *)uc - 1) = action.restorer;
	return action.handler;
}
