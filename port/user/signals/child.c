// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * child: whose thread runs, and how a fork child leaves.
 *
 * dp_wipe.owner has the process id, and fork zeroes it in the child's memory. A CLONE_VM
 * child sees its parent's id there, which is not its own.
 */
#include "port/user/signals/trap.h"
#include "engine/hit/hit.h"
#include "port/user/signals/mask.h"
#include "arch/arch.h"
#include "port.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "port_hit.h"

enum dp_who dp_hit_who(void)
{
	if (!dp_wipe.owner)
		return DP_WHO_CHILD;
	return dp_wipe.owner == dp_port_pid() ? DP_WHO_OWNER : DP_WHO_VM_CHILD;
}

bool dp_hit_is_owners(void)
{
	return !__atomic_load_n(&dp_arena.hit.vm_children, __ATOMIC_RELAXED) ||
	       dp_hit_who() == DP_WHO_OWNER;
}

/* Does a site have the program's bytes or our patch? The parent may have been arming when it
 * forked, and the state of the site is the parent's: so any mix of original bytes, patch
 * and breakpoints is known. Another site's patch may follow. */
static bool is_known(const struct dp_site_entry *s)
{
	u8 now[sizeof(s->orig)];
	u32 i;

	if (dp_port_copy_in(now, s->addr, sizeof(now)))
		return false;
	for (i = 0; i < sizeof(now); i++) {
		if (i && dp_site_lookup(s->addr + i))
			break;
		if (now[i] != s->orig[i] &&
		    (i >= s->patch_len ||
		     (now[i] != s->patch[i] && now[i] != DP_BREAKPOINT)))
			return false;
	}
	return true;
}

/* May the bytes of the site be those of a jump that begins before it? That one is known then. */
static bool may_be_inside(const struct dp_site_entry *s)
{
	const struct dp_site_entry *before;
	u64 d;

	for (d = 1; d < DP_JUMP_SIZE; d++) {
		before = dp_site_lookup(s->addr - d);
		if (before && before->addr == s->addr - d &&
		    before->mode == DP_MODE_JUMP)
			return true;
	}
	return false;
}

/* A library may have been unmapped, and another file be mapped in its place. */
static bool is_there(const struct dp_mapped *text)
{
	const struct dp_site_entry *s = dp_at(dp_arena.control.site_off);
	bool gone = false;
	u32 i;

	for (i = 0; i < dp_arena.control.nr_sites; i++, s++) {
		if (s->addr - text->start >= text->size || !s->patch_len ||
		    may_be_inside(s))
			continue;
		if (s->armed != DP_SITE_GONE)
			return is_known(s);
		gone = true;
	}
	return !gone;
}

bool dp_hit_leave_text(void)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u32 i;

	if (!c->revertible)
		return false;
	for (i = 0; i < c->nr_patched; i++)
		if ((c->own_process || is_there(&c->patched[i])) &&
		    dp_port_drop(c->patched[i].start, c->patched[i].size))
			return false;
	return true;
}

void dp_hit_leave_signals(u64 *mask)
{
	struct dp_kernel_sigaction action;
	u32 k;

	for (k = 0; k < dp_arena.control.nr_caught; k++) {
		if (!dp_mask_catches(k))
			continue;
		dp_action_get(k, &action);
		dp_port_sigaction(dp_caught(k), &action);
	}
	dp_mask_give_back(mask);
}

/* The child's own copies, which the fork has made. */
static void lower_semaphores(void)
{
	u64 n = dp_private.nr_semaphores, addr, i;
	u16 now;

	for (i = 0; i < n && i < DP_SEMAPHORES; i++) {
		struct dp_semaphore *s = &dp_private.semaphores[i];

		addr = __atomic_exchange_n(&s->addr, 0, __ATOMIC_RELAXED);
		if (!addr || dp_port_copy_in(&now, addr, sizeof(now)) ||
		    !dp_semaphore_is_up(s, now))
			continue;
		now--;
		dp_port_copy_out(addr, &now, sizeof(now));
	}
}

bool dp_hit_leave(u64 *mask)
{
	lower_semaphores();
	/* The tool does not take the child's agent out. */
	dp_private.leaving = 0;
	if (!dp_hit_leave_text())
		return false;
	dp_hit_leave_signals(mask);
	return true;
}
