// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * foreign: SIGTRAPs that are the program's own business.
 *
 * The program must see them as if we were not there: its handler is entered
 * with the very frame the kernel made for ours, under the mask the kernel would
 * have set (but for SIGTRAP), and leaves through its own restorer. With no handler it dies of the
 * signal with the registers it had.
 */
#include "engine/hit/hit.h"
#include "port_hit.h"

void dp_action_get(struct dp_kernel_sigaction *action)
{
	const struct dp_action_slot *slot;
	u32 stamp;

	do {
		stamp = __atomic_load_n(&dp_private.current, __ATOMIC_ACQUIRE);
		slot = &dp_private.ring[stamp % DP_ACTION_RING];
		action->handler = slot->action.handler;
		action->flags = slot->action.flags;
		action->restorer = slot->action.restorer;
		action->mask = slot->action.mask;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&slot->stamp, __ATOMIC_RELAXED) != stamp);
}

void dp_action_set(const struct dp_kernel_sigaction *action,
		   struct dp_kernel_sigaction *old)
{
	u32 stamp = __atomic_add_fetch(&dp_private.next, 1, __ATOMIC_RELAXED);
	struct dp_action_slot *slot = &dp_private.ring[stamp % DP_ACTION_RING];
	u32 was;

	__atomic_store_n(&slot->stamp, stamp, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	slot->action.handler = action->handler;
	slot->action.flags = action->flags;
	slot->action.restorer = action->restorer;
	slot->action.mask = action->mask;
	was = __atomic_exchange_n(&dp_private.current, stamp, __ATOMIC_ACQ_REL);
	if (old)
		*old = dp_private.ring[was % DP_ACTION_RING].action;
}

static void die(struct dp_siginfo *info, struct dp_ucontext *uc)
{
	static const struct dp_kernel_sigaction dfl;

	if (dp_hit_who() == DP_WHO_OWNER)
		dp_arena.hit.own_death = 1;
	dp_port_sigaction(&dfl);
	/* Blocked until sigreturn, so that a core file shows the program where
	 * it was and not us. */
	dp_port_sigmask(~0ull);
	uc->sigmask &= ~DP_SIGMASK(DP_SIGTRAP);
	dp_port_requeue(DP_SIGTRAP, info);
}

u64 dp_foreign_trap(struct dp_siginfo *info, struct dp_ucontext *uc)
{
	struct dp_kernel_sigaction action, once = { 0 };
	u64 mask = uc->sigmask;
	bool forced = info->code > 0;

	/* One that was sent waits while it is blocked; one that the program's own
	 * instruction makes would kill it then. */
	if (dp_mask_blocks()) {
		if (!forced && dp_mask_hold(info))
			return 0;
		if (forced) {
			die(info, uc);
			return 0;
		}
	}
	if (dp_hit_who() == DP_WHO_OWNER)
		__atomic_fetch_add(&dp_arena.hit.foreign, 1, __ATOMIC_RELAXED);
	dp_action_get(&action);
	if (action.handler == DP_SIG_IGN && !forced)
		return 0;
	if (action.handler == DP_SIG_DFL || action.handler == DP_SIG_IGN) {
		die(info, uc);
		return 0;
	}
	if (action.flags & DP_SA_RESETHAND)
		dp_action_set(&once, NULL);
	/* SIGTRAP itself stays open, whatever the action says: a probe in the
	 * handler would otherwise kill the process. */
	dp_port_sigmask((mask | action.mask) & ~DP_SIGMASK(DP_SIGTRAP));
	*((u64 *)uc - 1) = action.restorer;
	return action.handler;
}
