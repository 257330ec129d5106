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
#include "port_hit.h"

#define INDEX 0xffffffffull
/* Of calls that were left by longjmp, looked at before a new one. */
#define STEPS 64
/* Looking at one takes a system call. */
#define PATIENCE 16

static struct dp_frames *frames(void)
{
	return (void *)dp_arena.control.frames;
}

static struct dp_frame *frame_at(u64 number)
{
	return &((struct dp_frame *)frames()->table)[number];
}

static u32 number_of(const struct dp_frame *f)
{
	return (u32)(f - frame_at(0));
}

static u64 stub_of(const struct dp_frame *f)
{
	return frames()->stubs + (u64)number_of(f) * DP_STUB_SIZE;
}

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

/* A stamp above the number, so that a list which has changed meanwhile and looks
 * the same is told. */
static struct dp_frame *pop(u64 *list)
{
	u64 was = __atomic_load_n(list, __ATOMIC_ACQUIRE), next;

	do {
		if (!(was & INDEX))
			return NULL;
		next = ((was & ~INDEX) + INDEX + 1) |
		       frame_at((u32)was)->next_free;
	} while (!__atomic_compare_exchange_n(list, &was, next, false,
					      __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return frame_at((u32)was);
}

static void push(u64 *list, struct dp_frame *f)
{
	u64 was = __atomic_load_n(list, __ATOMIC_ACQUIRE), next;

	do {
		f->next_free = (u32)was;
		next = ((was & ~INDEX) + INDEX + 1) | number_of(f);
	} while (!__atomic_compare_exchange_n(list, &was, next, false,
					      __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
}

/* The first of each page of stubs is none. */
static struct dp_frame *fresh(void)
{
	u64 n = __atomic_load_n(&frames()->fresh, __ATOMIC_RELAXED), number;

	do {
		number = n + !(n % DP_STUBS_A_PAGE);
		if (number >= __atomic_load_n(&frames()->nr, __ATOMIC_ACQUIRE))
			return NULL;
	} while (!__atomic_compare_exchange_n(&frames()->fresh, &n, number + 1,
					      false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return frame_at(number);
}

static struct dp_frame *take_frame(struct dp_stack *stack)
{
	struct dp_frame *f;

	if (stack->nr_spare) {
		f = frame_at(stack->spare);
		stack->spare = f->next_free;
		stack->nr_spare--;
		return f;
	}
	f = pop(&frames()->free);
	if (!f)
		f = fresh();
	return f ? f : pop(&frames()->left);
}

static void give_frame(struct dp_stack *stack, struct dp_frame *f)
{
	__atomic_store_n(&f->state, DP_FRAME_FREE, __ATOMIC_RELAXED);
	if (stack->nr_spare >= DP_SPARE_FRAMES) {
		push(&frames()->free, f);
		return;
	}
	f->next_free = stack->spare;
	stack->spare = number_of(f);
	stack->nr_spare++;
}

/* One that the unwinder is still to look at: until it has come to the next. */
static void keep_frame(struct dp_stack *stack, struct dp_frame *f)
{
	if (stack->kept)
		give_frame(stack, frame_at(stack->kept));
	__atomic_store_n(&f->state, DP_FRAME_FREE, __ATOMIC_RELAXED);
	stack->kept = number_of(f);
}

/* A thread's calls return in turn: the next one free is likely to be where the
 * last one was, or behind it. */
static u32 *hint(struct dp_stack *stack, const struct dp_follow *f)
{
	return &stack->hints[f->probe % DP_HINTS];
}

static bool claim(struct dp_instance *ri)
{
	u16 no = 0;

	return !__atomic_load_n(&ri->used, __ATOMIC_RELAXED) &&
	       __atomic_compare_exchange_n(&ri->used, &no, 1, false,
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
		if (claim(ri)) {
			*hint(stack, f) = i;
			return ri;
		}
	}
	return NULL;
}

static struct dp_instance *take(struct dp_follow *f, struct dp_stack *stack)
{
	if (f->nr <= DP_FOLLOW_SCAN)
		return search(f, stack);
	/* Who is let in here finds one. */
	if (__atomic_fetch_add(&f->away, 1, __ATOMIC_ACQUIRE) < f->nr)
		return search(f, stack);
	__atomic_fetch_sub(&f->away, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* The pool may be freed when the last word is said. */
static void give(struct dp_stack *stack, struct dp_instance *ri)
{
	struct dp_follow *f = follow_of(ri);
	bool large = f->nr > DP_FOLLOW_SCAN;

	if (stack)
		*hint(stack, f) = ri->index;
	__atomic_store_n(&ri->used, 0, __ATOMIC_RELEASE);
	if (large)
		__atomic_fetch_sub(&f->away, 1, __ATOMIC_RELEASE);
}

static void end(struct dp_stack *stack, struct dp_instance *ri,
		enum dp_call_end how)
{
	ri->ended[how]++;
	give(stack, ri);
}

/* It is in no list any more. Somebody may return through it meanwhile, if it is
 * another thread's stack that he is on. */
static void abandon(struct dp_stack *stack, struct dp_frame *f)
{
	u32 live = DP_FRAME_LIVE;
	u64 next;

	if (!__atomic_compare_exchange_n(&f->state, &live, DP_FRAME_LEFT, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		give_frame(stack, f);
		return;
	}
	for (u64 i = f->instances; i; i = next) {
		next = instance(i)->next;
		end(stack, instance(i), DP_CALL_ABANDONED);
	}
	push(&frames()->left, f);
}

/* Is its call still to return? Asked of the kernel: its stack may be gone. On its
 * way from the stub to us its number is there. */
static bool is_there(const struct dp_frame *f)
{
	u64 now;

	return dp_port_read(&now, f->slot, sizeof(now)) == sizeof(now) &&
	       (now == stub_of(f) + DP_STUB_BACK || now == number_of(f));
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
		*link = f->next;
		abandon(stack, f);
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
		*link = f->next;
		abandon(stack, f);
		dropped++;
	}
	if (!dropped)
		stack->patience = PATIENCE * looked;
	return dropped;
}

void dp_return_drop(struct dp_stack *stack)
{
	while (stack->frames) {
		struct dp_frame *f = frame(stack->frames);

		stack->frames = f->next;
		abandon(stack, f);
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

/* The frame whose stub the call at @sp returns to already: another probe's of this
 * function, or of one that has jumped here. */
static struct dp_frame *frame_of(u64 sp)
{
	u64 back = *(u64 *)sp - frames()->stubs - DP_STUB_BACK;
	struct dp_frame *f;

	if (back >= frames()->nr * DP_STUB_SIZE || back % DP_STUB_SIZE)
		return NULL;
	f = frame_at(back / DP_STUB_SIZE);
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

static void fill(struct dp_instance *ri, const struct dp_follow *f, u64 back)
{
	ri->task = task();
	ri->ret_addr = back;
	ri->frame = 0;
	ri->ending = DP_CALL_RETURNED;
	clear(ri, f->data_size);
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
	/* Also where the stub will: other handlers of this hit may look at it, and
	 * a signal may come before. */
	*(u64 *)sp = stub_of(f) + DP_STUB_BACK;
}

u64 dp_return_through(struct dp_frame *f, u64 cont)
{
	f->cont = cont;
	return stub_of(f);
}

static void join(struct dp_frame *f, struct dp_instance *ri)
{
	ri->frame = (u64)f;
	ri->next = f->instances;
	ri->entered++;
	f->user = ri->user;
	f->instances = (u64)ri;
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
		new = take_frame(stack);
	if (!ri || !(f || new)) {
		if (ri)
			give(stack, ri);
		miss(follow);
		return;
	}
	fill(ri, follow, f ? f->ret_addr : *(u64 *)regs->sp);
	if (follow->entry &&
	    (u32)dp_call_handler(stack, probe, follow->entry, (u64)ri,
				 (u64)regs, follow->entry_needs)) {
		if (new)
			give_frame(stack, new);
		end(stack, ri, DP_CALL_VETOED);
		return;
	}
	if (new) {
		begin_frame(stack, new, regs->sp);
		f = *begun = new;
	}
	join(f, ri);
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
	for (link = &stack->frames; *link; link = &frame(*link)->next)
		if (*link == (u64)f) {
			*link = f->next;
			break;
		}
	if (keeps)
		keep_frame(stack, f);
	else
		give_frame(stack, f);
	return true;
}

static void late(const struct dp_frame *f)
{
	frames()->late_user = f->user;
	frames()->late_addr = f->ret_addr;
	__atomic_fetch_add(&frames()->late, 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&dp_arena.hit.news, 1, __ATOMIC_RELEASE);
}

/* Every probe of the function that has ended, the last one that was entered
 * first. */
static void finish_all(struct ending *e, u64 instances)
{
	while (instances) {
		struct dp_instance *ri = instance(instances);

		instances = ri->next;
		finish(e, ri);
	}
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
		end(NULL, ri, e->how);
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
	if (e.stack)
		dp_call_away(e.stack, regs->sp, &e, run);
	else
		end_unseen(&e);
}

/* The call of frame @at->back has ended. Leaves there where the thread goes on. */
static void end_call(struct dp_returned *at, enum dp_call_end how)
{
	struct dp_frame *f = frame_at(at->back);

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
	u64 resume = frame_at(at->back)->cont, exception = at->regs.ax;

	end_call(at, DP_CALL_UNWOUND);
	at->regs.di = exception;
	return resume;
}

/* The same where nobody wants to be called: from the unwinder, which goes on by
 * itself. It still looks at the frame. */
void dp_return_passed(u64 number)
{
	struct dp_frame *f = frame_at(number);
	struct dp_stack *stack = dp_stack_mine();
	struct dp_regs *regs = stack ? (void *)stack->trapped : NULL;

	/* Nobody is shown any of them. */
	if (regs)
		regs->sp = f->slot + sizeof(u64);
	end_frame(f, regs, DP_CALL_UNWOUND, true);
}
