// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * wait: calls that sleep under a mask of their own, in a world in memory: what the kernel
 * gets, which signals come, and the virtual mask afterwards.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <asm/unistd.h>
#include "engine/layout/marks.h"
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "port/fake/hit/world.h"
#include "port/user/signals/mask.h"
#include "port/user/signals/masked_wait.h"
#include "port.h"
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "port_hit.h"

#define SIGUSR1 10
#define TRAP DP_SIGMASK(DP_SIGTRAP)
#define USR1 DP_SIGMASK(SIGUSR1)
#define USR2 DP_SIGMASK(12)
#define HANDLER 0x5000000ull
#define NEVER (DP_SIGMASK(9) | DP_SIGMASK(19))
#define CALL_BYTES 7 /* mov $nr, %eax; syscall */

static u8 text[] = { 0xb8, __NR_rt_sigsuspend, 0, 0, 0, 0x0f, 0x05, 0x48 };
static struct dp_site_entry *site;
static u64 mask;

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT_JUMPS);
	site = dp_fake_site(0, (u64)text);
	site->number = DP_CALL_ENTERS | __NR_rt_sigsuspend |
		       CALL_BYTES << DP_CALL_LENGTH_SHIFT;
	dp_fake_jump(site)->base = 0x7000000;
	dp_fake_jump(site)->len = 64;
	return 0;
}

static void set_mask(u64 blocked)
{
	dp_fake_call(__NR_rt_sigprocmask, DP_SIG_SETMASK, (u64)&blocked, 0,
		     DP_SIGSET_BYTES, 0);
}

static u64 get_mask(void)
{
	u64 now = 0;

	dp_fake_call(__NR_rt_sigprocmask, 0, 0, (u64)&now, DP_SIGSET_BYTES, 0);
	return now;
}

static void set_handler(u32 sig, u64 blocks)
{
	struct dp_kernel_sigaction act = { HANDLER, DP_SA_RESTORER, 1, blocks };

	dp_fake_call(__NR_rt_sigaction, sig, (u64)&act, 0, DP_SIGSET_BYTES, 0);
}

static void prepare(u64 with)
{
	mask = with;
	dp_fake_regs()->rdi = (u64)&mask;
	dp_fake_regs()->rsi = DP_SIGSET_BYTES;
	dp_fake_regs()->rip = (u64)text;
}

static s64 suspend(u64 with, u32 sig)
{
	prepare(with);
	return dp_fake_wait(site, __NR_rt_sigsuspend, sig);
}

/* What the kernel gets has no caught signal; what it was given is as it was. */
static void copy_of_the_mask(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();

	set_mask(TRAP);
	prepare(USR1 | DP_SIGMASK(DP_SIGILL));
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, regs);
	assert_int_not_equal(regs->rdi, (u64)&mask);
	assert_int_equal(*(u64 *)regs->rdi, USR1);
	assert_int_equal(mask, USR1 | DP_SIGMASK(DP_SIGILL));
	assert_int_equal(dp_mask_blocked(), DP_SIGMASK(DP_SIGILL));
	dp_masked_wait_return(regs);
	assert_int_equal(regs->rdi, (u64)&mask);
	assert_int_equal(dp_mask_blocked(), TRAP);
	assert_int_equal(dp_private.masked_waits[0].thread, 0);
}

/* Where no caught signal is in either of the masks it is nothing to us. */
static void none_of_ours(void **state)
{
	set_mask(USR2);
	prepare(USR1);
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, dp_fake_regs());
	assert_int_equal(dp_fake_regs()->rdi, (u64)&mask);
	assert_int_equal(dp_private.masked_waits[0].thread, 0);
}

static void bad_masks(void **state)
{
	set_mask(TRAP);
	prepare(USR1);
	dp_fake_regs()->rsi = 4;
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, dp_fake_regs());
	assert_int_equal(dp_fake_regs()->rdi, (u64)&mask);
	prepare(USR1);
	dp_fake_bad((u64)&mask, sizeof(mask));
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, dp_fake_regs());
	assert_int_equal(dp_fake_regs()->rdi, (u64)&mask);
	assert_int_equal(dp_mask_blocked(), TRAP);
}

/* Another signal's handler runs under the call's mask and what its action adds. */
static void another_signal(void **state)
{
	set_handler(SIGUSR1, USR2);
	set_mask(TRAP | USR1);
	assert_int_equal(suspend(0, SIGUSR1), -EINTR);
	assert_int_equal(dp_fake_seen.handler, HANDLER);
	assert_int_equal(dp_fake_seen.mask, USR2 | USR1);
	assert_int_equal(dp_mask_blocked(), 0);
	dp_fake_wait_end(site);
	assert_int_equal(get_mask(), TRAP | USR1);
	assert_int_equal(dp_fake_mask(), USR1);
	assert_int_equal(dp_fake_regs()->rdi, (u64)&mask);
}

/* A caught one that the call opens: the program's handler, and back to its virtual mask. */
static void caught_in_the_call(void **state)
{
	set_handler(DP_SIGTRAP, USR2);
	set_mask(TRAP);
	assert_int_equal(suspend(USR1, DP_SIGTRAP), -EINTR);
	assert_int_equal(dp_fake_seen.entered, 1);
	assert_int_equal(dp_fake_seen.mask,
			 USR1 | dp_marks_on(USR2 | TRAP, TRAP));
	dp_fake_wait_end(site);
	assert_int_equal(get_mask(), TRAP);
	assert_int_equal(dp_fake_mask(), 0);
}

/* One that was held already ends the sleep. */
static void deferred_before(void **state)
{
	set_handler(DP_SIGTRAP, 0);
	set_mask(TRAP | USR2);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.entered, 0);
	assert_int_equal(suspend(USR1, 0), -EINTR);
	assert_int_equal(dp_fake_seen.entered, 1);
	assert_int_equal(dp_fake_seen.mask, USR1 | dp_marks_on(TRAP, TRAP));
	dp_fake_wait_end(site);
	assert_int_equal(get_mask(), TRAP | USR2);
	assert_int_equal(dp_fake_mask(), USR2);
}

/* One that the call's mask blocks, too, is held, and the thread sleeps on. */
static void blocked_in_the_call(void **state)
{
	set_handler(DP_SIGTRAP, 0);
	assert_int_equal(suspend(TRAP, DP_SIGTRAP), 1);
	assert_int_equal(dp_fake_seen.entered, 1);
	dp_fake_return();
	assert_int_equal(get_mask(), 0);
	assert_int_equal(dp_fake_mask(), 0);
}

/* Left by longjmp: the next one from there, or from farther out, takes it back. */
static void left_by_longjmp(void **state)
{
	set_mask(TRAP);
	prepare(USR1);
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, dp_fake_regs());
	assert_int_not_equal(dp_private.masked_waits[0].thread, 0);
	dp_fake_regs()->rsp -= 64;
	prepare(TRAP);
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, dp_fake_regs());
	assert_int_not_equal(dp_private.masked_waits[1].thread, 0);
	dp_fake_regs()->rsp += 128;
	prepare(TRAP);
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, dp_fake_regs());
	assert_int_not_equal(dp_private.masked_waits[0].thread, 0);
	assert_int_equal(dp_private.masked_waits[0].sp, dp_fake_regs()->rsp);
	assert_int_equal(dp_private.masked_waits[1].thread, 0);
}

/* No other thread's call is taken for it. */
static void of_another_thread(void **state)
{
	struct dp_mcontext there;

	set_mask(TRAP);
	prepare(USR1);
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, dp_fake_regs());
	there = *dp_fake_regs();
	dp_fake_thread(1);
	dp_masked_wait_return(&there);
	assert_int_not_equal(there.rdi, (u64)&mask);
	assert_int_not_equal(dp_private.masked_waits[0].thread, 0);
	dp_fake_thread(0);
	assert_int_equal(dp_mask_blocked(), 0);
	dp_masked_wait_return(dp_fake_regs());
	assert_int_equal(dp_mask_blocked(), TRAP);
}

/* Nor one that goes by the same address elsewhere on the stack. */
static void elsewhere_on_the_stack(void **state)
{
	set_mask(TRAP);
	prepare(USR1);
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, dp_fake_regs());
	dp_fake_regs()->rsp -= 8;
	dp_masked_wait_return(dp_fake_regs());
	assert_int_equal(dp_mask_blocked(), 0);
	dp_fake_regs()->rsp += 8;
	dp_masked_wait_return(dp_fake_regs());
	assert_int_equal(dp_mask_blocked(), TRAP);
}

/* Each call has its mask in a place of its own, and its size in another. */
static void places_of_masks(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();

	set_mask(TRAP);
	mask = USR1 | TRAP;
	regs->rdi = 0;
	regs->r10 = (u64)&mask;
	regs->r8 = DP_SIGSET_BYTES;
	dp_masked_wait_enter(site, __NR_ppoll, regs);
	assert_int_equal(*(u64 *)regs->r10, USR1);
	assert_int_equal(regs->r8, DP_SIGSET_BYTES);
	dp_masked_wait_return(regs);
	assert_int_equal(regs->r10, (u64)&mask);
	regs->r8 = (u64)&mask;
	regs->r9 = DP_SIGSET_BYTES;
	dp_masked_wait_enter(site, __NR_epoll_pwait, regs);
	assert_int_equal(*(u64 *)regs->r8, USR1);
	dp_masked_wait_return(regs);
	assert_int_equal(regs->r8, (u64)&mask);
	dp_masked_wait_enter(site, __NR_read, regs);
	assert_int_equal(regs->r8, (u64)&mask);
}

static void mask_in_a_pair(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();
	u64 pair[3] = { (u64)&mask, DP_SIGSET_BYTES }, *copy;

	set_mask(TRAP);
	mask = USR1;
	/* The pair may be the last that is mapped there. */
	dp_fake_bad((u64)&pair[2], sizeof(pair[2]));
	regs->r9 = (u64)pair;
	dp_masked_wait_enter(site, __NR_pselect6, regs);
	copy = (u64 *)regs->r9;
	assert_ptr_not_equal(copy, pair);
	assert_int_equal(copy[1], DP_SIGSET_BYTES);
	assert_int_equal(*(u64 *)copy[0], USR1);
	assert_int_equal(dp_mask_blocked(), 0);
	dp_masked_wait_return(regs);
	assert_int_equal(regs->r9, (u64)pair);
	assert_int_equal(dp_mask_blocked(), TRAP);
	pair[1] = 4;
	dp_masked_wait_enter(site, __NR_pselect6, regs);
	assert_int_equal(regs->r9, (u64)pair);
	pair[0] = 0;
	pair[1] = DP_SIGSET_BYTES;
	dp_masked_wait_enter(site, __NR_pselect6, regs);
	assert_int_equal(regs->r9, (u64)pair);
}

/* A call that another function makes: its arguments are one register later, and its
 * return is told by the stack. */
static void through_another_function(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();
	struct dp_site_entry *back =
		dp_fake_site(1, (u64)text + CALL_BYTES + 3);
	u64 *sp = (u64 *)regs->rsp;

	site->number |= DP_CALL_THROUGH;
	back->number = DP_CALL_RETURNS | DP_CALL_THROUGH;
	set_mask(TRAP);
	mask = USR1;
	regs->rsi = (u64)&mask;
	regs->rdx = DP_SIGSET_BYTES;
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, regs);
	assert_int_equal(*(u64 *)regs->rsi, USR1);
	assert_int_equal(dp_mask_blocked(), 0);
	/* Another call returns, much farther up. */
	regs->rsp = (u64)sp + 4096;
	dp_masked_wait_come_through(back, regs);
	assert_int_equal(dp_mask_blocked(), 0);
	regs->rsp = (u64)sp;
	dp_fake_thread(1);
	dp_masked_wait_come_through(back, regs);
	dp_fake_thread(0);
	assert_int_equal(dp_mask_blocked(), 0);
	dp_masked_wait_come_through(back, regs);
	assert_int_equal(dp_mask_blocked(), TRAP);
	assert_int_equal(dp_private.masked_waits[0].thread, 0);
}

/* Or inside of that function, where the thread is cancelled. */
static void cancelled_below(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();
	struct dp_site_entry *end = dp_fake_site(1, 0x402000);
	u64 *sp = (u64 *)regs->rsp;

	site->number |= DP_CALL_THROUGH;
	end->number = DP_CALL_RETURNS | DP_CALL_THROUGH;
	set_mask(TRAP);
	mask = 0;
	regs->rsi = (u64)&mask;
	regs->rdx = DP_SIGSET_BYTES;
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, regs);
	regs->rsp = (u64)(sp - 4);
	sp[-1] = 0x1234;
	dp_masked_wait_come_through(end, regs);
	assert_int_equal(dp_mask_blocked(), 0);
	sp[-1] = dp_private.masked_waits[0].behind;
	dp_masked_wait_come_through(end, regs);
	assert_int_equal(dp_mask_blocked(), TRAP);
}

/* A call that was interrupted before we came: nothing is known of it but its place. */
static void one_that_is_not_known(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();
	struct dp_masked_wait *s = &dp_private.masked_waits[5];

	set_mask(0);
	s->thread = dp_mask_thread();
	s->unknown = 1;
	s->sp = regs->rsp;
	s->was = TRAP;
	dp_private.unknowns = 1;
	regs->rsp += 8;
	dp_masked_wait_return(regs);
	assert_int_equal(dp_mask_blocked(), 0);
	regs->rsp -= 8;
	dp_fake_thread(1);
	dp_masked_wait_return(regs);
	assert_int_equal(dp_private.unknowns, 1);
	dp_fake_thread(0);
	dp_masked_wait_return(regs);
	assert_int_equal(dp_mask_blocked(), TRAP);
	assert_int_equal(dp_private.unknowns, 0);
	assert_int_equal(s->thread, 0);
	assert_int_equal(s->unknown, 0);
}

/* A filter of the program's may forbid our system calls: none is needed for this. */
static void returns_without_a_wait_make_no_calls(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();

	set_mask(TRAP);
	dp_fake_seen.sp = 0;
	dp_masked_wait_return(regs);
	dp_masked_wait_enter(site, __NR_read, regs);
	assert_int_equal(dp_fake_seen.sp, 0);
}

static void leave(void *arg)
{
	dp_mask_give_back(NULL);
}

/* A child that forks in the handler of such a call: that returns to the virtual
 * mask outside, and finds the mask that it gave. */
static void child_in_a_wait(void **state)
{
	struct dp_ucontext *frame;

	set_handler(SIGUSR1, 0);
	set_mask(TRAP | USR2);
	dp_fake_regs()->cs = 0x33;
	assert_int_equal(suspend(0, SIGUSR1), -EINTR);
	frame = dp_fake_seen.frame;
	assert_int_not_equal(frame->mc.rdi, (u64)&mask);
	assert_int_equal(frame->sigmask, USR2);
	dp_fake_fork();
	/* The agent looks from where it is, on the thread's stack. */
	dp_call_on(NULL, leave, (void *)((u64)frame - 64));
	assert_int_equal(frame->mc.rdi, (u64)&mask);
	assert_int_equal(frame->sigmask, TRAP | USR2);
	assert_int_equal(dp_private.masked_waits[0].thread, 0);
}

/* One that the call opens, and that comes before it: it waits in the kernel with all
 * others until the call is made, which it ends. */
static void just_before_the_call(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();

	set_handler(DP_SIGTRAP, 0);
	set_mask(TRAP | USR2);
	prepare(USR1);
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, regs);
	regs->rip = site->addr + 5;
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.entered, 0);
	assert_int_equal(dp_fake_mask() | NEVER, ~0ull);
	assert_int_equal(dp_private.masked_waits[0].closed, 1);
	assert_int_equal(dp_private.masked_waits[0].real, USR2);
	assert_int_equal(regs->rip, site->addr + 5);
	/* The call has been made and has returned: all as it was. */
	regs->rip = site->addr + CALL_BYTES;
	dp_masked_wait_return(regs);
	assert_int_equal(dp_fake_mask(), USR2);
	assert_int_equal(dp_mask_blocked(), TRAP);
}

/* Far from the call, in a handler that has interrupted it, it comes at once. */
static void elsewhere_meanwhile(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();

	set_handler(DP_SIGTRAP, 0);
	set_mask(TRAP);
	prepare(USR1);
	dp_masked_wait_enter(site, __NR_rt_sigsuspend, regs);
	regs->rsp -= 1000;
	regs->rip = site->addr + 5;
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.entered, 1);
	dp_fake_return();
	regs->rsp += 1000;
	regs->rip = site->addr + CALL_BYTES + 1;
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.entered, 2);
}

/* syscall(3) loads its last argument from the stack. */
static void last_argument(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();
	u64 pair[2] = { (u64)&mask, DP_SIGSET_BYTES };
	u64 *last = (u64 *)regs->rsp + 1;

	set_mask(TRAP);
	mask = USR1;
	site->number = DP_ANY_CALL;
	dp_fake_jump(site)->nr = 1;
	*last = (u64)pair;
	dp_masked_wait_enter(site, __NR_pselect6, regs);
	assert_int_not_equal(*last, (u64)pair);
	assert_int_equal(**(u64 **)*last, USR1);
	regs->r9 = *last;
	dp_masked_wait_return(regs);
	assert_int_equal(*last, (u64)pair);
	assert_int_equal(dp_mask_blocked(), TRAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(copy_of_the_mask, begin),
		cmocka_unit_test_setup(none_of_ours, begin),
		cmocka_unit_test_setup(bad_masks, begin),
		cmocka_unit_test_setup(another_signal, begin),
		cmocka_unit_test_setup(caught_in_the_call, begin),
		cmocka_unit_test_setup(deferred_before, begin),
		cmocka_unit_test_setup(blocked_in_the_call, begin),
		cmocka_unit_test_setup(left_by_longjmp, begin),
		cmocka_unit_test_setup(of_another_thread, begin),
		cmocka_unit_test_setup(elsewhere_on_the_stack, begin),
		cmocka_unit_test_setup(places_of_masks, begin),
		cmocka_unit_test_setup(mask_in_a_pair, begin),
		cmocka_unit_test_setup(through_another_function, begin),
		cmocka_unit_test_setup(cancelled_below, begin),
		cmocka_unit_test_setup(one_that_is_not_known, begin),
		cmocka_unit_test_setup(returns_without_a_wait_make_no_calls,
				       begin),
		cmocka_unit_test_setup(child_in_a_wait, begin),
		cmocka_unit_test_setup(just_before_the_call, begin),
		cmocka_unit_test_setup(elsewhere_meanwhile, begin),
		cmocka_unit_test_setup(last_argument, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
