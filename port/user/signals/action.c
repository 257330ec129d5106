// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * action: virtual actions, those that the program has set for caught signals.
 *
 * A thread may change an action while others read it, and a signal may interrupt the change.
 * So each change is a new entry of a ring, and a stamp says which entry is in force.
 */
#include "engine/hit/hit.h"
#include "engine/layout/base.h"
#include "engine/layout/private.h"
#include "port/user/signals/mask.h"
#include "arch/arch.h"

u32 dp_caught_index(u64 sig)
{
	u32 k = 0;

	while (k < dp_arena.control.nr_caught && dp_caught(k) != sig)
		k++;
	return k < dp_arena.control.nr_caught ? k : DP_CAUGHT;
}

void dp_action_get(u32 k, struct dp_kernel_sigaction *action)
{
	const struct dp_actions *mine = &dp_private.actions[k];
	const struct dp_action_slot *slot;
	u32 stamp;

	do {
		stamp = __atomic_load_n(&mine->in_place, __ATOMIC_ACQUIRE);
		slot = &mine->ring[stamp % DP_ACTION_RING];
		*action = slot->action;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&slot->stamp, __ATOMIC_RELAXED) != stamp);
}

void dp_action_set(u32 k, const struct dp_kernel_sigaction *action,
		   struct dp_kernel_sigaction *old)
{
	struct dp_actions *mine = &dp_private.actions[k];
	u32 stamp = __atomic_add_fetch(&mine->next, 1, __ATOMIC_RELAXED);
	struct dp_action_slot *slot = &mine->ring[stamp % DP_ACTION_RING];
	u32 was;

	__atomic_store_n(&slot->stamp, stamp, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	slot->action = *action;
	was = __atomic_exchange_n(&mine->in_place, stamp, __ATOMIC_ACQ_REL);
	if (old)
		*old = mine->ring[was % DP_ACTION_RING].action;
}
