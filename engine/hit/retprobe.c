// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * retprobe: calls that are followed to their return.
 *
 * At the entry an instance takes the return address, and the trampoline's goes
 * on the stack in its place. A thread's instances form a list, the innermost
 * first. One whose return address is not the trampoline any more, on a part of
 * the stack that the thread has left, belongs to a call that ended in another
 * way.
 */
#include "engine/hit/call.h"
#include "port_hit.h"

#define INDEX 0xffffffffull

static struct dp_follow *follow_of(const struct dp_instance *ri)
{
	return (void *)ri->follow;
}

static struct dp_instance *instance_at(const struct dp_follow *f, u32 i)
{
	return (void *)(f->pool + (u64)i * f->stride);
}

/* A stamp above the index, so that a list which has changed meanwhile and looks
 * the same is told. */
static struct dp_instance *take(struct dp_follow *f)
{
	u64 was = __atomic_load_n(&f->free, __ATOMIC_ACQUIRE), next;
	struct dp_instance *ri;

	do {
		if (!(was & INDEX))
			return NULL;
		ri = instance_at(f, (u32)was - 1);
		next = ((was & ~INDEX) + INDEX + 1) | ri->next_free;
	} while (!__atomic_compare_exchange_n(&f->free, &was, next, false,
					      __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	__atomic_fetch_add(&f->away, 1, __ATOMIC_RELAXED);
	return ri;
}

static void give(struct dp_instance *ri)
{
	struct dp_follow *f = follow_of(ri);
	u64 was = __atomic_load_n(&f->free, __ATOMIC_ACQUIRE), next;

	do {
		ri->next_free = (u32)was;
		next = ((was & ~INDEX) + INDEX + 1) | (ri->index + 1);
	} while (!__atomic_compare_exchange_n(&f->free, &was, next, false,
					      __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	__atomic_fetch_sub(&f->away, 1, __ATOMIC_RELEASE);
}

static void abandon(struct dp_instance *ri)
{
	__atomic_fetch_add(&follow_of(ri)->abandoned, 1, __ATOMIC_RELAXED);
	give(ri);
}

static bool is_stale(const struct dp_instance *ri, u64 sp)
{
	return ri->slot < sp ||
	       (ri->slot == sp && *(u64 *)sp != (u64)dp_return_trampoline);
}

/* Calls that this thread has left without a return. */
static void drop_stale(struct dp_stack *stack, u64 sp)
{
	struct dp_instance *ri = (void *)stack->instances;

	while (ri && is_stale(ri, sp) &&
	       sp - ri->slot < (8ull << 20)) {
		stack->instances = ri->next;
		abandon(ri);
		ri = (void *)stack->instances;
	}
}

void dp_return_drop(struct dp_stack *stack)
{
	while (stack->instances) {
		struct dp_instance *ri = (void *)stack->instances;

		stack->instances = ri->next;
		abandon(ri);
	}
}

static u64 task(void)
{
	u64 (*get)(void) = (void *)dp_arena.control.task;

	return get ? get() : 0;
}

static void clear(struct dp_instance *ri, u32 size)
{
	u8 *data = (u8 *)(ri + 1);

	while (size--) {
		*data++ = 0;
		__asm__ volatile("" : : : "memory");
	}
}

void dp_return_enter(u32 probe, struct dp_regs *regs, struct dp_stack *stack)
{
	const struct dp_probe_entry *p = dp_probe(probe);
	struct dp_follow *f = (void *)p->follow;
	u64 *slot = (u64 *)regs->sp;
	struct dp_instance *ri;

	drop_stale(stack, regs->sp);
	ri = take(f);
	if (!ri) {
		__atomic_fetch_add((u32 *)f->nmissed, 1, __ATOMIC_RELAXED);
		return;
	}
	ri->user = f->user;
	ri->follow = (u64)f;
	ri->task = task();
	ri->slot = (u64)slot;
	ri->ret_addr = *slot;
	clear(ri, f->data_size);
	if (f->entry &&
	    (u32)dp_call_handler(stack, probe, f->entry, (u64)ri, (u64)regs,
				 f->entry_needs)) {
		give(ri);
		return;
	}
	ri->next = stack->instances;
	stack->instances = (u64)ri;
	*slot = (u64)dp_return_trampoline;
}

struct leaving {
	bool silent; /* a child's: nobody is told */
	struct dp_regs *regs;
	struct dp_stack *stack;
	u64 slot, back;
};

/* Every probe of the function that has returned, the last one that was entered
 * first; the first one has the true address. */
static void run(void *arg)
{
	struct leaving *l = arg;
	struct dp_instance *ri;

	l->stack->busy = 1;
	l->stack->jumped = 0;
	l->stack->sp = l->regs->sp;
	l->stack->regs = (u64)l->regs;
	l->stack->site = 0;
	/* A result may be in there, and leaves enough room. */
	l->stack->x87 = 0;
	l->stack->hits++;
	do {
		struct dp_follow *f;

		ri = (void *)l->stack->instances;
		if (!ri || ri->slot != l->slot)
			break;
		f = follow_of(ri);
		l->back = ri->ret_addr;
		l->regs->ip = l->back;
		l->stack->instances = ri->next;
		if (f->handler && !l->silent)
			dp_call_handler(l->stack, f->probe, f->handler,
					(u64)ri, (u64)l->regs,
					f->handler_needs);
		__atomic_fetch_add(&f->returned, 1, __ATOMIC_RELAXED);
		give(ri);
	} while (l->back == (u64)dp_return_trampoline);
	l->stack->busy = 0;
}

void dp_return_hit(struct dp_returned *frame)
{
	u64 sp = (u64)(frame + 1);
	struct leaving l = { .regs = &frame->regs,
			     .stack = dp_stack_mine(),
			     .slot = sp - 8,
			     .silent = !dp_wipe.owner };

	frame->regs.sp = sp;
	while (l.stack->instances &&
	       ((struct dp_instance *)l.stack->instances)->slot < l.slot) {
		struct dp_instance *ri = (void *)l.stack->instances;

		l.stack->instances = ri->next;
		abandon(ri);
	}
	dp_call_on(&l, run, (void *)((u64)l.stack & ~63ull));
	frame->back = l.back;
}
