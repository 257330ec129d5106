// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * slot: calls that are tracked by their slots. The return addresses stay what they are.
 *
 * 	entry ─► instance taken, entry_handler ─► AT_SLOT
 * 	exit ──► the stack pointer is the slot ─► in hand ─► handler ─► free
 *
 * At the entry and at each exit the stack pointer is the slot, on any thread. A call
 * that ended otherwise is noticed when another call is made at its slot. Or it is
 * noticed when instances are short and the slot holds something else: abandoned.c.
 */
#include "engine/instance/retprobe.h"
#include "engine/hit/hit.h"
#include "engine/instance/instance.h"
#include "engine/layout/handler.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "arch/arch.h"

/* Where an instance is looked for first */
static u32 home_of(const struct dp_instance_pool *f, u64 slot)
{
	return dp_instance_hash(slot / DP_WORD) % f->nr;
}

/* Let those who look for the instance look as far as it is from its home. */
static void note_reach(struct dp_instance_pool *f, u32 home, u32 index)
{
	u32 far = index >= home ? index - home : index + f->nr - home;
	u32 was = __atomic_load_n(&f->reach, __ATOMIC_RELAXED);

	while (was < far &&
	       !__atomic_compare_exchange_n(&f->reach, &was, far, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* @back: the return address, 0: any */
static struct dp_instance *take_at(const struct dp_instance_pool *f,
				   struct dp_stack *stack, u64 slot, u64 back)
{
	u32 i = home_of(f, slot),
	    left = __atomic_load_n(&f->reach, __ATOMIC_RELAXED) + 1;

	for (; left; left--) {
		struct dp_instance *ri = dp_instance_at(f, i);

		i = i + 1 == f->nr ? 0 : i + 1;
		if (dp_instance_is_at_slot(ri) && ri->frame == slot &&
		    (!back || ri->ret_addr == back))
			return dp_instance_claim(stack, ri) ? ri : NULL;
	}
	return NULL;
}

void dp_slot_enter(u32 probe, struct dp_regs *regs, struct dp_stack *stack)
{
	struct dp_instance_pool *f = (void *)dp_probe(probe)->instance_pool;
	u64 slot = dp_regs_sp(regs);
	u32 home = home_of(f, slot);
	struct dp_instance *ri = take_at(f, stack, slot, 0);

	if (ri)
		dp_instance_end(stack, ri, DP_CALL_ABANDONED);
	*dp_instance_hint(stack, f) = home;
	ri = dp_abandoned_take(f, stack);
	if (!ri) {
		dp_instance_miss(f);
		return;
	}
	note_reach(f, home, ri->index);
	dp_instance_fill(ri, stack, f, dp_stub_home(*(u64 *)slot));
	ri->frame = slot;
	if (!dp_return_ask(stack, ri, regs))
		return;
	dp_instance_enter(stack, ri, DP_INSTANCE_AT_SLOT);
	dp_barrier();
	stack->instance = 0;
}

/* The handler sees the registers of the return. Its changes take effect, except for pc
 * and stack pointer. */
void dp_slot_exit(u32 probe, const struct dp_site_entry *site,
		  struct dp_regs *regs, struct dp_stack *stack)
{
	const struct dp_probe_entry *p = dp_probe(probe);
	u64 slot = dp_regs_sp(regs), back = 0;
	struct dp_instance *ri;

	if (!dp_probe_leaves(p, site, dp_regs_flags(regs), dp_regs_count(regs)))
		return;
	if (p->way & DP_WAY_SHARED)
		back = dp_stub_home(*(u64 *)slot);
	/* There is no instance of a call that was entered before, or is not tracked. */
	ri = take_at((void *)p->instance_pool, stack, slot, back);
	if (!ri)
		return;
	dp_regs_set_sp(regs, slot + DP_WORD);
	dp_return_finish(stack, ri, regs, dp_probe_ends(p->way));
	dp_regs_set_sp(regs, slot);
}
