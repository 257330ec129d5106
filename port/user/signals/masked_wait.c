// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * masked_wait: system calls that sleep under a mask of their own.
 *
 * sigsuspend, ppoll, pselect, epoll_pwait: the kernel puts the program's mask in force for
 * the time of the call, and for handlers that run meanwhile. The kernel gets a copy without
 * caught signals. The virtual mask is what the program gave, until the call returns.
 *
 *   mov $nr, %eax ──► dp_masked_wait_enter(): the copy, the new virtual mask
 *   syscall           made in place, so that unwinders know the pc, and the agent can
 *                     leave while the thread sleeps
 *   cmp …, %rax ────► dp_masked_wait_return(): the old virtual mask
 *
 * These calls open signals and sleep in one step. A caught signal that is open in the call
 * only, and comes too early or is deferred, must end the sleep; if the call returns at
 * once, the signal stays pending. So the agent makes it pending in the kernel, with every
 * signal blocked up to the call.
 *
 * musl makes all calls in which a thread can be cancelled in one function, and tells by the
 * pc whether the thread sleeps there. So the code of that function stays as it is:
 *
 *   call __syscall_cp ► dp_masked_wait_enter(): arguments of the call, one register later
 *   … syscall …         the place of our copy tells where the thread is
 *   call __syscall_ret► dp_masked_wait_come_through(); or where the thread is cancelled
 *
 * A handler that ends by longjmp abandons the call. The entry is released when the thread
 * makes such a call from the same stack depth or farther out.
 */
#include "arch/arch.h"
#include "engine/layout/private.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "port/user/signals/masked_wait.h"
#include "engine/hit/hit.h"
#include "port/user/signals/trap.h"
#include "port/user/signals/mask.h"
#include "port.h"
#include "port_hit.h"

#define SYSCALL_SIZE 2
/* The agent uses less of the stack; a signal frame is larger. */
#define AGENT_STACK 1000

/* The register that has the mask; NULL: the call is no masked wait. */
static u64 *argument(u64 nr, struct dp_mcontext *regs)
{
	int n = dp_wait_argument(nr);

	return n < 0 ? NULL : dp_mcontext_arg(regs, (u32)n);
}

/* The register or word that has the mask where __syscall_cp() is called; @size: of the mask */
static u64 *passed_on(u64 nr, struct dp_mcontext *regs, u64 *size)
{
	u64 *stack = (u64 *)regs->rsp;

	switch (nr) {
	case __NR_rt_sigsuspend:
		*size = regs->rdx;
		return &regs->rsi;
	case __NR_ppoll:
		*size = regs->r9;
		return &regs->r8;
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		*size = *stack;
		return &regs->r9;
	case __NR_pselect6:
		return stack;
	default:
		return NULL;
	}
}

/* Return: false if there is no mask, or the kernel would not take it. */
static bool read_mask(u64 nr, u64 arg, u64 size, u64 *mask)
{
	u64 pair[2] = { arg, size };

	if (!arg ||
	    (dp_wait_is_pair(nr) && dp_port_copy_in(pair, arg, sizeof(pair))))
		return false;
	return pair[0] && pair[1] == DP_SIGSET_BYTES &&
	       !dp_mask_get(mask, pair[0]);
}

static void release(struct dp_masked_wait *s)
{
	if (s->unknown)
		__atomic_fetch_sub(&dp_private.unknowns, 1, __ATOMIC_RELAXED);
	s->unknown = 0;
	/* A signal may come between the next claim and what that enters. */
	s->was = 0;
	__atomic_store_n(&s->thread, 0, __ATOMIC_RELEASE);
}

/* Each masked wait of one thread: dp_mask_whose() */
#define dp_each_wait(s, whose)                                       \
	for ((s) = dp_private.masked_waits;                          \
	     (s) < &dp_private.masked_waits[DP_MASKED_WAITS]; (s)++) \
		if (__atomic_load_n(&(s)->thread, __ATOMIC_RELAXED) == (whose))

void dp_masked_wait_forget(u64 thread)
{
	struct dp_masked_wait *s;

	dp_each_wait(s, thread)
		release(s);
}

static bool same_stack(u64 a, u64 b)
{
	u64 start, size;

	dp_port_altstack(&start, &size);
	return (a - start < size) == (b - start < size);
}

/* Release the calls that were abandoned by longjmp. */
static void release_left(u64 thread, u64 sp)
{
	struct dp_masked_wait *s;

	dp_each_wait(s, thread)
		if (s->sp <= sp && same_stack(s->sp, sp))
			release(s);
}

static struct dp_masked_wait *claim(u64 thread)
{
	struct dp_masked_wait *s, *got = NULL;
	u64 none;
	u32 i;

	for (i = 0; i < DP_MASKED_WAITS && !got; i++) {
		s = &dp_private.masked_waits[i];
		none = __atomic_load_n(&s->thread, __ATOMIC_RELAXED);
		if (!none && __atomic_compare_exchange_n(
				     &s->thread, &none, thread, false,
				     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			got = s;
	}
	return got;
}

/* Is the code from the intercept to the end of the call free of breakpoints? The thread
 * would meet them with all signals blocked. */
static bool is_intact(const struct dp_masked_wait *s)
{
	const u8 *end = (const u8 *)s->back;

	if (s->through)
		return !s->touched;
	return end[-2] == 0x0f && end[-1] == 0x05 &&
	       (s->back != s->behind || s->back - s->call == 7 ||
		end[-6] == 0x8b);
}

/* Block all signals now. */
static void close(struct dp_masked_wait *s)
{
	u64 all = ~0ull;

	dp_syscall(__NR_rt_sigprocmask, DP_SIG_SETMASK, &all, &s->real,
		   DP_SIGSET_BYTES);
	s->closed = 1;
}

static void fill(struct dp_masked_wait *s, const struct dp_site_entry *site,
		 u64 nr, const struct dp_mcontext *regs)
{
	const struct dp_jump *j = dp_jump_of(site);

	s->nr = (u32)nr;
	s->closed = 0;
	s->sp = regs->rsp;
	s->call = site->addr;
	s->detour = j->base;
	s->detour_len = j->len;
	s->behind = s->back = site->addr + dp_call_length(site->number);
	s->stacked = site->number == DP_ANY_CALL;
	s->through = dp_call_goes_through(site->number);
	s->touched = s->through && site->number & DP_CALL_TOUCHED;
	if (s->through)
		s->back = 0;
	if (dp_call_is_any(site->number)) {
		s->behind = site->addr + j->size;
		s->back = j->base + j->insn[j->nr - 1] + SYSCALL_SIZE;
	}
	s->pair[0] = (u64)&s->mask;
	s->pair[1] = DP_SIGSET_BYTES;
	s->serial = __atomic_add_fetch(&dp_private.serial, 1, __ATOMIC_RELAXED);
}

/* The word from which syscall(3) loads its last argument. */
static u64 *last_argument(const struct dp_mcontext *regs)
{
	return (u64 *)regs->rsp + 1;
}

/* Address of the copy of the mask. */
static u64 copy_of(const struct dp_masked_wait *s)
{
	return dp_wait_is_pair(s->nr) ? (u64)s->pair : (u64)&s->mask;
}

/* The kernel gets the copy at @arg; the virtual mask is what the program gave. */
static void put_in_force(struct dp_masked_wait *s, u64 *arg, u64 mask, u64 was)
{
	u64 caught = dp_mask_caught();

	s->mask = mask & ~caught;
	s->was = was;
	s->given = *arg;
	*arg = copy_of(s);
	if (was & ~mask && dp_mask_defers() && is_intact(s))
		close(s);
	dp_mask_set_virtual(mask & caught);
}

/* Is a caught signal in one of the two masks? While our actions come or go, the outer
 * virtual mask is not all that is blocked. */
static bool concerns_us(u64 was, u64 mask)
{
	u64 caught = dp_mask_caught();

	return caught && (!dp_private.in_force || (was | mask) & caught);
}

static void enter(const struct dp_site_entry *site, u64 nr,
		  struct dp_mcontext *regs, u64 *arg, u64 size)
{
	u64 was, mask, thread;
	struct dp_masked_wait *s;

	if (!read_mask(nr, *arg, size, &mask))
		return;
	was = dp_mask_blocked();
	if (!concerns_us(was, mask))
		return;
	thread = dp_mask_whose();
	release_left(thread, regs->rsp);
	s = claim(thread);
	if (!s) {
		__atomic_fetch_add(&dp_arena.hit.unmasked, 1, __ATOMIC_RELAXED);
		return;
	}
	fill(s, site, nr, regs);
	put_in_force(s, arg, mask, was);
}

void dp_masked_wait_enter(const struct dp_site_entry *site, u64 nr,
			  struct dp_mcontext *regs)
{
	bool stacked = site->number == DP_ANY_CALL;
	u64 *arg, size = DP_SIGSET_BYTES;

	if (dp_private.unknowns)
		release_left(dp_mask_whose(), regs->rsp);
	if (dp_call_goes_through(site->number)) {
		/* The return is recognized by the stack pointer: no old entry may have it. */
		release_left(dp_mask_whose(), regs->rsp);
		arg = passed_on(nr, regs, &size);
	} else {
		arg = argument(nr, regs);
		if (arg && stacked)
			regs->r9 = *last_argument(regs);
		if (arg && !dp_wait_is_pair(nr))
			size = *dp_mcontext_arg(regs,
						(u32)dp_wait_argument(nr) + 1);
	}
	if (!arg)
		return;
	enter(site, nr, regs, arg, size);
	if (stacked)
		*last_argument(regs) = regs->r9;
}

static struct dp_masked_wait *at(u64 addr)
{
	u64 offset = addr - (u64)dp_private.masked_waits;

	if (offset >= sizeof(dp_private.masked_waits))
		return NULL;
	return &dp_private.masked_waits[offset / sizeof(struct dp_masked_wait)];
}

/* The call is found by the address in the register of its mask. */
static struct dp_masked_wait *find(struct dp_mcontext *regs)
{
	const u64 in[] = { regs->rdi, regs->r10, regs->r8, regs->r9 };
	struct dp_masked_wait *s;
	u64 *arg;
	u32 i;

	for (i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		s = at(in[i]);
		/* A free entry belongs to no call. */
		arg = s ? argument(s->nr, regs) : NULL;
		if (arg && *arg == in[i] && s->thread == dp_mask_whose())
			return s;
	}
	return NULL;
}

static void end(struct dp_masked_wait *s)
{
	bool closed;
	u64 real;

	/* Up to here a signal may be delayed, and close the call. */
	dp_mask_set_virtual(s->was);
	closed = s->closed;
	real = s->real;
	release(s);
	if (closed)
		dp_port_swap_sigmask(real);
}

/* A call that was interrupted before the agent came has returned, after its handler. */
static void return_unknown(u64 sp)
{
	struct dp_masked_wait *s;
	u64 thread;

	/* No needless system call: dp_mask_whose() makes some, and a filter may forbid them. */
	if (!dp_private.unknowns)
		return;
	thread = dp_mask_whose();
	dp_each_wait(s, thread)
		if (s->unknown && s->sp == sp)
			end(s);
}

void dp_masked_wait_return(struct dp_mcontext *regs)
{
	struct dp_masked_wait *s = find(regs);

	if (!s)
		return_unknown(regs->rsp);
	if (!s || s->sp != regs->rsp)
		return;
	*argument(s->nr, regs) = s->given;
	if (s->stacked && dp_wait_is_pair(s->nr))
		*last_argument(regs) = s->given;
	end(s);
}

static bool follows_syscall(u64 pc)
{
	const u8 *code = (const u8 *)pc;

	return code[-2] == 0x0f && code[-1] == 0x05;
}

static bool is_behind_call(const struct dp_masked_wait *s, u64 pc)
{
	if (s->through)
		return follows_syscall(pc);
	return pc == s->back || pc == s->behind;
}

struct dp_masked_wait *dp_masked_wait_of(struct dp_mcontext *regs)
{
	struct dp_masked_wait *s = find(regs);

	return s && (s64)regs->rax == -EINTR && is_behind_call(s, regs->rip) ?
		       s :
		       NULL;
}

static struct dp_masked_wait *newest(void)
{
	u64 thread = dp_mask_whose();
	struct dp_masked_wait *s, *best = NULL;

	dp_each_wait(s, thread)
		if (!best || s->serial > best->serial)
			best = s;
	return best;
}

/* Is a thread at stack pointer @sp in a function that was called at @top, to return to
 * @behind? */
static bool is_called(u64 top, u64 behind, u64 sp)
{
	return top - sp - 1 < DP_THROUGH_STACK &&
	       ((const u64 *)top)[-1] == behind;
}

/* Is the thread in the function that was called at @s->call? */
static bool is_below(const struct dp_masked_wait *s, u64 sp)
{
	return is_called(s->sp, s->behind, sp);
}

/* Has the thread returned from there, and not yet come to the intercept? */
static bool is_back(const struct dp_masked_wait *s, u64 pc, u64 sp)
{
	return pc - s->behind < DP_THROUGH_TAIL && sp - s->sp < DP_THROUGH_TAIL;
}

void dp_masked_wait_come_through(const struct dp_site_entry *site,
				 const struct dp_mcontext *regs)
{
	u64 thread = dp_mask_whose();
	struct dp_masked_wait *s;

	dp_each_wait(s, thread)
		if (s->through && (is_back(s, site->addr, regs->rsp) ||
				   is_below(s, regs->rsp))) {
			end(s);
			return;
		}
}

static bool is_in_kernel(const struct dp_kernel_wait *n,
			 const struct dp_mcontext *regs, s32 sig)
{
	/* A signal that the call blocks may come right behind the call. */
	if (n->mask & DP_SIGMASK(sig))
		return false;
	if (!n->through)
		return (regs->rip == n->behind || regs->rip == n->back) &&
		       regs->rsp == n->sp;
	return is_called(n->sp, n->behind, regs->rsp) &&
	       follows_syscall(regs->rip);
}

const struct dp_kernel_wait *
dp_masked_wait_in_kernel(const struct dp_mcontext *regs, s32 sig)
{
	u64 thread;
	u32 i;

	if (dp_private.in_force || (s64)regs->rax != -EINTR)
		return NULL;
	thread = dp_mask_whose();
	for (i = 0; i < DP_MASKED_WAITS; i++)
		if (dp_private.kernel_waits[i].thread == thread &&
		    is_in_kernel(&dp_private.kernel_waits[i], regs, sig))
			return &dp_private.kernel_waits[i];
	return NULL;
}

/* Is the address of our mask in a register or on the stack, for the call? */
static bool has_copy(const struct dp_masked_wait *s,
		     const struct dp_mcontext *regs)
{
	u64 copy = copy_of(s);
	const u64 *word = (const u64 *)regs;
	u32 i;

	for (i = 0; i < sizeof(*regs) / sizeof(*word); i++)
		if (word[i] == copy)
			return true;
	for (word = (const u64 *)regs->rsp; word <= (const u64 *)s->sp; word++)
		if (*word == copy)
			return true;
	return false;
}

/* Is the thread between a change of the virtual mask and the call itself, before or behind
 * the call? */
static bool is_beside(const struct dp_masked_wait *s,
		      const struct dp_mcontext *regs)
{
	u64 pc = regs->rip;

	if (s->through && is_back(s, pc, regs->rsp))
		return true;
	if (s->sp - regs->rsp >= AGENT_STACK)
		return false;
	return dp_trap_inside(pc) || pc - s->call <= s->behind - s->call ||
	       pc - s->detour < s->detour_len ||
	       (s->through && is_below(s, regs->rsp) && has_copy(s, regs));
}

bool dp_masked_wait_delay(const struct dp_siginfo *info, struct dp_ucontext *uc)
{
	struct dp_masked_wait *s = newest();

	if (!s || s->closed || !(s->was & DP_SIGMASK(info->signo)) ||
	    !is_beside(s, &uc->mc) || dp_masked_wait_of(&uc->mc) ||
	    !is_intact(s))
		return false;
	/* The signal waits in the kernel from here on. Up to the call all others
	 * are blocked, too. */
	dp_port_swap_sigmask(~0ull);
	s->real = uc->sigmask;
	s->closed = 1;
	uc->sigmask = ~0ull;
	dp_port_requeue(info->signo, info);
	return true;
}

void dp_masked_wait_again(const struct dp_siginfo *info, struct dp_ucontext *uc)
{
	struct dp_masked_wait *s = dp_masked_wait_of(&uc->mc);
	const struct dp_kernel_wait *n =
		s ? NULL : dp_masked_wait_in_kernel(&uc->mc, info->signo);

	if (n) {
		uc->mc.rip -= SYSCALL_SIZE;
		uc->mc.rax = n->nr;
	}
	if (!s || !is_intact(s))
		return;
	uc->mc.rip -= SYSCALL_SIZE;
	uc->mc.rax = s->nr;
	/* Signals that the call's mask blocks must not come before the call. */
	if (!s->closed)
		s->real = uc->sigmask;
	s->closed = 1;
	uc->sigmask = ~0ull;
}

/* Like mend(), of an unknown call, if @at is the place of rsp in the handler's frame. */
static void mend_unknown(const struct dp_masked_wait *s, u64 at)
{
	struct dp_ucontext *uc =
		(void *)(at - __builtin_offsetof(struct dp_ucontext, mc.rsp));

	if (uc->mc.rsp == s->sp && uc->mc.rip == s->back &&
	    uc->mc.cs == DP_USER_CS && (s64)uc->mc.rax == -EINTR)
		uc->sigmask |= s->was;
}

/* Mend the frame of a handler that returns to the call, if @at is the place of the
 * register with the mask in that frame. */
static void mend(const struct dp_masked_wait *s, u64 at)
{
	u64 *reg = (u64 *)at;
	u64 offset = (u64)argument(s->nr, (void *)at) - at;
	struct dp_mcontext *mc = (void *)(at - offset);
	struct dp_ucontext *uc =
		(void *)((u64)mc - __builtin_offsetof(struct dp_ucontext, mc));

	if (*reg != copy_of(s) || mc->cs != DP_USER_CS ||
	    (s64)mc->rax != -EINTR ||
	    (s->through ? !is_below(s, mc->rsp) : mc->rsp != s->sp))
		return;
	*reg = s->given;
	uc->sigmask = (s->closed ? s->real : uc->sigmask) | s->was;
}

/* Search from here to where the call was made, or to the end of the alternate stack. */
static void mend_frame(const struct dp_masked_wait *s)
{
	u64 at = (u64)__builtin_frame_address(0), end = s->sp, start, size;

	if (!same_stack(at, end)) {
		dp_port_altstack(&start, &size);
		if (at - start >= size)
			return;
		end = start + size;
	}
	for (; at < end; at += sizeof(u64))
		s->unknown ? mend_unknown(s, at) : mend(s, at);
}

void dp_masked_wait_give_back(void)
{
	u64 thread = dp_mask_whose();
	struct dp_masked_wait *s;

	dp_each_wait(s, thread) {
		mend_frame(s);
		release(s);
	}
}
