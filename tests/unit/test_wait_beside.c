// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * wait_beside: what comes just before or behind a masked wait, calls that began without the
 * agent, and stacks on which handlers run, in a world in memory.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <asm/unistd.h>
#include <sys/mman.h>
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "port/fake/hit/world.h"
#include "port/user/signals/mask.h"
#include "port/user/signals/masked_wait.h"
#include "port/user/signals/trap.h"
#include "port.h"
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "port_hit.h"

#define SIGUSR1 10
#define TRAP DP_SIGMASK(DP_SIGTRAP)
#define ILL DP_SIGMASK(DP_SIGILL)
#define USR1 DP_SIGMASK(SIGUSR1)
#define USR2 DP_SIGMASK(12)
#define HANDLER 0x5000000ull
#define CALL_BYTES 7 /* mov $nr, %eax; syscall */
#define DETOUR 0x7000000ull
#define DETOUR_LEN 64
#define NOWHERE 0x6000000ull

static u8 text[] = { 0xb8, __NR_rt_sigsuspend, 0, 0, 0, 0x0f, 0x05, 0x48 };
static struct dp_site_entry *site, *back;
static u64 mask;
static struct dp_mcontext *regs;

/* The first entry is the first that is taken. */
static struct dp_masked_wait *const first = dp_private.masked_waits;

static int begin(void **state)
{
	struct dp_kernel_sigaction act = { HANDLER, DP_SA_RESTORER, 1, 0 };

	dp_fake_begin(DP_CAUGHT_JUMPS);
	text[5] = 0x0f;
	site = dp_fake_site(0, (u64)text);
	site->number = DP_CALL_ENTERS | __NR_rt_sigsuspend |
		       CALL_BYTES << DP_CALL_LENGTH_SHIFT;
	dp_fake_jump(site)->base = DETOUR;
	dp_fake_jump(site)->len = DETOUR_LEN;
	back = dp_fake_site(1, (u64)text + CALL_BYTES + 3);
	back->number = DP_CALL_RETURNS | DP_CALL_THROUGH;
	dp_fake_call(__NR_rt_sigaction, DP_SIGTRAP, (u64)&act, 0,
		     DP_SIGSET_BYTES, 0);
	dp_fake_call(__NR_rt_sigaction, SIGUSR1, (u64)&act, 0, DP_SIGSET_BYTES,
		     0);
	regs = dp_fake_regs();
	regs->cs = DP_USER_CS;
	return 0;
}

static void set_mask(u64 blocked)
{
	dp_fake_call(__NR_rt_sigprocmask, DP_SIG_SETMASK, (u64)&blocked, 0,
		     DP_SIGSET_BYTES, 0);
}

static u64 pending(void)
{
	u64 set = 0;

	dp_fake_call(__NR_rt_sigpending, (u64)&set, DP_SIGSET_BYTES, 0, 0, 0);
	return set;
}

/* A wait with @with in force begins where the thread is. */
static void enter(u64 with)
{
	mask = with;
	regs->rdi = regs->rsi = (u64)&mask;
	regs->rdx = DP_SIGSET_BYTES;
	if (!dp_call_goes_through(site->number))
		regs->rsi = DP_SIGSET_BYTES;
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, regs);
}

/* SIGTRAP, which is blocked outside the wait and not in it, comes at @pc, with the stack @sp.
 * Return: does it wait for the call? Otherwise its handler has run. */
static bool waits_at(u64 pc, u64 sp)
{
	struct dp_mcontext was = *regs;
	u32 entered = dp_fake_seen.entered;

	regs->rip = pc;
	regs->rsp = sp;
	dp_fake_send(DP_SIGTRAP);
	if (dp_fake_seen.entered != entered) {
		dp_fake_return();
		*regs = was;
		return false;
	}
	assert_int_equal(first->closed, 1);
	/* Otherwise it would have come at once, where the agent is. */
	assert_true(dp_fake_seen.queued & TRAP);
	/* As if it had not been sent. */
	first->closed = 0;
	dp_fake_set_mask(ILL);
	dp_fake_revive(DP_CAUGHT_JUMPS);
	*regs = was;
	return true;
}

/* From the mov to the return intercept, in the text and in the detour. */
static void around_the_call(void **state)
{
	u64 sp = regs->rsp, call = site->addr;

	set_mask(TRAP);
	enter(USR1);
	assert_true(waits_at(call, sp));
	assert_true(waits_at(call + CALL_BYTES, sp));
	assert_false(waits_at(call - 1, sp));
	assert_false(waits_at(call + CALL_BYTES + 1, sp));
	assert_true(waits_at(DETOUR, sp));
	assert_true(waits_at(DETOUR + DETOUR_LEN - 1, sp));
	assert_false(waits_at(DETOUR + DETOUR_LEN, sp));
	assert_false(waits_at(DETOUR - 1, sp));
	assert_true(waits_at((u64)dp_trap_entry, sp - 512));
	assert_false(waits_at(call, sp - 1000));
}

/* One that the thread does not block outside the call is no matter of the call. */
static void blocked_nowhere(void **state)
{
	set_mask(ILL);
	enter(USR1);
	assert_false(waits_at(site->addr, regs->rsp));
}

/* With all signals blocked the thread would die of a breakpoint in the call's code. */
static void changed_code(void **state)
{
	u32 entered;

	set_mask(TRAP);
	enter(USR1);
	assert_true(waits_at(site->addr, regs->rsp));
	text[5] = DP_BREAKPOINT;
	assert_false(waits_at(site->addr, regs->rsp));
	dp_masked_wait_return(regs);
	/* One that was deferred comes before the call, and is not lost. */
	set_mask(TRAP);
	dp_fake_send(DP_SIGTRAP);
	entered = dp_fake_seen.entered;
	enter(USR1);
	assert_int_equal(first->closed, 0);
	pending(); /* a call, with which signals come */
	assert_int_equal(dp_fake_seen.entered, entered + 1);
}

/* In a handler that has interrupted a wait, the handler's own wait counts. */
static void innermost_counts(void **state)
{
	u64 sp = regs->rsp;

	set_mask(TRAP);
	enter(USR1);
	set_mask(ILL);
	regs->rsp = sp - 512;
	enter(USR1);
	assert_int_equal(dp_private.masked_waits[1].was, ILL);
	assert_false(waits_at(site->addr, regs->rsp));
}

/* --- a wait that another function makes --- */

static void enter_through(void)
{
	site->number |= DP_CALL_THROUGH;
	set_mask(TRAP);
	enter(USR1);
	assert_int_equal(first->through, 1);
}

/* The function has returned, and the thread is on its way to the intercept. */
static void on_the_way_back(void **state)
{
	u64 sp = regs->rsp, behind = site->addr + CALL_BYTES;

	enter_through();
	assert_true(waits_at(behind, sp));
	assert_true(waits_at(behind + DP_THROUGH_TAIL - 1, sp));
	assert_false(waits_at(behind + DP_THROUGH_TAIL, sp));
	assert_true(waits_at(behind, sp + DP_THROUGH_TAIL - 8));
	assert_false(waits_at(behind, sp + DP_THROUGH_TAIL));
	first->touched = 1;
	assert_false(waits_at(behind, sp));
	first->touched = 0;
	regs->rip = behind;
	dp_fake_send(DP_SIGTRAP);
	dp_masked_wait_come_through(back, regs);
	assert_int_equal(dp_mask_blocked(), TRAP);
	assert_int_equal(pending(), TRAP);
	assert_int_equal(dp_fake_mask(), 0);
}

/* In the function the address of our copy is in a register or on the stack, until the
 * call is over. */
static void below_in_the_function(void **state)
{
	u64 *sp = (u64 *)regs->rsp, below = (u64)(sp - 4), copy;

	enter_through();
	copy = regs->rsi;
	sp[-1] = first->behind;
	assert_true(waits_at(NOWHERE, below));
	assert_true(waits_at(NOWHERE, (u64)sp - DP_THROUGH_STACK));
	assert_false(waits_at(NOWHERE, (u64)sp - DP_THROUGH_STACK - 8));
	regs->rsi = 0;
	assert_false(waits_at(NOWHERE, below));
	regs->r9 = copy;
	assert_true(waits_at(NOWHERE, below));
	regs->r9 = 0;
	sp[-4] = copy;
	assert_true(waits_at(NOWHERE, below));
	sp[-4] = 0;
	sp[0] = copy;
	assert_true(waits_at(NOWHERE, below));
	sp[0] = 0;
	sp[1] = copy;
	assert_false(waits_at(NOWHERE, below));
	sp[0] = copy;
	sp[-1] = 0;
	assert_false(waits_at(NOWHERE, below));
}

/* Its system call may be anywhere in the function. */
static void interrupted_in_the_function(void **state)
{
	static const u8 function[] = { 0x0f, 0x05, 0x0f, 0x90 };

	enter_through();
	regs->rdi = regs->rsi;
	regs->rax = (u64)-EINTR;
	regs->rip = (u64)&function[2];
	assert_ptr_equal(dp_masked_wait_of(regs), first);
	regs->rip++;
	assert_null(dp_masked_wait_of(regs));
}

/* Where each call's mask is when the function is called. */
static void masks_on_the_way_through(void **state)
{
	u64 pair[2] = { (u64)&mask, DP_SIGSET_BYTES }, *sp = (u64 *)regs->rsp;

	site->number |= DP_CALL_THROUGH;
	set_mask(TRAP);
	mask = USR1;
	regs->r8 = (u64)&mask;
	regs->r9 = DP_SIGSET_BYTES;
	dp_masked_wait_enter(site, __NR_ppoll, regs);
	assert_int_equal(*(u64 *)regs->r8, USR1);
	assert_int_not_equal(regs->r8, (u64)&mask);
	dp_masked_wait_come_through(back, regs);
	regs->r9 = (u64)&mask;
	sp[0] = DP_SIGSET_BYTES;
	dp_masked_wait_enter(site, __NR_epoll_pwait, regs);
	assert_int_not_equal(regs->r9, (u64)&mask);
	dp_masked_wait_come_through(back, regs);
	regs->r9 = (u64)&mask;
	dp_masked_wait_enter(site, __NR_epoll_pwait2, regs);
	assert_int_not_equal(regs->r9, (u64)&mask);
	dp_masked_wait_come_through(back, regs);
	sp[0] = (u64)pair;
	dp_masked_wait_enter(site, __NR_pselect6, regs);
	assert_int_equal(**(u64 **)sp[0], USR1);
	assert_int_not_equal(sp[0], (u64)pair);
	dp_masked_wait_come_through(back, regs);
	regs->rsi = (u64)&mask;
	dp_masked_wait_enter(site, __NR_read, regs);
	assert_int_equal(regs->rsi, (u64)&mask);
	assert_int_equal(first->thread, 0);
}

/* A mask that the kernel does not take is left alone. */
static void masks_of_another_size(void **state)
{
	u64 *sp = (u64 *)regs->rsp;

	site->number |= DP_CALL_THROUGH;
	set_mask(TRAP);
	mask = USR1;
	regs->rsi = regs->r8 = regs->r9 = (u64)&mask;
	regs->rdx = sp[0] = 4;
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, regs);
	dp_masked_wait_enter(site, __NR_epoll_pwait, regs);
	regs->r9 = 4;
	dp_masked_wait_enter(site, __NR_ppoll, regs);
	assert_int_equal(regs->rsi, (u64)&mask);
	assert_int_equal(regs->r8, (u64)&mask);
	assert_int_equal(regs->r9, 4);
	assert_int_equal(dp_mask_blocked(), TRAP);
}

/* Without a mask, or with one that cannot be read, the call is none of ours. */
static void no_masks(void **state)
{
	u64 *sp = (u64 *)regs->rsp;

	set_mask(TRAP);
	regs->r10 = 0;
	regs->r8 = DP_SIGSET_BYTES;
	dp_masked_wait_enter(site, __NR_ppoll, regs);
	assert_int_equal(regs->r10, 0);
	regs->r9 = (u64)sp;
	dp_fake_bad((u64)sp, 16);
	dp_masked_wait_enter(site, __NR_pselect6, regs);
	assert_int_equal(regs->r9, (u64)sp);
	assert_int_equal(dp_mask_blocked(), TRAP);
}

/* Only of code that was seen is it known that no breakpoint comes before the call. */
static void code_that_is_known(void **state)
{
	static u8 code[32] = { [16] = 0x0f, 0x05 };
	struct dp_jump *j = dp_fake_jump(site);

	set_mask(TRAP);
	site->addr = (u64)&code[16] - 9;
	site->number = DP_CALL_ENTERS | __NR_rt_sigsuspend |
		       11u << DP_CALL_LENGTH_SHIFT;
	enter(USR1);
	assert_false(waits_at(site->addr, regs->rsp));
	code[12] = 0x8b; /* mov (…), %eax, just before the call */
	assert_true(waits_at(site->addr, regs->rsp));
	dp_masked_wait_return(regs);
	code[12] = 0;
	/* In its detour nothing is but the call. */
	site->number = DP_PLAIN_CALL;
	j->base = (u64)code;
	j->nr = 1;
	j->insn[0] = 16;
	enter(USR1);
	assert_true(waits_at(site->addr, regs->rsp));
	code[17] = 0;
	assert_false(waits_at(site->addr, regs->rsp));
	code[17] = 5;
}

/* --- room, and what is left --- */

/* With one that was deferred all signals are blocked up to the call, so that it ends the
 * sleep and no handler runs before. */
static void deferred_up_to_the_call(void **state)
{
	set_mask(TRAP | USR2);
	dp_fake_send(DP_SIGTRAP);
	enter(USR1);
	assert_int_equal(first->closed, 1);
	assert_int_equal(first->real, USR2);
	assert_int_equal(~dp_fake_mask() & ~(DP_SIGMASK(9) | DP_SIGMASK(19)),
			 0);
	assert_int_equal(dp_fake_seen.entered, 0);
	dp_masked_wait_return(regs);
	assert_int_equal(dp_fake_mask(), USR2);
	/* Nor is any where the call blocks it, too. */
	dp_masked_wait_forget(dp_mask_thread());
	set_mask(TRAP | USR2);
	dp_fake_send(DP_SIGTRAP);
	enter(TRAP);
	assert_int_equal(first->closed, 0);
}

/* A call through the function is known by its stack: an old one there is over. */
static void left_in_the_function(void **state)
{
	enter_through();
	set_mask(0);
	enter(USR1);
	assert_int_equal(regs->rsi, (u64)&mask);
	assert_int_equal(first->thread, 0);
}

/* The place of one that was left while all was blocked begins open. */
static void place_of_a_closed_wait(void **state)
{
	first->closed = 1;
	set_mask(TRAP);
	enter(USR1);
	assert_int_equal(first->closed, 0);
	dp_fake_set_mask(USR2);
	dp_masked_wait_return(regs);
	assert_int_equal(dp_fake_mask(), USR2);
}

static void no_room(void **state)
{
	u32 i;

	for (i = 0; i < DP_MASKED_WAITS; i++)
		dp_private.masked_waits[i].thread = (i + 1) << 12;
	set_mask(TRAP);
	enter(USR1);
	assert_int_equal(regs->rdi, (u64)&mask);
	assert_int_equal(dp_mask_blocked(), TRAP);
	assert_int_equal(dp_arena.hit.unmasked, 1);
	dp_private.masked_waits[DP_MASKED_WAITS - 1].thread = 0;
	enter(USR1);
	assert_int_not_equal(regs->rdi, (u64)&mask);
	assert_int_equal(dp_arena.hit.unmasked, 1);
}

/* A handler on the alternate stack has left no wait of the other stack. */
static void left_on_one_stack(void **state)
{
	static u64 stacks[512];

	dp_fake_altstack((u64)&stacks[256], 256 * sizeof(u64));
	set_mask(TRAP);
	regs->rsp = (u64)&stacks[128];
	enter(USR1);
	regs->rsp = (u64)&stacks[400];
	set_mask(TRAP);
	enter(USR1);
	assert_int_not_equal(first->thread, 0);
	assert_int_not_equal(dp_private.masked_waits[1].thread, 0);
	/* Back on the first stack, farther in: of the two none has been left. */
	regs->rsp = (u64)&stacks[100];
	set_mask(TRAP);
	enter(USR1);
	assert_int_equal(first->sp, (u64)&stacks[128]);
	assert_int_not_equal(first->thread, 0);
	assert_int_not_equal(dp_private.masked_waits[1].thread, 0);
	/* Farther out: the first one's have been. */
	regs->rsp = (u64)&stacks[200];
	set_mask(TRAP);
	enter(USR1);
	assert_int_equal(first->sp, (u64)&stacks[200]);
	assert_int_equal(dp_private.masked_waits[1].sp, (u64)&stacks[400]);
	assert_int_equal(dp_private.masked_waits[2].thread, 0);
}

/* The next thread with this pointer has made no call yet. */
static void thread_ends(void **state)
{
	set_mask(TRAP);
	enter(USR1);
	dp_mask_forget();
	assert_int_equal(first->thread, 0);
	enter(TRAP);
	assert_int_not_equal(first->thread, 0);
	dp_mask_pass_on(dp_mask_thread());
	assert_int_equal(first->thread, 0);
}

/* One that began before the agent came, and was left: any call from there tells. */
static void left_without_being_known(void **state)
{
	first->thread = dp_mask_thread();
	first->unknown = 1;
	first->sp = regs->rsp;
	dp_private.unknowns = 1;
	regs->rsp -= 8;
	dp_masked_wait_enter(site, __NR_read, regs);
	assert_int_equal(dp_private.unknowns, 1);
	regs->rsp += 8;
	dp_masked_wait_enter(site, __NR_read, regs);
	assert_int_equal(dp_private.unknowns, 0);
	assert_int_equal(first->thread, 0);
}

/* A call of which only the code tells what it is: it is made in its detour. */
static void call_of_any_number(void **state)
{
	struct dp_jump *j = dp_fake_jump(site);

	site->number = DP_PLAIN_CALL;
	j->nr = 2;
	j->size = 9;
	j->insn[1] = 40;
	set_mask(TRAP);
	enter(USR1);
	assert_int_equal(first->behind, site->addr + 9);
	assert_int_equal(first->back, DETOUR + 42);
	assert_int_equal(first->stacked, 0);
	regs->rax = (u64)-EINTR;
	regs->rip = DETOUR + 42;
	assert_ptr_equal(dp_masked_wait_of(regs), first);
	regs->rip = site->addr + 9;
	assert_ptr_equal(dp_masked_wait_of(regs), first);
	regs->rip = site->addr + CALL_BYTES;
	assert_null(dp_masked_wait_of(regs));
	regs->rip = DETOUR + 42;
	regs->rax = 0;
	assert_null(dp_masked_wait_of(regs));
}

/* A signal that the call's mask blocks has ended it: it is made again, with all signals
 * blocked on the way. */
static void made_again(void **state)
{
	struct dp_siginfo info = { .signo = DP_SIGTRAP };
	struct dp_ucontext uc;

	set_mask(ILL);
	enter(TRAP);
	regs->rax = (u64)-EINTR;
	regs->rip = site->addr + CALL_BYTES;
	uc = (struct dp_ucontext){ .mc = *regs, .sigmask = USR2 };
	dp_masked_wait_again(&info, &uc);
	assert_int_equal(uc.mc.rip, site->addr + CALL_BYTES - 2);
	assert_int_equal(uc.mc.rax, __NR_rt_sigsuspend);
	assert_int_equal(uc.sigmask, ~0ull);
	assert_int_equal(first->closed, 1);
	assert_int_equal(first->real, USR2);
	/* Once more: what is blocked now is no mask of the program's. */
	uc.mc = *regs;
	dp_masked_wait_again(&info, &uc);
	assert_int_equal(first->real, USR2);
	/* A breakpoint stands before the call. */
	text[5] = DP_BREAKPOINT;
	uc.mc = *regs;
	dp_masked_wait_again(&info, &uc);
	assert_int_equal(uc.mc.rip, site->addr + CALL_BYTES);
}

/* --- while our actions come or go --- */

static const struct dp_kernel_wait *in_kernel(u32 sig)
{
	return dp_masked_wait_in_kernel(regs, (s32)sig);
}

/* A wait that the kernel sleeps in under the program's own mask. */
static void waits_without_us(void **state)
{
	struct dp_kernel_wait *n =
		&dp_private.kernel_waits[DP_MASKED_WAITS - 1];
	struct dp_siginfo info = { .signo = DP_SIGTRAP };
	struct dp_ucontext uc = { 0 };
	u64 *sp = (u64 *)regs->rsp;

	*n = (struct dp_kernel_wait){ .thread = dp_mask_thread(),
				      .sp = regs->rsp,
				      .back = DETOUR,
				      .behind = site->addr + CALL_BYTES,
				      .mask = ILL,
				      .nr = __NR_ppoll };
	dp_private.in_force = 0;
	regs->rax = (u64)-EINTR;
	regs->rip = n->behind;
	assert_ptr_equal(in_kernel(DP_SIGTRAP), n);
	assert_null(in_kernel(DP_SIGILL));
	regs->rip = n->back;
	assert_ptr_equal(in_kernel(DP_SIGTRAP), n);
	uc.mc = *regs;
	dp_masked_wait_again(&info, &uc);
	assert_int_equal(uc.mc.rip, n->back - 2);
	assert_int_equal(uc.mc.rax, __NR_ppoll);
	regs->rip++;
	assert_null(in_kernel(DP_SIGTRAP));
	regs->rip--;
	regs->rsp += 8;
	assert_null(in_kernel(DP_SIGTRAP));
	regs->rsp -= 8;
	regs->rax = 0;
	assert_null(in_kernel(DP_SIGTRAP));
	regs->rax = (u64)-EINTR;
	n->through = 1;
	assert_null(in_kernel(DP_SIGTRAP));
	sp[-1] = n->behind;
	regs->rsp = (u64)(sp - 3);
	regs->rip = (u64)text + CALL_BYTES;
	assert_ptr_equal(in_kernel(DP_SIGTRAP), n);
	regs->rip--;
	assert_null(in_kernel(DP_SIGTRAP));
	regs->rip++;
	dp_fake_thread(1);
	assert_null(in_kernel(DP_SIGTRAP));
	dp_fake_thread(0);
	dp_private.in_force = 1;
	assert_null(in_kernel(DP_SIGTRAP));
}

/* --- frames of handlers, in a fork child that leaves --- */

static void leave(void *arg)
{
	dp_mask_give_back(NULL);
}

/* The agent of the child looks from @from, on the thread's stack. */
static void leave_from(u64 from)
{
	dp_fake_fork();
	dp_call_on(NULL, leave, (void *)(from & ~63ull));
}

static struct dp_ucontext *interrupted(void)
{
	set_mask(TRAP | USR2);
	mask = 0;
	regs->rdi = (u64)&mask;
	regs->rsi = DP_SIGSET_BYTES;
	regs->rip = (u64)text;
	assert_int_equal(dp_fake_wait(site, __NR_rt_sigsuspend, SIGUSR1),
			 -EINTR);
	return dp_fake_seen.frame;
}

static void handler_on_another_stack(void **state)
{
	static u64 alt[4096];
	struct dp_ucontext *frame;

	dp_fake_altstack((u64)alt, sizeof(alt));
	frame = interrupted();
	assert_in_range((u64)frame, (u64)alt, (u64)alt + sizeof(alt));
	leave_from((u64)frame - 64);
	assert_int_equal(frame->mc.rdi, (u64)&mask);
	assert_int_equal(frame->sigmask, TRAP | USR2);
}

/* It may as well lie above the stack on which the call was made. */
static void handler_on_a_stack_above(void **state)
{
	static u64 stacks[8192];
	struct dp_ucontext *frame;

	regs->rsp = (u64)&stacks[4000];
	dp_fake_altstack((u64)&stacks[4096], 4096 * sizeof(u64));
	frame = interrupted();
	assert_in_range((u64)frame, (u64)&stacks[4096], (u64)&stacks[8191]);
	leave_from((u64)frame - 64);
	assert_int_equal(frame->mc.rdi, (u64)&mask);
	assert_int_equal(frame->sigmask, TRAP | USR2);
}

/* All signals were blocked up to the call: the handler returns to the mask before. */
static void handler_of_a_closed_wait(void **state)
{
	struct dp_ucontext *frame = interrupted();

	first->closed = 1;
	first->real = USR1;
	leave_from((u64)frame - 64);
	assert_int_equal(frame->sigmask, TRAP | USR1);
}

/* What looks like a frame is one only if all of it does. */
static void no_frame_of_a_handler(void **state)
{
	struct dp_ucontext *frame = interrupted();
	u64 copy = frame->mc.rdi;

	frame->mc.rax = 0;
	leave_from((u64)frame - 64);
	assert_int_equal(frame->mc.rdi, copy);
	assert_int_equal(frame->sigmask, USR2);
	begin(NULL);
	frame = interrupted();
	frame->mc.rsp += 8;
	leave_from((u64)frame - 64);
	assert_int_equal(frame->sigmask, USR2);
	begin(NULL);
	frame = interrupted();
	frame->mc.cs = 0;
	leave_from((u64)frame - 64);
	assert_int_equal(frame->sigmask, USR2);
}

/* What lies between two stacks may not be mapped. */
static void nothing_between_stacks(void **state)
{
	u8 *m = mmap(NULL, 12 * DP_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u64 alt = (u64)m + 8 * DP_PAGE;

	assert_ptr_not_equal(m, MAP_FAILED);
	assert_int_equal(mprotect(m + 4 * DP_PAGE, 4 * DP_PAGE, PROT_NONE), 0);
	dp_fake_altstack(alt, 4 * DP_PAGE);
	regs->rsp = alt + 2 * DP_PAGE;
	set_mask(TRAP);
	enter(USR1);
	leave_from((u64)m + 4 * DP_PAGE - 64);
	assert_int_equal(first->thread, 0);
	munmap(m, 12 * DP_PAGE);
}

/* A handler that ran when the agent came returns to the mask outside its call. */
static void handler_of_a_wait_that_is_not_known(void **state)
{
	static u64 stack[2048];
	struct dp_ucontext *uc = (void *)&stack[1024];
	u32 wrong;

	for (wrong = 0; wrong < 5; wrong++) {
		begin(NULL);
		first->thread = dp_mask_thread();
		first->unknown = 1;
		first->sp = (u64)&stack[2000];
		first->back = NOWHERE;
		first->was = TRAP;
		dp_private.unknowns = 1;
		*uc = (struct dp_ucontext){ .sigmask = USR2 };
		uc->mc.rsp = first->sp + (wrong == 1 ? 8 : 0);
		uc->mc.rip = NOWHERE + (wrong == 2);
		uc->mc.cs = wrong == 3 ? 0 : DP_USER_CS;
		uc->mc.rax = wrong == 4 ? 0 : (u64)-EINTR;
		leave_from((u64)&stack[1000]);
		assert_int_equal(uc->sigmask, wrong ? USR2 : TRAP | USR2);
		assert_int_equal(first->thread, 0);
		assert_int_equal(dp_private.unknowns, 0);
	}
}

/* The frame of a handler lies below the call that it has interrupted. */
static void no_frame_behind_a_wait(void **state)
{
	static u64 stack[2048];
	struct dp_ucontext *uc = (void *)&stack[1200];

	first->thread = dp_mask_thread();
	first->unknown = 1;
	first->sp = (u64)&uc->mc.rsp;
	first->back = NOWHERE;
	first->was = TRAP;
	dp_private.unknowns = 1;
	*uc = (struct dp_ucontext){ .sigmask = USR2 };
	uc->mc.rsp = first->sp;
	uc->mc.rip = NOWHERE;
	uc->mc.cs = DP_USER_CS;
	uc->mc.rax = (u64)-EINTR;
	leave_from((u64)&stack[1000]);
	assert_int_equal(uc->sigmask, USR2);
	assert_int_equal(first->thread, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(around_the_call, begin),
		cmocka_unit_test_setup(blocked_nowhere, begin),
		cmocka_unit_test_setup(changed_code, begin),
		cmocka_unit_test_setup(innermost_counts, begin),
		cmocka_unit_test_setup(on_the_way_back, begin),
		cmocka_unit_test_setup(below_in_the_function, begin),
		cmocka_unit_test_setup(interrupted_in_the_function, begin),
		cmocka_unit_test_setup(masks_on_the_way_through, begin),
		cmocka_unit_test_setup(masks_of_another_size, begin),
		cmocka_unit_test_setup(no_masks, begin),
		cmocka_unit_test_setup(code_that_is_known, begin),
		cmocka_unit_test_setup(deferred_up_to_the_call, begin),
		cmocka_unit_test_setup(left_in_the_function, begin),
		cmocka_unit_test_setup(place_of_a_closed_wait, begin),
		cmocka_unit_test_setup(no_room, begin),
		cmocka_unit_test_setup(left_on_one_stack, begin),
		cmocka_unit_test_setup(thread_ends, begin),
		cmocka_unit_test_setup(left_without_being_known, begin),
		cmocka_unit_test_setup(call_of_any_number, begin),
		cmocka_unit_test_setup(made_again, begin),
		cmocka_unit_test_setup(waits_without_us, begin),
		cmocka_unit_test_setup(handler_on_another_stack, begin),
		cmocka_unit_test_setup(handler_on_a_stack_above, begin),
		cmocka_unit_test_setup(handler_of_a_closed_wait, begin),
		cmocka_unit_test_setup(no_frame_of_a_handler, begin),
		cmocka_unit_test_setup(nothing_between_stacks, begin),
		cmocka_unit_test_setup(handler_of_a_wait_that_is_not_known,
				       begin),
		cmocka_unit_test_setup(no_frame_behind_a_wait, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
