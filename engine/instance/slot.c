// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * slot: calls that are followed by the place of their return address, which stays what it
 * is.
 *
 *	entry ─► instance taken, entry_handler ─► AT_SLOT
 *	exit ──► the stack pointer is the slot ─► in hand ─► handler ─► free
 *
 * There the stack pointer stands at the entry and again at each exit, whatever the thread.
 * A call that was left otherwise is noticed when another one is made at the same place, or
 * when instances are short and the place holds something else.
 */
#include "engine/instance/retprobe.h"
#include "engine/hit/hit.h"
#include "engine/instance/instance.h"
#include "engine/layout/handler.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "arch/arch.h"
#include "port.h"

/* Looking at one takes a system call. */
#define PATIENCE 16

static bool is_followed(const struct dp_instance *ri)
{
	return __atomic_load_n(&ri->used, __ATOMIC_ACQUIRE) ==
	       DP_INSTANCE_AT_SLOT;
}

/* In hand before it is ours. Return: false if it is another thread's by now. */
static bool take(struct dp_stack *stack, struct dp_instance *ri)
{
	u32 followed = DP_INSTANCE_AT_SLOT;

	stack->instance = (u64)ri;
	dp_barrier();
	if (__atomic_compare_exchange_n(&ri->used, &followed, stack->tid, false,
					__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return true;
	stack->instance = 0;
	return false;
}

static struct dp_instance *take_at(const struct dp_follow *f,
				   struct dp_stack *stack, u64 slot)
{
	u32 i;

	for (i = 0; i < f->nr; i++) {
		struct dp_instance *ri = dp_instance_at(f, i);

		if (is_followed(ri) && ri->frame == slot)
			return take(stack, ri) ? ri : NULL;
	}
	return NULL;
}

static bool was_left(const struct dp_instance *ri)
{
	u64 now;

	return dp_port_read(&now, ri->frame, sizeof(now)) != sizeof(now) ||
	       now != ri->ret_addr;
}

/* Of all threads. Not all of the calls of a deep recursion look. */
static bool drop_left(struct dp_follow *f, struct dp_stack *stack)
{
	u32 patience = __atomic_load_n(&f->patience, __ATOMIC_RELAXED);
	u32 i, dropped = 0;

	if (patience) {
		__atomic_compare_exchange_n(&f->patience, &patience,
					    patience - 1, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		return false;
	}
	for (i = 0; i < f->nr; i++) {
		struct dp_instance *ri = dp_instance_at(f, i);

		if (!is_followed(ri) || !was_left(ri) || !take(stack, ri))
			continue;
		dp_instance_end(stack, ri, DP_CALL_ABANDONED);
		dropped++;
	}
	if (!dropped)
		__atomic_store_n(&f->patience, PATIENCE * f->nr,
				 __ATOMIC_RELAXED);
	return dropped;
}

void dp_slot_enter(u32 probe, struct dp_regs *regs, struct dp_stack *stack)
{
	struct dp_follow *f = (void *)dp_probe(probe)->follow;
	u64 slot = dp_regs_sp(regs);
	struct dp_instance *ri = take_at(f, stack, slot);

	if (ri)
		dp_instance_end(stack, ri, DP_CALL_ABANDONED);
	ri = dp_instance_take(f, stack);
	if (!ri && drop_left(f, stack))
		ri = dp_instance_take(f, stack);
	if (!ri) {
		dp_instance_miss(f);
		return;
	}
	dp_instance_fill(ri, stack, f, *(u64 *)slot);
	ri->frame = slot;
	if (!dp_instance_ask(stack, ri, regs))
		return;
	dp_instance_enter(stack, ri, DP_INSTANCE_AT_SLOT);
	dp_barrier();
	stack->instance = 0;
}

/* The handler sees the registers of the return. What it makes of them is in force, but
 * for where it goes. */
void dp_slot_exit(u32 probe, const struct dp_site_entry *site,
		  struct dp_regs *regs, struct dp_stack *stack)
{
	const struct dp_probe_entry *p = dp_probe(probe);
	u64 slot = dp_regs_sp(regs);
	struct dp_instance *ri;

	if (p->way & DP_WAY_TAKEN &&
	    !dp_branch_taken(site, dp_regs_flags(regs), dp_regs_count(regs)))
		return;
	/* None is there of a call that was entered before, or not followed. */
	ri = take_at((void *)p->follow, stack, slot);
	if (!ri)
		return;
	dp_regs_set_sp(regs, slot + DP_WORD);
	dp_instance_finish(stack, ri, regs,
			   p->way & DP_WAY_TAIL ? DP_CALL_TAILED :
						  DP_CALL_RETURNED);
	dp_regs_set_sp(regs, slot);
}
