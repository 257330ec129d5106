// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * marks: masks of handlers, as the kernel has them and as the program sees them, in a world in
 * memory.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <asm/unistd.h>
#include "engine/hit/hit.h"
#include "engine/layout/marks.h"
#include "engine/layout/private.h"
#include "port/fake/hit/world.h"
#include "port/user/signals/mask.h"
#include "port/user/signals/trap.h"
#include "arch/arch.h"
#include "port.h"
#include "port_hit.h"

#define AT 0x401000ull
#define BLOCK 0
#define UNBLOCK 1
#define SET 2
#define SIGUSR1 10
#define SIGSEGV 11
#define SEGV DP_SIGMASK(SIGSEGV)
#define TRAP DP_SIGMASK(DP_SIGTRAP)
#define ILL DP_SIGMASK(DP_SIGILL)
#define USR1 DP_SIGMASK(SIGUSR1)
#define CAUGHT (TRAP | ILL | SEGV | DP_SIGMASK(7) | DP_SIGMASK(8))
/* What can be in a mask */
#define ALL (~(DP_SIGMASK(9) | DP_SIGMASK(19)))
#define HANDLER 0x5000000ull
#define RESTORER 0x5001000ull
#define MAPERR 1

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT);
	dp_private.in_force = 1;
	dp_private.marks = 0;
	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	return 0;
}

/* Return: what it was before, as the program is told. */
static u64 procmask(u64 how, u64 set)
{
	u64 old = 0;

	assert_int_equal(dp_fake_call(__NR_rt_sigprocmask, how, (u64)&set,
				      (u64)&old, DP_SIGSET_BYTES, 0),
			 0);
	return old;
}

static u64 pending(void)
{
	u64 set = 0;

	assert_int_equal(dp_fake_call(__NR_rt_sigpending, (u64)&set,
				      DP_SIGSET_BYTES, 0, 0, 0),
			 0);
	return set;
}

static struct dp_kernel_sigaction set_action(u32 sig, u64 handler, u64 flags,
					     u64 mask)
{
	struct dp_kernel_sigaction act = { handler, flags | DP_SA_RESTORER,
					   RESTORER, mask };
	struct dp_kernel_sigaction old = { 0 };

	assert_int_equal(dp_fake_call(__NR_rt_sigaction, sig, (u64)&act,
				      (u64)&old, DP_SIGSET_BYTES, 0),
			 0);
	return old;
}

/* A handler with such a mask runs, for a signal that we do not catch. */
static void enter(u64 mask)
{
	u32 before = dp_fake_seen.entered;

	set_action(SIGUSR1, HANDLER, 0, mask);
	dp_fake_send(SIGUSR1);
	assert_int_equal(dp_fake_seen.entered, before + 1);
}

static const u64 masks[] = { 0,		SEGV,	   TRAP,	  TRAP | ILL,
			     CAUGHT,	ALL,	   ALL & ~CAUGHT, ALL & ~SEGV,
			     SEGV | 64, USR1 | 16, ILL | USR1 };
#define NR_MASKS (sizeof(masks) / sizeof(masks[0]))

static void what_goes_on_comes_off(void **state)
{
	size_t i, k;

	for (i = 0; i < NR_MASKS; i++) {
		u64 on = dp_marks_on(masks[i], CAUGHT);

		assert_int_equal(on & CAUGHT, 0);
		assert_int_equal(dp_marks_off(on), masks[i]);
		assert_true(dp_marks_are(on));
		/* A handler in a handler: the kernel adds the one mask to the other. */
		for (k = 0; k < NR_MASKS; k++)
			assert_int_equal(dp_marks_off(on | dp_marks_on(masks[k],
								       CAUGHT)),
					 masks[i] | masks[k]);
	}
}

static void some_masks_have_none(void **state)
{
	u64 one = DP_SIGMASK(DP_MARKS_FIRST + 3);

	assert_int_equal(dp_marks_on(TRAP | one, CAUGHT), one);
	assert_false(dp_marks_even(one));
	assert_false(dp_marks_are(ALL));
	assert_int_equal(dp_marks_off(ALL), ALL);
	assert_int_equal(dp_marks_caught(ALL), 0);
	/* Caught signals that the table has need no mark. */
	assert_int_equal(dp_marks_of(TRAP | USR1, TRAP), USR1);
}

static void handler_sees_its_mask(void **state)
{
	size_t i;

	for (i = 0; i < NR_MASKS; i++) {
		enter(masks[i]);
		assert_int_equal(dp_fake_mask() & CAUGHT, 0);
		assert_int_equal(procmask(BLOCK, 0), masks[i] | USR1);
		dp_fake_return();
		assert_int_equal(procmask(BLOCK, 0), 0);
		assert_int_equal(dp_fake_mask(), 0);
	}
}

/* Nothing that a handler does to its mask lasts. */
static void handler_changes_its_mask(void **state)
{
	size_t i;

	for (i = 0; i < NR_MASKS * NR_MASKS; i++) {
		u64 own = masks[i % NR_MASKS] | TRAP, set = masks[i / NR_MASKS];

		enter(own);
		own |= USR1;
		assert_int_equal(procmask(BLOCK, set), own);
		assert_int_equal(procmask(UNBLOCK, set), own | set);
		assert_int_equal(procmask(SET, own), (own | set) & ~set);
		assert_int_equal(procmask(BLOCK, 0), own);
		assert_int_equal(dp_fake_mask() & CAUGHT, 0);
		dp_fake_return();
		assert_int_equal(dp_fake_mask(), 0);
		assert_int_equal(dp_mask_blocked(), 0);
	}
}

/* Below, the thread has a virtual mask. */
static void over_a_virtual_mask(void **state)
{
	procmask(SET, TRAP);
	enter(SEGV);
	assert_int_equal(procmask(BLOCK, 0), TRAP | SEGV | USR1);
	assert_int_equal(procmask(UNBLOCK, SEGV), TRAP | SEGV | USR1);
	assert_int_equal(procmask(BLOCK, SEGV), TRAP | USR1);
	/* siglongjmp() to where the handler was not. */
	assert_int_equal(procmask(SET, TRAP), TRAP | SEGV | USR1);
	assert_int_equal(dp_fake_mask(), 0);
	assert_int_equal(dp_mask_blocked(), TRAP);
	assert_int_equal(procmask(SET, 0), TRAP);
}

static void handler_opens_what_was_blocked(void **state)
{
	procmask(SET, TRAP | SEGV);
	enter(ILL);
	assert_int_equal(procmask(UNBLOCK, TRAP), TRAP | SEGV | ILL | USR1);
	assert_int_equal(procmask(BLOCK, 0), SEGV | ILL | USR1);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.died, DP_SIGTRAP);
}

static void own_fault_kills(void **state)
{
	enter(ALL);
	dp_fake_raise(SIGSEGV, MAPERR);
	assert_int_equal(dp_fake_seen.died, SIGSEGV);
}

/* A handler for faults blocks its signal, so a fault in it kills. */
static void own_fault_in_its_handler(void **state)
{
	set_action(SIGSEGV, HANDLER, 0, 0);
	dp_fake_raise(SIGSEGV, MAPERR);
	assert_int_equal(dp_fake_seen.entered, 1);
	assert_int_equal(procmask(BLOCK, 0), SEGV);
	/* Another one does not. */
	set_action(DP_SIGILL, HANDLER + 1, 0, 0);
	dp_fake_raise(DP_SIGILL, MAPERR);
	assert_int_equal(dp_fake_seen.handler, HANDLER + 1);
	dp_fake_raise(SIGSEGV, MAPERR);
	assert_int_equal(dp_fake_seen.died, SIGSEGV);
}

static void own_fault_where_it_may_nest(void **state)
{
	set_action(SIGSEGV, HANDLER, DP_SA_NODEFER, 0);
	dp_fake_raise(SIGSEGV, MAPERR);
	assert_int_equal(procmask(BLOCK, 0), 0);
	dp_fake_raise(SIGSEGV, MAPERR);
	assert_int_equal(dp_fake_seen.entered, 2);
	assert_int_equal(dp_fake_seen.died, 0);
}

/* raise() in the handler comes when the handler has returned. */
static void waits_for_the_return(void **state)
{
	set_action(SIGSEGV, HANDLER, 0, 0);
	dp_fake_raise(SIGSEGV, MAPERR);
	dp_fake_send(SIGSEGV);
	assert_int_equal(dp_fake_seen.entered, 1);
	assert_int_equal(pending() & CAUGHT, SEGV);
	dp_fake_return();
	assert_int_equal(dp_fake_seen.entered, 2);
	assert_int_equal(pending(), 0);
	dp_fake_return();
	assert_int_equal(dp_fake_seen.entered, 2);
	assert_int_equal(dp_fake_mask(), 0);
}

static void waits_until_it_is_opened(void **state)
{
	set_action(SIGSEGV, HANDLER + 1, 0, 0);
	enter(CAUGHT);
	dp_fake_send(SIGSEGV);
	assert_int_equal(dp_fake_seen.handler, HANDLER);
	procmask(UNBLOCK, SEGV);
	assert_int_equal(dp_fake_seen.handler, HANDLER + 1);
}

/* Its action is not seen, and not left in a child. */
static void nudge_is_not_seen(void **state)
{
	struct dp_kernel_sigaction old;

	waits_for_the_return(state);
	assert_true(dp_fake_action(DP_MARKS_FIRST)->handler > DP_SIG_IGN);
	old = (struct dp_kernel_sigaction){ 1, 1, 1, 1 };
	assert_int_equal(dp_fake_call(__NR_rt_sigaction, DP_MARKS_FIRST, 0,
				      (u64)&old, DP_SIGSET_BYTES, 0),
			 0);
	assert_int_equal(old.handler | old.flags | old.mask, 0);
	dp_fake_fork();
	dp_hit_leave_signals(NULL);
	assert_int_equal(dp_fake_action(DP_MARKS_FIRST)->handler, DP_SIG_DFL);
}

/* The program has come to use one of the eight signals. */
static void given_up_for_a_mask(void **state)
{
	u64 one = DP_SIGMASK(DP_MARKS_FIRST + 6);

	set_action(12, HANDLER, 0, ALL);
	assert_true(dp_marks_are(dp_fake_action(12)->mask));
	procmask(BLOCK, one);
	assert_int_equal(dp_fake_action(12)->mask, ALL & ~CAUGHT);
	assert_int_equal(procmask(BLOCK, 0), one);
	enter(CAUGHT);
	assert_int_equal(dp_fake_mask(), one | USR1);
	assert_int_equal(procmask(BLOCK, 0), one | USR1);
	assert_int_equal(set_action(12, HANDLER, 0, 0).mask, ALL);
}

static void given_up_for_an_action(void **state)
{
	struct dp_kernel_sigaction old;

	waits_for_the_return(state);
	set_action(12, HANDLER, 0, TRAP | USR1);
	old = set_action(DP_MARKS_FIRST, HANDLER + 2, 0, 0);
	assert_int_equal(old.handler, DP_SIG_DFL);
	assert_int_equal(dp_fake_action(12)->mask, USR1);
	assert_int_equal(dp_fake_action(DP_MARKS_FIRST)->handler, HANDLER + 2);
	dp_fake_send(DP_MARKS_FIRST);
	assert_int_equal(dp_fake_seen.handler, HANDLER + 2);
	dp_fake_return();
	assert_int_equal(set_action(12, 0, 0, 0).mask, TRAP | USR1);
	set_action(12, HANDLER, 0, TRAP);
	assert_int_equal(dp_fake_action(12)->mask, 0);
}

static void defaults_do_not_matter(void **state)
{
	set_action(12, HANDLER, 0, ALL);
	set_action(DP_MARKS_FIRST + 2, DP_SIG_DFL, 0, 0);
	assert_true(dp_marks_are(dp_fake_action(12)->mask));
	set_action(DP_MARKS_FIRST + 7, DP_SIG_IGN, 0, 0);
	assert_false(dp_marks_are(dp_fake_action(12)->mask));
}

/* An exec keeps the mask, and what waits. */
static void exec_in_a_handler(void **state)
{
	enter(ALL);
	dp_fake_send(SIGSEGV);
	dp_mask_real(true);
	assert_int_equal(dp_fake_mask(), ALL);
	assert_true(pending() & SEGV);
	dp_mask_real(false);
	assert_int_equal(dp_fake_mask() & CAUGHT, 0);
	assert_int_equal(procmask(BLOCK, 0), ALL);
}

static void fork_in_a_handler(void **state)
{
	u64 frame = dp_marks_on(ALL & ~ILL, CAUGHT);

	procmask(SET, TRAP);
	enter(SEGV);
	dp_fake_fork();
	dp_hit_leave_signals(&frame);
	assert_int_equal(frame, ALL & ~ILL);
	assert_int_equal(dp_fake_action(SIGUSR1)->mask, SEGV);
	dp_hit_leave_signals(NULL);
	assert_int_equal(dp_fake_mask(), TRAP | SEGV | USR1);
}

/* Our actions are going: what the kernel has counts from now on. */
static void asked_while_they_go(void **state)
{
	u32 k;

	enter(SEGV);
	dp_private.in_force = 0;
	assert_int_equal(procmask(BLOCK, USR1), SEGV | USR1);
	assert_int_equal(dp_fake_mask(), SEGV | USR1);
	for (k = 0; k < DP_CAUGHT; k++)
		dp_fake_action(dp_caught(k))->handler = DP_SIG_DFL;
	assert_int_equal(procmask(SET, 0), SEGV | USR1);
}

static void probe_in_a_handler(void **state)
{
	enter(ALL);
	dp_fake_breakpoint(AT);
	assert_int_equal(dp_fake_seen.died, 0);
	assert_int_equal(dp_fake_count(0), 1);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup(name, begin)
	static const struct CMUnitTest tests[] = {
		test(what_goes_on_comes_off),
		test(some_masks_have_none),
		test(handler_sees_its_mask),
		test(handler_changes_its_mask),
		test(over_a_virtual_mask),
		test(handler_opens_what_was_blocked),
		test(own_fault_kills),
		test(own_fault_in_its_handler),
		test(own_fault_where_it_may_nest),
		test(waits_for_the_return),
		test(waits_until_it_is_opened),
		test(nudge_is_not_seen),
		test(given_up_for_a_mask),
		test(given_up_for_an_action),
		test(defaults_do_not_matter),
		test(exec_in_a_handler),
		test(fork_in_a_handler),
		test(asked_while_they_go),
		test(probe_in_a_handler),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("marks", tests, NULL, NULL);
}
