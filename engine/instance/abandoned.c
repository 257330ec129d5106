// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * abandoned: tracked calls that have ended otherwise than by returning.
 *
 * A call that was left by longjmp is found by what its slot holds now. The thread looks
 * when it makes another call at that place, or when instances are short.
 *
 * When a thread ends, so do its calls, except those of coroutines that other threads
 * may resume. These are detached: in no thread's list of calls. They are looked at when
 * instances are short.
 */
#include "engine/layout/instance.h"
#include "engine/layout/handler.h"
#include "engine/instance/instance.h"
#include "engine/instance/retprobe.h"
#include "port.h"
#include "arch/arch.h"

/* Looking at a frame takes a system call. */
#define PATIENCE 16
/* Slots this close below the thread pointer are not a coroutine's. */
#define OWN_STACK (8u << 20)

/* Take a frame out of the list, and in hand. */
static struct dp_frame *unlink(struct dp_stack *stack, u64 *link)
{
	struct dp_frame *f = dp_abandoned_frame(*link);

	stack->taken = dp_stub_number(f);
	dp_barrier();
	*link = f->next;
	return f;
}

/* A frame that is abandoned has instances until they are in hand. */
static void take_instances(struct dp_stack *stack, struct dp_frame *f)
{
	stack->rest = f->instances;
	dp_barrier();
	f->instances = 0;
	dp_barrier();
}

/* Another thread may return through the stub meanwhile, if the slot is on that thread's
 * stack. */
static void abandon(struct dp_stack *stack, struct dp_frame *f)
{
	u32 live = DP_FRAME_LIVE;
	struct dp_instance *ri;

	if (!__atomic_compare_exchange_n(&f->state, &live, DP_FRAME_ABANDONED,
					 false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		dp_stub_give(stack, f);
		return;
	}
	take_instances(stack, f);
	while ((ri = dp_instance_next(stack)))
		dp_instance_end(stack, ri, DP_CALL_ABANDONED);
	stack->taken = 0;
	dp_stub_leave(f);
}

/* Read through the kernel: the stack may be unmapped. Return: 0: it is. */
static u64 word_at(u64 slot)
{
	u64 now;

	return dp_port_read(&now, slot, sizeof(now)) == sizeof(now) ? now : 0;
}

/* Is its call still to return? On the way from stub to agent, the slot holds the
 * frame's number. */
static bool is_there(const struct dp_frame *f)
{
	const struct dp_stack *stack = (void *)f->stack;
	u64 now = word_at(f->slot);

	return (stack && dp_return_is_bare(stack, f, now)) ||
	       now == dp_stub_of(f) + DP_STUB_BACK || now == dp_stub_number(f);
}

/*
 * A call is about to be made from @sp: an older call at the same place is over. The
 * list is in the order of the calls. Frames farther down belong to outer calls, unless
 * the thread has several stacks.
 */
void dp_abandoned_same(struct dp_stack *stack, u64 sp)
{
	u64 *link = &stack->frames;
	u32 steps = 0;

	while (*link && dp_abandoned_frame(*link)->slot <= sp &&
	       ++steps < DP_ABANDONED_STEPS) {
		struct dp_frame *f = dp_abandoned_frame(*link);

		if (f->slot != sp) {
			link = &f->next;
			continue;
		}
		abandon(stack, unlink(stack, link));
	}
}

static u32 drop_own(struct dp_stack *stack, u32 *looked)
{
	u64 *link = &stack->frames;
	u32 dropped = 0;

	while (*link) {
		struct dp_frame *f = dp_abandoned_frame(*link);

		++*looked;
		if (is_there(f)) {
			link = &f->next;
			continue;
		}
		abandon(stack, unlink(stack, link));
		dropped++;
	}
	return dropped;
}

/* The next detached frame that @stack has taken */
static struct dp_frame *next_detached(struct dp_stack *stack)
{
	struct dp_frame *f = dp_stub_frame(stack->detached);

	if (!stack->detached)
		return NULL;
	stack->taken = stack->detached;
	dp_barrier();
	stack->detached = f->next_free;
	return f;
}

/* @looked: NULL: drop only those that have returned */
static u32 drop_detached(struct dp_stack *stack, u32 *looked)
{
	struct dp_frame *f;
	u32 dropped = 0;

	stack->detached = dp_stub_take_detached();
	while ((f = next_detached(stack))) {
		if (looked)
			++*looked;
		if (f->state == DP_FRAME_LIVE && (!looked || is_there(f))) {
			stack->taken = 0;
			dp_stub_detach(f);
			continue;
		}
		abandon(stack, f);
		dropped++;
	}
	return dropped;
}

/* Drop the calls that are known by their slots, of any thread. */
static u32 drop_at_slots(struct dp_stack *stack,
			 const struct dp_instance_pool *f, u32 *looked)
{
	u32 i, dropped = 0;

	for (i = 0; i < f->nr; i++) {
		struct dp_instance *ri = dp_instance_at(f, i);

		if (!dp_instance_is_at_slot(ri))
			continue;
		++*looked;
		if (dp_stub_home(word_at(ri->frame)) == ri->ret_addr ||
		    !dp_instance_claim(stack, ri))
			continue;
		dp_instance_end(stack, ri, DP_CALL_ABANDONED);
		dropped++;
	}
	return dropped;
}

/* If nothing was dropped, as in a deep recursion, many missed calls must pass before
 * the next search. So the search costs each next to nothing. */
static bool drop_any(struct dp_stack *stack, const struct dp_instance_pool *f)
{
	u32 looked = 0, dropped;

	if (stack->patience) {
		stack->patience--;
		return false;
	}
	if (f->exits)
		dropped = drop_at_slots(stack, f, &looked);
	else
		dropped = drop_own(stack, &looked) +
			  drop_detached(stack, &looked);
	if (!dropped)
		stack->patience = PATIENCE * looked;
	return dropped;
}

struct dp_instance *dp_abandoned_take(struct dp_instance_pool *f,
				      struct dp_stack *stack)
{
	struct dp_instance *ri = dp_instance_take(f, stack);

	if (ri || !drop_any(stack, f))
		return ri;
	return dp_instance_take(f, stack);
}

/* Is the instance one of those that wait for the return? */
static bool waits(const struct dp_instance *ri)
{
	const struct dp_frame *f = dp_abandoned_frame(ri->frame);
	u64 i;

	/* An instance at a slot belongs to no thread. */
	if (dp_instance_pool_of(ri)->exits)
		return false;
	if (__atomic_load_n(&f->state, __ATOMIC_ACQUIRE) != DP_FRAME_LIVE)
		return false;
	for (i = f->instances; i && i != (u64)ri; i = dp_instance_ptr(i)->next)
		;
	return i;
}

static bool is_listed(const struct dp_stack *stack, const struct dp_frame *f)
{
	u64 at = stack->frames;

	while (at && at != (u64)f)
		at = dp_abandoned_frame(at)->next;
	return at;
}

static void unlist(struct dp_stack *stack, const struct dp_frame *f)
{
	u64 *link = &stack->frames;

	while (*link && *link != (u64)f)
		link = &dp_abandoned_frame(*link)->next;
	if (*link)
		*link = f->next;
}

/* The frame of a usual call changes hands with its instance: it is in the list while the instance
 * has a call, or else waits for the next one. */
static void recover_frame(struct dp_stack *stack, const struct dp_instance *ri)
{
	struct dp_frame *f = dp_abandoned_frame(ri->frame);

	if (dp_instance_pool_of(ri)->exits || !f || f->instances != (u64)ri ||
	    f->stack != (u64)stack)
		return;
	if (f->state == DP_FRAME_LIVE && !dp_instance_is_inside(ri))
		f->state = DP_FRAME_BOUND;
	if (f->state == DP_FRAME_BOUND)
		unlist(stack, f);
}

/* Until the instance joins its frame, it is just given back. Afterwards the call is
 * over, unless the instance still waits for the return. */
static void recover_one(struct dp_stack *stack, struct dp_instance *ri)
{
	if ((ri->used & ~(DP_INSTANCE_NEW | DP_INSTANCE_RESERVED)) !=
	    stack->tid)
		return;
	recover_frame(stack, ri);
	if (stack->counter) {
		*(u64 *)stack->counter = stack->sum;
		dp_instance_conclude(stack, ri);
	} else if (!dp_instance_is_inside(ri)) {
		dp_instance_put_away(stack, ri);
	} else if (!waits(ri)) {
		dp_instance_end(stack, ri, ri->ending);
	} else {
		ri->used = stack->tid;
	}
}

static void recover_all(struct dp_stack *stack)
{
	struct dp_instance *ri = dp_instance_ptr(stack->instance);

	if (ri && stack->rest == (u64)ri)
		stack->rest = ri->next;
	if (ri)
		recover_one(stack, ri);
	stack->counter = 0;
	while ((ri = dp_instance_next(stack)))
		recover_one(stack, ri);
}

void dp_abandoned_recover(struct dp_stack *stack)
{
	u32 live = DP_FRAME_LIVE;
	struct dp_frame *f;
	bool listed, left;

	/* A kernel has no stubs. */
	if (!(stack->instance | stack->rest | stack->taken | stack->detached))
		return;
	f = dp_stub_frame(stack->taken);
	listed = !stack->taken || is_listed(stack, f);
	if (!listed &&
	    __atomic_compare_exchange_n(&f->state, &live, DP_FRAME_FREE, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		stack->rest = f->instances;
	left = !listed && f->state == DP_FRAME_ABANDONED;
	if (left && f->instances)
		take_instances(stack, f);
	recover_all(stack);
	if (!listed && !left)
		dp_stub_recover(stack);
	stack->taken = 0;
	if (left)
		dp_stub_leave(f);
	while ((f = next_detached(stack))) {
		stack->taken = 0;
		dp_stub_detach(f);
	}
}

/* A thread's own stack ends close to its thread pointer. */
static bool on_own_stack(const struct dp_stack *stack, const struct dp_frame *f)
{
	return stack->thread - f->slot < OWN_STACK;
}

void dp_abandoned_drop(struct dp_stack *stack)
{
	bool detached = false;

	dp_abandoned_recover(stack);
	while (stack->frames) {
		struct dp_frame *f = unlink(stack, &stack->frames);

		if (on_own_stack(stack, f) || !is_there(f)) {
			abandon(stack, f);
			continue;
		}
		f->stack = 0;
		stack->taken = 0;
		dp_stub_detach(f);
		detached = true;
	}
	if (detached)
		drop_detached(stack, NULL);
}
