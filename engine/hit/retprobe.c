// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * retprobe: calls that are followed to their return.
 *
 * At the entry an instance takes the return address, and the trampoline's goes
 * on the stack in its place. A thread's instances form a list, the newest first;
 * a return finds its own by the place on the stack, for a thread may go from one
 * stack to another and back. One whose place holds something else by now
 * belongs to a call that ended in another way.
 */
#include "engine/hit/call.h"
#include "port_hit.h"

#define INDEX 0xffffffffull
/* Of calls that were left by longjmp, looked at before a new one. */
#define STEPS 64

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

static struct dp_instance *instance(u64 addr)
{
	return (void *)addr;
}

/* Is its call still to return? Asked of the kernel: its stack may be gone. */
static bool is_replaced(const struct dp_instance *ri)
{
	u64 now;

	return dp_port_read(&now, ri->slot, sizeof(now)) == sizeof(now) &&
	       now == (u64)dp_return_trampoline;
}

/*
 * A call is about to be made from @sp: one that was at the very same place is
 * over, unless it is this one, which another probe follows already. The list is
 * in the order of the calls; what is farther down belongs to outer ones, unless
 * the thread has more than one stack.
 */
static void drop_same(struct dp_stack *stack, u64 sp)
{
	u64 *link = &stack->instances;
	u32 steps = 0;

	if (*(u64 *)sp == (u64)dp_return_trampoline)
		return;
	while (*link && instance(*link)->slot <= sp && ++steps < STEPS) {
		struct dp_instance *ri = instance(*link);

		if (ri->slot != sp) {
			link = &ri->next;
			continue;
		}
		*link = ri->next;
		abandon(ri);
	}
}

/* Instances are short: those of calls that this thread has left otherwise. */
static void drop_left(struct dp_stack *stack)
{
	u64 *link = &stack->instances;

	while (*link) {
		struct dp_instance *ri = instance(*link);

		if (is_replaced(ri)) {
			link = &ri->next;
			continue;
		}
		*link = ri->next;
		abandon(ri);
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

	drop_same(stack, regs->sp);
	ri = take(f);
	if (!ri) {
		drop_left(stack);
		ri = take(f);
	}
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
	struct dp_regs *regs;
	struct dp_stack *stack;
	u64 slot, back;
};

/* Taken out of the list: the newest of those at the place that has returned. */
static struct dp_instance *find(struct dp_stack *stack, u64 slot)
{
	u64 *link = &stack->instances;
	struct dp_instance *ri;

	while (*link && instance(*link)->slot != slot)
		link = &instance(*link)->next;
	ri = instance(*link);
	if (ri)
		*link = ri->next;
	return ri;
}

static void finish(struct leaving *l, struct dp_instance *ri)
{
	const struct dp_follow *f = follow_of(ri);

	/* A fork child goes back as if there had been no probe. */
	if (f->handler && dp_wipe.owner)
		dp_call_handler(l->stack, f->probe, f->handler, (u64)ri,
				(u64)l->regs, f->handler_needs);
	__atomic_fetch_add(&follow_of(ri)->returned, 1, __ATOMIC_RELAXED);
	give(ri);
}

/* Every probe of the function that has returned, the last one that was entered
 * first; the first one has the true address. */
static void run(void *arg)
{
	struct leaving *l = arg;
	struct dp_instance *ri;

	l->stack->busy = DP_BUSY_HANDLER;
	l->stack->jumped = 0;
	l->stack->sp = l->regs->sp;
	l->stack->regs = (u64)l->regs;
	l->stack->site = 0;
	/* A result may be in there, and leaves enough room. */
	l->stack->x87 = 0;
	l->stack->hits++;
	do {
		ri = find(l->stack, l->slot);
		if (!ri)
			break;
		l->back = ri->ret_addr;
		l->regs->ip = l->back;
		finish(l, ri);
	} while (l->back == (u64)dp_return_trampoline);
	l->stack->busy = 0;
}

void dp_return_hit(struct dp_returned *frame)
{
	u64 sp = (u64)(frame + 1);
	struct leaving l = { .regs = &frame->regs,
			     .stack = dp_stack_mine(),
			     .slot = sp - 8 };

	frame->regs.sp = sp;
	dp_call_on(&l, run, l.stack);
	frame->back = l.back;
}
