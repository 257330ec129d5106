// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * retprobe: calls that are tracked by stubs.
 *
 * 	entry ─► instance taken, entry_handler ─► the return address becomes a
 * 	         stub's; the program's own goes into the stub's frame
 * 	ret ───► stub ─► dp_return_hit() ─────────────┐
 * 	unwind ─► landing pad ─► dp_return_unwound() ─┴─► handlers, in turn ─► caller
 *
 * A frame stands for one return address on a stack. Several instances may wait for it:
 * of several probes of one function, or of functions that have jumped there. The stub
 * alone identifies the frame, so the call may end on any thread or stack.
 *
 * 	FREE ─► LIVE ─► FREE	the call has returned, or was unwound
 * 	        LIVE ─► OVER ─► FREE	on another thread; the list's owner finds it
 * 	        LIVE ─► ABANDONED	its slot holds something else, or its thread has
 * 				ended: abandoned.c
 *
 * An ABANDONED frame keeps the program's address, and is the last to be used again. A
 * program that copies stacks away and back may still return through it.
 */
#include "engine/instance/retprobe.h"
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "engine/layout/handler.h"
#include "engine/instance/instance.h"
#include "arch/arch.h"
#include "port.h"

bool dp_return_ask(struct dp_stack *stack, struct dp_instance *ri,
		   struct dp_regs *regs)
{
	const struct dp_instance_pool *f = dp_instance_pool_of(ri);

	if (!f->entry ||
	    !(u32)dp_call_handler(stack, f->probe, f->entry, (u64)ri, (u64)regs,
				  f->entry_needs))
		return true;
	dp_instance_end(stack, ri, DP_CALL_VETOED);
	return false;
}

void dp_return_finish(struct dp_stack *stack, struct dp_instance *ri,
		      struct dp_regs *regs, enum dp_call_end how)
{
	const struct dp_instance_pool *f = dp_instance_pool_of(ri);
	u64 handler = __atomic_load_n(&f->handler, __ATOMIC_ACQUIRE);

	ri->ending = how;
	dp_regs_set_pc(regs, ri->ret_addr);
	if (handler && (how != DP_CALL_UNWOUND || f->unwind))
		dp_call_handler(stack, f->probe, handler, (u64)ri, (u64)regs,
				f->handler_needs);
	dp_instance_end(stack, ri, how);
}

/* The frame of the stub to which the call at @sp already returns: for another probe of
 * this function, or of one that has jumped here. */
static struct dp_frame *frame_of(u64 sp)
{
	struct dp_frame *f = dp_stub_returned(*(u64 *)sp);

	return f && f->state == DP_FRAME_LIVE && f->slot == sp ? f : NULL;
}

/* The stub's own call writes the same. But handlers of this hit may look at the slot earlier, and a
 * signal may come. */
static void replace(u64 sp, const struct dp_frame *f)
{
	*(u64 *)sp = dp_stub_of(f) + DP_STUB_BACK;
}

/* Put the stub's address in place of the return address at @sp. Frames of calls farther
 * down the stack stay in front, where later calls from there find them. */
static void begin_frame(struct dp_stack *stack, struct dp_frame *f, u64 sp)
{
	u64 *link = &stack->frames;
	u32 steps = 0;

	f->ret_addr = *(u64 *)sp;
	f->slot = sp;
	f->instances = 0;
	f->stack = (u64)stack;
	while (*link && dp_abandoned_frame(*link)->slot < sp &&
	       ++steps < DP_ABANDONED_STEPS)
		link = &dp_abandoned_frame(*link)->next;
	f->next = *link;
	__atomic_store_n(&f->state, DP_FRAME_LIVE, __ATOMIC_RELEASE);
	*link = (u64)f;
	dp_barrier();
	stack->taken = 0;
	replace(sp, f);
}

u64 dp_return_through(struct dp_frame *f, u64 cont)
{
	f->cont = cont;
	return dp_stub_of(f);
}

static void join(struct dp_stack *stack, struct dp_frame *f,
		 struct dp_instance *ri)
{
	ri->frame = (u64)f;
	ri->next = f->instances;
	dp_instance_enter(stack, ri, stack->tid);
	f->user = ri->user;
	f->instances = (u64)ri;
	dp_barrier();
	stack->instance = 0;
}

void dp_return_enter(u32 probe, struct dp_regs *regs, struct dp_stack *stack,
		     struct dp_frame **begun)
{
	const struct dp_probe_entry *p = dp_probe(probe);
	struct dp_instance_pool *instance_pool = (void *)p->instance_pool;
	struct dp_frame *f = frame_of(dp_regs_sp(regs)), *new = NULL;
	struct dp_instance *ri;

	if (!f)
		dp_abandoned_same(stack, dp_regs_sp(regs));
	ri = dp_abandoned_take(instance_pool, stack);
	if (ri)
		new = dp_stub_unbind(stack, ri);
	if (new &&f) {
		dp_stub_give(stack, new);
		new = NULL;
	} else if (ri && !f && !new) {
		new = dp_stub_take(stack);
	}
	if (!ri || !(f || new)) {
		if (ri)
			dp_instance_put_away(stack, ri);
		dp_instance_miss(instance_pool);
		return;
	}
	dp_instance_fill(ri, stack, instance_pool,
			 f ? f->ret_addr : *(u64 *)dp_regs_sp(regs));
	if (!dp_return_ask(stack, ri, regs)) {
		if (new)
			dp_stub_give(stack, new);
		return;
	}
	if (new) {
		begin_frame(stack, new, dp_regs_sp(regs));
		f = *begun = new;
	}
	join(stack, f, ri);
}

struct ending {
	struct dp_regs *regs; /* NULL: no handler is to see them */
	struct dp_stack *stack;
	struct dp_frame *frame;
	enum dp_call_end how;
	bool keeps; /* the unwinder still looks at the frame */
};

/* Take a frame out of this thread's list, if it is there. Return: false if the call has
 * been taken for left meanwhile. */
static bool leave_frame(struct dp_stack *stack, struct dp_frame *f, bool keeps)
{
	u32 live = DP_FRAME_LIVE;
	u64 *link;

	if (!stack || f->stack != (u64)stack)
		return __atomic_compare_exchange_n(&f->state, &live,
						   DP_FRAME_OVER, false,
						   __ATOMIC_ACQ_REL,
						   __ATOMIC_ACQUIRE);
	if (f->state != DP_FRAME_LIVE)
		return false;
	stack->taken = dp_stub_number(f);
	stack->rest = f->instances;
	dp_barrier();
	f->state = DP_FRAME_FREE;
	dp_barrier();
	for (link = &stack->frames; *link;
	     link = &dp_abandoned_frame(*link)->next)
		if (*link == (u64)f) {
			*link = f->next;
			break;
		}
	if (keeps)
		dp_stub_keep(stack, f);
	else
		dp_stub_give(stack, f);
	return true;
}

static void late(const struct dp_frame *f)
{
	dp_stubs()->late_user = f->user;
	dp_stubs()->late_addr = f->ret_addr;
	__atomic_fetch_add(&dp_stubs()->late, 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&dp_arena.hit.news, 1, __ATOMIC_RELEASE);
}

/* Call the handler of every probe of the function that has ended, the last entered
 * first. */
static void finish_all(struct ending *e, u64 instances)
{
	struct dp_instance *ri;

	e->stack->rest = instances;
	while ((ri = dp_instance_next(e->stack)))
		dp_return_finish(e->stack, ri, e->regs, e->how);
}

void dp_return_end(struct dp_stack *stack, struct dp_frame *f,
		   enum dp_call_end how)
{
	struct dp_instance *ri;

	if (!leave_frame(stack, f, false))
		return;
	while ((ri = dp_instance_next(stack)))
		dp_instance_end(stack, ri, how);
}

/* On the handler stack, where hits by signal handlers are missed. */
static u32 run(void *arg)
{
	struct ending *e = arg;
	struct dp_stack *stack = e->stack;
	u64 instances = e->frame->instances;
	bool hidden;

	stack->sp = dp_regs_sp(e->regs);
	stack->regs = (u64)e->regs;
	stack->site = 0;
	/* The x87 registers may hold a result, and have enough room left. */
	stack->x87 = 0;
	stack->after = 0;
	__asm__ volatile("" : : : "memory");
	hidden = dp_call_hide_alternate(stack, false);
	if (leave_frame(stack, e->frame, e->keeps))
		finish_all(e, instances);
	else
		late(e->frame);
	if (hidden)
		dp_call_show_alternate(stack);
	return 0;
}

/* There is no handler stack for this thread. */
static void end_unseen(struct ending *e)
{
	u64 instances = e->frame->instances;

	if (!leave_frame(NULL, e->frame, false)) {
		late(e->frame);
		return;
	}
	while (instances) {
		struct dp_instance *ri = dp_instance_ptr(instances);

		instances = ri->next;
		dp_instance_miss(dp_instance_pool_of(ri));
		if (e->how != DP_CALL_RETURNED)
			ri->otherwise[e->how]++;
		if (dp_instance_is_inside(ri))
			dp_instance_step(ri);
		dp_instance_give(NULL, ri);
	}
}

static void end_frame(struct dp_frame *f, struct dp_regs *regs,
		      enum dp_call_end how, bool keeps)
{
	struct ending e = {
		.regs = regs, .frame = f, .how = how, .keeps = keeps
	};

	/* A child returns as if there had been no probe. */
	if (!dp_wipe.owner || !dp_hit_is_owners())
		return;
	e.stack = dp_stack_mine();
	if (!e.stack) {
		end_unseen(&e);
		return;
	}
	if (!regs) {
		e.regs = (void *)e.stack->trapped;
		dp_regs_set_sp(e.regs, f->slot + sizeof(u64));
	}
	dp_abandoned_recover(e.stack);
	dp_call_away(e.stack, dp_regs_sp(e.regs), &e, run);
}

/* The call of frame @at->back has ended. Leaves in @at where the thread goes on. */
static void end_call(struct dp_returned *at, enum dp_call_end how)
{
	struct dp_frame *f = dp_stub_frame(at->back);

	dp_regs_set_sp(&at->regs, (u64)(at + 1));
	at->back = f->ret_addr;
	dp_regs_set_pc(&at->regs, at->back);
	end_frame(f, &at->regs, how, false);
}

void dp_return_hit(struct dp_returned *at)
{
	end_call(at, DP_CALL_RETURNED);
}

/* The landing pad of a stub has caught an exception: ax is the exception, and the
 * frame's @cont is where to go on with it. */
u64 dp_return_unwound(struct dp_returned *at)
{
	u64 resume = dp_stub_frame(at->back)->cont,
	    exception = dp_regs_exception(&at->regs);

	end_call(at, DP_CALL_UNWOUND);
	dp_regs_set_arg(&at->regs, exception);
	return resume;
}

/* The same if no handler wants to be called. The unwinder goes on by itself, and still
 * looks at the frame. */
void dp_return_passed(u64 number)
{
	end_frame(dp_stub_frame(number), NULL, DP_CALL_UNWOUND, true);
}

/* --- the usual call, for entry.S --- */

/*
 * The usual call has one probe with plain handlers, and a stub is at hand. It is made
 * farther down than all tracked calls of the thread, and its caller is not a stub. All
 * other calls go through dp_return_enter().
 *
 * When it returns, its frame is bound to its instance, which most likely has the next call. So
 * most of both is as it has to be then. Whoever takes the instance has the frame as well.
 */
struct dp_quick dp_return_quick_enter(const struct dp_probe_entry *p,
				      struct dp_regs *regs,
				      struct dp_stack *stack)
{
	const struct dp_quick none = { 0, 0 };
	struct dp_instance_pool *f = (void *)p->instance_pool;
	u64 sp = dp_regs_sp(regs), offset;
	struct dp_instance *ri;

	if (p->kind != DP_KIND_RETURN || !f->quick ||
	    dp_stub_at(*(u64 *)sp, &offset) ||
	    (stack->frames && dp_abandoned_frame(stack->frames)->slot <= sp))
		return none;
	ri = dp_instance_search(f, stack);
	if (!ri)
		return none;
	if (!stack->spare && !dp_stub_bound(ri)) {
		dp_instance_put_away(stack, ri);
		return none;
	}
	dp_instance_fill(ri, stack, f, *(u64 *)sp);
	return (struct dp_quick){ (u64)ri, f->entry };
}

/* Bind one of the thread's own frames to the instance in hand. */
static struct dp_frame *bind(struct dp_stack *stack, struct dp_instance *ri)
{
	struct dp_frame *f = dp_stub_take_spare(stack);

	f->user = ri->user;
	f->instances = (u64)ri;
	ri->frame = (u64)f;
	dp_barrier();
	f->state = DP_FRAME_BOUND;
	dp_barrier();
	stack->taken = 0;
	return f;
}

/* The call is tracked from the step of its instance on. Until then all that was done is undone
 * when the thread does not come back. */
static void begin_bound(struct dp_stack *stack, struct dp_instance *ri,
			struct dp_frame *f, u64 sp)
{
	f->ret_addr = *(u64 *)sp;
	f->slot = sp;
	f->stack = (u64)stack;
	f->next = stack->frames;
	dp_barrier();
	f->state = DP_FRAME_LIVE;
	dp_barrier();
	stack->frames = (u64)f;
	dp_barrier();
	dp_instance_enter(stack, ri, stack->tid);
	ri->ending = DP_CALL_RETURNED;
	replace(sp, f);
	dp_barrier();
	stack->instance = 0;
}

void dp_return_quick_begin(u32 veto, struct dp_stack *stack)
{
	struct dp_call_frame *at = (void *)stack->regs;
	const struct dp_jump *j = dp_jump_of(dp_site_at(at->number));
	struct dp_instance *ri = dp_instance_ptr(stack->instance);
	struct dp_frame *f;

	if (veto) {
		dp_instance_end(stack, ri, DP_CALL_VETOED);
		return;
	}
	f = dp_stub_bound(ri);
	begin_bound(stack, ri, f ? f : bind(stack, ri), dp_regs_sp(&at->regs));
	f = (void *)ri->frame;
	if (dp_regs_sp(&at->regs) == stack->sp)
		*(u64 *)(at + 1) = dp_return_through(f, j->base + j->insn[0]);
}

/* The usual return: the thread's innermost call, and only one probe waits for it. */
struct dp_quick dp_return_quick_hit(struct dp_returned *at,
				    struct dp_stack *stack)
{
	const struct dp_quick none = { 0, 0 };
	struct dp_frame *f = dp_stub_frame(at->back);
	struct dp_instance *ri = dp_instance_ptr(f->instances);
	struct dp_instance_pool *instance_pool;

	if (stack->frames != (u64)f || f->state != DP_FRAME_LIVE || !ri ||
	    ri->next)
		return none;
	instance_pool = dp_instance_pool_of(ri);
	if (!instance_pool->quick)
		return none;
	ri->ending = DP_CALL_RETURNED;
	stack->instance = (u64)ri;
	dp_barrier();
	f->state = DP_FRAME_BOUND;
	dp_barrier();
	stack->frames = f->next;
	at->back = ri->ret_addr;
	dp_regs_set_pc(&at->regs, at->back);
	return (struct dp_quick){ (u64)ri,
				  __atomic_load_n(&instance_pool->handler,
						  __ATOMIC_ACQUIRE) };
}

void dp_return_quick_end(struct dp_stack *stack)
{
	dp_instance_end(stack, dp_instance_ptr(stack->instance),
			DP_CALL_RETURNED);
}
