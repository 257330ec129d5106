// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * retprobe: calls that are followed to their end.
 *
 *	entry ─► instance taken, entry_handler ─► the return address becomes a
 *	         stub's; the program's own goes into the stub's frame
 *	ret ───► stub ─► dp_return_hit() ─────────┐
 *	unwind ─► landing pad ─► dp_return_unwound() ─┴─► handlers, in turn ─► home
 *
 * A frame stands for one return address on a stack, whatever the number of
 * probes that wait for it: several of one function, or those of functions that
 * have come there by a jump. Its stub alone says which it is, so it does not
 * matter on which thread or stack the call ends.
 *
 *	FREE ─► LIVE ─► FREE	it has returned, or was unwound
 *	        LIVE ─► OVER ─► FREE	on another thread; the list's owner finds it
 *	        LIVE ─► LEFT	its slot holds something else, or its thread has ended
 *
 * A frame that is LEFT keeps the program's address, and is the last to be used
 * again: whoever copies stacks away and back may still return through it.
 */
#include "engine/hit/call.h"
#include "engine/hit/stub.h"
#include "port_hit.h"

/* Of calls that were left by longjmp, looked at before a new one. */
#define STEPS 64
/* Looking at one takes a system call. */
#define PATIENCE 16

static struct dp_frame *frame(u64 addr)
{
	return (void *)addr;
}

static struct dp_instance *instance(u64 addr)
{
	return (void *)addr;
}

static struct dp_follow *follow_of(const struct dp_instance *ri)
{
	return (void *)ri->follow;
}

/* A thread's calls return in turn: the next one free is likely to be where the
 * last one was, or behind it. */
static u32 *hint(struct dp_stack *stack, const struct dp_follow *f)
{
	return &stack->hints[f->probe % DP_HINTS];
}

/* One that we have already, and for no call, was left between two instructions. */
static bool claim(struct dp_instance *ri, struct dp_stack *stack)
{
	u32 mine = stack->tid | DP_INSTANCE_NEW;
	u32 was = __atomic_load_n(&ri->used, __ATOMIC_RELAXED);

	if (was)
		return was == mine;
	return __atomic_compare_exchange_n(&ri->used, &was, mine, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static struct dp_instance *search(struct dp_follow *f, struct dp_stack *stack)
{
	u32 i = *hint(stack, f), left;

	if (i >= f->nr)
		i = 0;
	for (left = f->nr; left; left--) {
		struct dp_instance *ri = dp_instance_at(f, i);

		i = i + 1 == f->nr ? 0 : i + 1;
		if (claim(ri, stack)) {
			stack->instance = (u64)ri;
			*hint(stack, f) = i;
			return ri;
		}
	}
	return NULL;
}

static struct dp_instance *take(struct dp_follow *f, struct dp_stack *stack)
{
	struct dp_instance *ri;

	if (f->nr <= DP_FOLLOW_SCAN)
		return search(f, stack);
	/* Who is let in here finds one, or nearly always. */
	if (__atomic_load_n(&f->away, __ATOMIC_RELAXED) >= (s64)f->nr)
		return NULL;
	ri = search(f, stack);
	if (ri)
		__atomic_fetch_add(&f->away, 1, __ATOMIC_RELAXED);
	return ri;
}

/* The pool may be freed when the last word is said. */
static void give(struct dp_stack *stack, struct dp_instance *ri)
{
	struct dp_follow *f = follow_of(ri);

	if (stack)
		*hint(stack, f) = ri->index;
	if (f->nr > DP_FOLLOW_SCAN)
		__atomic_fetch_sub(&f->away, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ri->used, 0, __ATOMIC_RELEASE);
}

/* @counter of the instance that is in hand. As soon as @stack says so, it counts. */
static void tally(struct dp_stack *stack, u64 *counter)
{
	stack->sum = *counter + 1;
	dp_barrier();
	stack->counter = (u64)counter;
	dp_barrier();
	*counter = stack->sum;
}

static void put_away(struct dp_stack *stack, struct dp_instance *ri)
{
	give(stack, ri);
	dp_barrier();
	stack->counter = 0;
	stack->instance = 0;
}

static void end(struct dp_stack *stack, struct dp_instance *ri,
		enum dp_call_end how)
{
	tally(stack, &ri->ended[how]);
	put_away(stack, ri);
}

/* The next one that is to be ended, of those in @stack->rest. Each is found by
 * dp_return_recover(), whenever that comes. */
static struct dp_instance *next_of(struct dp_stack *stack)
{
	struct dp_instance *ri = instance(stack->rest);

	stack->instance = (u64)ri;
	if (!ri)
		return NULL;
	dp_barrier();
	stack->rest = ri->next;
	ri->used = stack->tid;
	return ri;
}

/* The one that @link leads to. Somebody may return through it meanwhile, if it is
 * another thread's stack that he is on. */
static void abandon(struct dp_stack *stack, u64 *link)
{
	struct dp_frame *f = frame(*link);
	u32 live = DP_FRAME_LIVE;
	struct dp_instance *ri;

	stack->taken = dp_stub_number(f);
	dp_barrier();
	*link = f->next;
	if (!__atomic_compare_exchange_n(&f->state, &live, DP_FRAME_LEFT, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		dp_stub_give(stack, f);
		return;
	}
	stack->rest = f->instances;
	while ((ri = next_of(stack)))
		end(stack, ri, DP_CALL_ABANDONED);
	stack->taken = 0;
	dp_stub_leave(f);
}

/* Is its call still to return? Asked of the kernel: its stack may be gone. On its
 * way from the stub to us its number is there. */
static bool is_there(const struct dp_frame *f)
{
	u64 now;

	return dp_port_read(&now, f->slot, sizeof(now)) == sizeof(now) &&
	       (now == dp_stub_of(f) + DP_STUB_BACK || now == dp_stub_number(f));
}

/*
 * A call is about to be made from @sp: one that was at the very same place is
 * over. The list is in the order of the calls; what is farther down belongs to
 * outer ones, unless the thread has more than one stack.
 */
static void drop_same(struct dp_stack *stack, u64 sp)
{
	u64 *link = &stack->frames;
	u32 steps = 0;

	while (*link && frame(*link)->slot <= sp && ++steps < STEPS) {
		struct dp_frame *f = frame(*link);

		if (f->slot != sp) {
			link = &f->next;
			continue;
		}
		abandon(stack, link);
	}
}

/*
 * Instances are short: those of calls that this thread has left otherwise. Where
 * there were none, as in a deep recursion, it is not looked again before so many
 * calls have been missed that looking costs them next to nothing.
 * Return: false if there were none.
 */
static bool drop_left(struct dp_stack *stack)
{
	u64 *link = &stack->frames;
	u32 looked = 0, dropped = 0;

	if (stack->patience) {
		stack->patience--;
		return false;
	}
	while (*link) {
		struct dp_frame *f = frame(*link);

		looked++;
		if (is_there(f)) {
			link = &f->next;
			continue;
		}
		abandon(stack, link);
		dropped++;
	}
	if (!dropped)
		stack->patience = PATIENCE * looked;
	return dropped;
}

void dp_return_drop(struct dp_stack *stack)
{
	dp_return_recover(stack);
	while (stack->frames)
		abandon(stack, &stack->frames);
}

/* It stays the same as long as the thread lives. */
static u64 task(struct dp_stack *stack)
{
	u64 (*get)(void) = (void *)dp_arena.control.task;

	if (!stack->task && get)
		stack->task = get();
	return stack->task;
}

/* Instances are as far apart as whole words. */
static void clear(struct dp_instance *ri, u32 size)
{
	u64 *data = (u64 *)(ri + 1), *end = data + (size + 7) / 8;

	while (data < end) {
		*data++ = 0;
		__asm__ volatile("" : : : "memory");
	}
}

/* The frame whose stub the call at @sp returns to already: another probe's of this
 * function, or of one that has jumped here. */
static struct dp_frame *frame_of(u64 sp)
{
	struct dp_frame *f;
	u64 offset;

	if (!dp_stub_at(*(u64 *)sp, &offset) ||
	    offset % DP_STUB_SIZE != DP_STUB_BACK)
		return NULL;
	f = dp_stub_frame(offset / DP_STUB_SIZE);
	return f->state == DP_FRAME_LIVE && f->slot == sp ? f : NULL;
}

static struct dp_instance *take_any(struct dp_follow *f, struct dp_stack *stack)
{
	struct dp_instance *ri = take(f, stack);

	if (ri || !stack->frames || !drop_left(stack))
		return ri;
	return take(f, stack);
}

static void miss(const struct dp_follow *f)
{
	__atomic_fetch_add((u32 *)f->nmissed, 1, __ATOMIC_RELAXED);
}

static void fill(struct dp_instance *ri, struct dp_stack *stack,
		 const struct dp_follow *f, u64 back)
{
	ri->task = task(stack);
	ri->ret_addr = back;
	ri->next = 0;
	ri->ending = DP_CALL_ABANDONED;
	clear(ri, f->data_size);
}

/* Is it one of those that wait for the return? */
static bool waits(const struct dp_instance *ri)
{
	const struct dp_frame *f = frame(ri->frame);
	u64 i;

	if (__atomic_load_n(&f->state, __ATOMIC_ACQUIRE) != DP_FRAME_LIVE)
		return false;
	for (i = f->instances; i && i != (u64)ri; i = instance(i)->next)
		;
	return i;
}

static bool is_listed(const struct dp_stack *stack, const struct dp_frame *f)
{
	u64 at = stack->frames;

	while (at && at != (u64)f)
		at = frame(at)->next;
	return at;
}

/* Up to joining the frame it is just given back. Behind that the call is over, unless
 * it is still to return. */
static void recover_one(struct dp_stack *stack, struct dp_instance *ri)
{
	if ((ri->used & ~DP_INSTANCE_NEW) != stack->tid)
		return;
	if (stack->counter)
		*(u64 *)stack->counter = stack->sum;
	if (stack->counter == (u64)&ri->entered)
		ri->used = stack->tid;
	else if (stack->counter || ri->used & DP_INSTANCE_NEW)
		put_away(stack, ri);
	if (ri->used == stack->tid && !waits(ri))
		end(stack, ri, ri->ending);
}

static void recover_all(struct dp_stack *stack)
{
	struct dp_instance *ri = instance(stack->instance);

	if (ri && stack->rest == (u64)ri)
		stack->rest = ri->next;
	if (ri)
		recover_one(stack, ri);
	stack->counter = 0;
	while ((ri = next_of(stack)))
		recover_one(stack, ri);
}

void dp_return_recover(struct dp_stack *stack)
{
	struct dp_frame *f = dp_stub_frame(stack->taken);
	u32 live = DP_FRAME_LIVE;
	bool listed;

	if (!(stack->instance | stack->rest | stack->taken))
		return;
	listed = !stack->taken || is_listed(stack, f);
	if (!listed && __atomic_compare_exchange_n(&f->state, &live,
						   DP_FRAME_FREE, false,
						   __ATOMIC_ACQ_REL,
						   __ATOMIC_ACQUIRE))
		stack->rest = f->instances;
	recover_all(stack);
	if (listed)
		stack->taken = 0;
	else
		dp_stub_recover(stack);
}

/* From here on it is known where the call at @sp returns to. Calls that were left and
 * lay farther down stay in front, for those that will be made from there to find. */
static void begin_frame(struct dp_stack *stack, struct dp_frame *f, u64 sp)
{
	u64 *link = &stack->frames;
	u32 steps = 0;

	f->ret_addr = *(u64 *)sp;
	f->slot = sp;
	f->instances = 0;
	f->stack = (u64)stack;
	while (*link && frame(*link)->slot < sp && ++steps < STEPS)
		link = &frame(*link)->next;
	f->next = *link;
	__atomic_store_n(&f->state, DP_FRAME_LIVE, __ATOMIC_RELEASE);
	*link = (u64)f;
	dp_barrier();
	stack->taken = 0;
	/* Also where the stub will: other handlers of this hit may look at it, and
	 * a signal may come before. */
	*(u64 *)sp = dp_stub_of(f) + DP_STUB_BACK;
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
	tally(stack, &ri->entered);
	dp_barrier();
	__atomic_store_n(&ri->used, stack->tid, __ATOMIC_RELEASE);
	dp_barrier();
	stack->counter = 0;
	f->user = ri->user;
	f->instances = (u64)ri;
	dp_barrier();
	stack->instance = 0;
}

void dp_return_enter(u32 probe, struct dp_regs *regs, struct dp_stack *stack,
		     struct dp_frame **begun)
{
	const struct dp_probe_entry *p = dp_probe(probe);
	struct dp_follow *follow = (void *)p->follow;
	struct dp_frame *f = frame_of(regs->sp), *new = NULL;
	struct dp_instance *ri;

	if (!f)
		drop_same(stack, regs->sp);
	ri = take_any(follow, stack);
	if (ri && !f)
		new = dp_stub_take(stack);
	if (!ri || !(f || new)) {
		if (ri)
			put_away(stack, ri);
		miss(follow);
		return;
	}
	fill(ri, stack, follow, f ? f->ret_addr : *(u64 *)regs->sp);
	if (follow->entry &&
	    (u32)dp_call_handler(stack, probe, follow->entry, (u64)ri,
				 (u64)regs, follow->entry_needs)) {
		if (new)
			dp_stub_give(stack, new);
		end(stack, ri, DP_CALL_VETOED);
		return;
	}
	if (new) {
		begin_frame(stack, new, regs->sp);
		f = *begun = new;
	}
	join(stack, f, ri);
}

struct ending {
	struct dp_regs *regs;
	struct dp_stack *stack;
	struct dp_frame *frame;
	enum dp_call_end how;
	bool keeps; /* its frame is still looked at */
};

static void finish(struct ending *e, struct dp_instance *ri)
{
	const struct dp_follow *f = follow_of(ri);
	u64 handler = __atomic_load_n(&f->handler, __ATOMIC_ACQUIRE);

	ri->ending = e->how;
	e->regs->ip = ri->ret_addr;
	if (handler && (e->how == DP_CALL_RETURNED || f->unwind))
		dp_call_handler(e->stack, f->probe, handler, (u64)ri,
				(u64)e->regs, f->handler_needs);
	end(e->stack, ri, e->how);
}

/* Out of its list, if that is ours. Return: false if the call was taken for left
 * meanwhile. */
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
	for (link = &stack->frames; *link; link = &frame(*link)->next)
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

/* Every probe of the function that has ended, the last one that was entered
 * first. */
static void finish_all(struct ending *e, u64 instances)
{
	struct dp_instance *ri;

	e->stack->rest = instances;
	while ((ri = next_of(e->stack)))
		finish(e, ri);
}

/* On the handler stack, where no hit is handled that a signal brings. */
static u32 run(void *arg)
{
	struct ending *e = arg;
	struct dp_stack *stack = e->stack;
	u64 instances = e->frame->instances;
	bool hidden;

	stack->sp = e->regs->sp;
	stack->regs = (u64)e->regs;
	stack->site = 0;
	/* A result may be in there, and leaves enough room. */
	stack->x87 = 0;
	stack->after = 0;
	stack->hits++;
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

/* There is no room for this thread's handlers. */
static void end_unseen(struct ending *e)
{
	u64 instances = e->frame->instances;

	if (!leave_frame(NULL, e->frame, false)) {
		late(e->frame);
		return;
	}
	while (instances) {
		struct dp_instance *ri = instance(instances);

		instances = ri->next;
		miss(follow_of(ri));
		ri->ended[e->how]++;
		give(NULL, ri);
	}
}

static void end_frame(struct dp_frame *f, struct dp_regs *regs,
		      enum dp_call_end how, bool keeps)
{
	struct ending e = { .regs = regs,
			    .frame = f,
			    .how = how,
			    .keeps = keeps };

	/* A child goes back as if there had been no probe. */
	if (!dp_wipe.owner || !dp_hit_is_owners())
		return;
	e.stack = dp_stack_mine();
	if (!e.stack) {
		end_unseen(&e);
		return;
	}
	dp_return_recover(e.stack);
	dp_call_away(e.stack, regs->sp, &e, run);
}

/* The call of frame @at->back has ended. Leaves there where the thread goes on. */
static void end_call(struct dp_returned *at, enum dp_call_end how)
{
	struct dp_frame *f = dp_stub_frame(at->back);

	at->regs.sp = (u64)(at + 1);
	at->regs.ip = at->back = f->ret_addr;
	end_frame(f, &at->regs, how, false);
}

void dp_return_hit(struct dp_returned *at)
{
	end_call(at, DP_CALL_RETURNED);
}

/* What the landing pad of a stub has made of an exception that passes: ax is the
 * exception, and the frame's @cont where to go on with it. */
u64 dp_return_unwound(struct dp_returned *at)
{
	u64 resume = dp_stub_frame(at->back)->cont, exception = at->regs.ax;

	end_call(at, DP_CALL_UNWOUND);
	at->regs.di = exception;
	return resume;
}

/* The same where nobody wants to be called: from the unwinder, which goes on by
 * itself. It still looks at the frame. */
void dp_return_passed(u64 number)
{
	struct dp_frame *f = dp_stub_frame(number);
	struct dp_stack *stack = dp_stack_mine();
	struct dp_regs *regs = stack ? (void *)stack->trapped : NULL;

	/* Nobody is shown any of them. */
	if (regs)
		regs->sp = f->slot + sizeof(u64);
	end_frame(f, regs, DP_CALL_UNWOUND, true);
}

/* --- the usual call, for entry.S --- */

/*
 * One probe with plain handlers, a call that is made farther down than all others
 * of the thread which are followed, from somebody who is not a stub; and a stub at
 * hand. Everything else is for dp_return_enter().
 */
struct dp_quick dp_return_quick_enter(const struct dp_probe_entry *p,
				      struct dp_regs *regs,
				      struct dp_stack *stack)
{
	const struct dp_quick none = { 0, 0 };
	struct dp_follow *f = (void *)p->follow;
	u64 sp = regs->sp, offset;
	struct dp_instance *ri;

	if (p->kind != DP_KIND_RETURN || !f->quick || !stack->spare ||
	    dp_stub_at(*(u64 *)sp, &offset) ||
	    (stack->frames && frame(stack->frames)->slot <= sp))
		return none;
	ri = search(f, stack);
	if (!ri)
		return none;
	fill(ri, stack, f, *(u64 *)sp);
	return (struct dp_quick){ (u64)ri, f->entry };
}

void dp_return_quick_begin(u32 veto, struct dp_stack *stack)
{
	struct dp_call_frame *at = (void *)stack->regs;
	const struct dp_jump *j = &dp_site_at(at->number)->jump;
	struct dp_instance *ri = instance(stack->instance);
	struct dp_frame *f;

	if (veto) {
		end(stack, ri, DP_CALL_VETOED);
		return;
	}
	f = dp_stub_take_spare(stack);
	begin_frame(stack, f, at->regs.sp);
	join(stack, f, ri);
	if (at->regs.sp == stack->sp)
		*(u64 *)(at + 1) = dp_return_through(f, j->base + j->insn[0]);
}

/* The innermost of the thread's calls, and only one probe that waits for it. */
struct dp_quick dp_return_quick_hit(struct dp_returned *at,
				    struct dp_stack *stack)
{
	const struct dp_quick none = { 0, 0 };
	struct dp_frame *f = dp_stub_frame(at->back);
	struct dp_instance *ri = instance(f->instances);
	struct dp_follow *follow;

	if (stack->frames != (u64)f || f->state != DP_FRAME_LIVE || ri->next ||
	    stack->nr_spare == DP_SPARE_FRAMES)
		return none;
	follow = follow_of(ri);
	if (!follow->quick)
		return none;
	ri->ending = DP_CALL_RETURNED;
	stack->instance = (u64)ri;
	stack->taken = (u32)at->back;
	dp_barrier();
	f->state = DP_FRAME_FREE;
	dp_barrier();
	stack->frames = f->next;
	at->regs.ip = at->back = ri->ret_addr;
	dp_stub_give_spare(stack, f);
	return (struct dp_quick){ (u64)ri, __atomic_load_n(&follow->handler,
							   __ATOMIC_ACQUIRE) };
}

void dp_return_quick_end(struct dp_stack *stack)
{
	end(stack, instance(stack->instance), DP_CALL_RETURNED);
}
