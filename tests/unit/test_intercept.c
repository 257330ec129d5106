// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * intercept: which system calls are answered in the kernel's place, and what is done before
 * and after the others, in a world in memory. What becomes of masks is in test_mask.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <asm/unistd.h>
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "arch/arch.h"
#include "port/fake/hit/world.h"
#include "port/user/signals/intercept.h"
#include "port/user/signals/mask.h"
#include "port.h"
#include "port_hit.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"

#define TRAP DP_SIGMASK(DP_SIGTRAP)
#define KILL DP_SIGMASK(9)
#define USR1 DP_SIGMASK(10)
#define HANDLER 0x5000000ull
#define BAD 8 /* an address where nothing is */
#define NOT_CAUGHT \
	DP_CAUGHT_JUMPS /* the first signal that is not, in this world */

static u64 scratch[4];
static char name[300];

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT_JUMPS);
	dp_arena.control.own_process = 1;
	dp_fake_bad(0, 64);
	memset(name, 'x', sizeof(name) - 1);
	return 0;
}

static bool before(u64 nr, u64 a, u64 b, u64 c, u64 d)
{
	struct dp_intercept_regs regs = { .nr = nr, .args = { a, b, c, d } };

	return dp_intercept_before(&regs);
}

/* Masks of another size are refused by the kernel, which knows how. */
static void which_are_answered(void **state)
{
	static const struct {
		u64 nr, a, d;
		bool answered;
	} cases[] = {
		{ __NR_rt_sigaction, DP_SIGTRAP, DP_SIGSET_BYTES, true },
		{ __NR_rt_sigaction, DP_SIGTRAP, 4, false },
		{ __NR_rt_sigaction, 12, DP_SIGSET_BYTES, true },
		{ __NR_rt_sigaction, 12, 4, false },
		{ __NR_rt_sigprocmask, 0, DP_SIGSET_BYTES, true },
		{ __NR_rt_sigprocmask, 0, 4, false },
		{ __NR_rt_sigpending, (u64)scratch, 0, true },
		{ __NR_exit, 0, 0, false },
		{ __NR_execve, (u64)name, 0, false },
		{ __NR_execveat, 0, 0, false },
		{ __NR_arch_prctl, DP_ARCH_GET_FS, 0, false },
		{ __NR_getpid, 0, 0, false },
	};
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (before(cases[i].nr, cases[i].a, 0, 0, cases[i].d) !=
		    cases[i].answered)
			fail_msg("case %u", i);
}

static s64 action(const struct dp_kernel_sigaction *act,
		  struct dp_kernel_sigaction *old)
{
	return dp_fake_call(__NR_rt_sigaction, DP_SIGTRAP, (u64)act, (u64)old,
			    DP_SIGSET_BYTES, 0);
}

static void actions(void **state)
{
	struct dp_kernel_sigaction act = { HANDLER, DP_SA_RESTORER, 1,
					   KILL | USR1 },
				   old = { 0 };
	u64 ours = dp_fake_action(DP_SIGTRAP)->handler;

	assert_int_equal(action(&act, NULL), 0);
	assert_int_equal(action(NULL, &old), 0);
	assert_int_equal(old.handler, HANDLER);
	assert_int_equal(old.mask, USR1);
	assert_int_equal(action((void *)BAD, NULL), -EFAULT);
	assert_int_equal(action(NULL, (void *)BAD), -EFAULT);
	action(NULL, &old);
	assert_int_equal(old.handler, HANDLER);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, ours);
	/* A child in our memory is told its parent's, and does not change that. */
	dp_fake_vfork(false);
	act.handler++;
	assert_int_equal(action(&act, &old), 0);
	assert_int_equal(old.handler, HANDLER);
	dp_fake_vfork(true);
	action(NULL, &old);
	assert_int_equal(old.handler, HANDLER);
}

static void exec_is_noted(void **state)
{
	static const struct dp_kernel_sigaction ignore = { .handler =
								   DP_SIG_IGN };
	char *noted = dp_arena.hit.exec_path;

	dp_action_set(NOT_CAUGHT, &ignore, NULL);
	before(__NR_execve, (u64)name, 0, 0, 0);
	assert_int_equal(strlen(noted), sizeof(dp_arena.hit.exec_path) - 1);
	assert_memory_equal(noted, name, strlen(noted));
	assert_int_equal(dp_arena.hit.exec_pending, 1);
	assert_int_equal(dp_fake_action(dp_caught(NOT_CAUGHT))->handler, 0);
	before(__NR_execveat, 0, (u64)&name[297], 0, 0);
	assert_string_equal(noted, "xx");
	dp_fake_bad((u64)&name[100], 1);
	before(__NR_execve, (u64)&name[99], 0, 0, 0);
	assert_int_equal(noted[0], 'x');
	assert_int_equal(strlen(noted), 1);
	/* A child's exec ends no probes. */
	dp_arena.hit.exec_pending = 0;
	dp_fake_vfork(false);
	before(__NR_execve, (u64)&name[297], 0, 0, 0);
	assert_int_equal(dp_arena.hit.exec_pending, 0);
	assert_int_equal(strlen(noted), 1);
}

static void thread_ends(void **state)
{
	u64 set = TRAP;
	u32 own;

	for (own = 0; own < 2; own++) {
		begin(state);
		dp_fake_stacks();
		dp_fake_frames(1);
		dp_arena.control.own_process = own;
		dp_stack_mine();
		before(__NR_rt_sigprocmask, 0, (u64)&set, 0, DP_SIGSET_BYTES);
		assert_int_equal(dp_mask_blocked(), TRAP);
		before(__NR_exit, 0, 0, 0, 0);
		assert_int_equal(dp_mask_blocked(), 0);
		assert_int_equal(dp_stack_known() == NULL, own);
	}
}

/* The thread is known by its pointer, which it is about to change. */
static void pointer_changes(void **state)
{
	u64 set = TRAP, pointer;

	dp_fake_thread(1);
	pointer = dp_port_thread_pointer();
	dp_fake_thread(0);
	before(__NR_rt_sigprocmask, 0, (u64)&set, 0, DP_SIGSET_BYTES);
	before(__NR_arch_prctl, DP_ARCH_GET_FS, pointer, 0, 0);
	dp_fake_thread(1);
	assert_int_equal(dp_mask_blocked(), 0);
	dp_fake_thread(0);
	before(__NR_arch_prctl, DP_ARCH_SET_FS, pointer, 0, 0);
	dp_fake_thread(1);
	assert_int_equal(dp_mask_blocked(), TRAP);
}

static void alternate_stack_changes(void **state)
{
	struct dp_port_stack set = { .sp = 0x5000, .size = 0x1000 };
	struct dp_stack *stack;
	u32 own;

	for (own = 0; own < 2; own++) {
		begin(state);
		dp_fake_stacks();
		dp_arena.control.own_process = own;
		stack = dp_stack_mine();
		dp_fake_altstack(0x5000, 0x1000);
		dp_fake_call(__NR_getpid, 0, 0, 0, 0, 0);
		assert_int_equal(stack->alt_size, 0);
		dp_fake_call(__NR_sigaltstack, (u64)&set, 0, 0, 0, 0);
		assert_int_equal(stack->alt_size, own ? 0x1000 : 0);
	}
}

/* Where has a call been made? Return: number of our small stack; DP_INTERCEPT_STACKS: on the
 * thread's own */
static u32 made_on(void)
{
	u32 i;

	assert_true(before(__NR_rt_sigpending, (u64)scratch, 0, 0, 0));
	for (i = 0; i < DP_INTERCEPT_STACKS; i++)
		if (dp_fake_seen.sp - (u64)dp_private.stacks[i].words <
		    sizeof(dp_private.stacks[i].words))
			break;
	return i;
}

static void small_stacks(void **state)
{
	u64 here = (u64)__builtin_frame_address(0);
	u32 i;

	dp_fake_altstack(0x5000, 0x1000);
	assert_int_equal(made_on(), DP_INTERCEPT_STACKS);
	dp_arena.control.small_stacks = 1;
	/* Handlers have no stack, or the thread is on theirs. */
	dp_fake_altstack(0, 0);
	assert_int_equal(made_on(), DP_INTERCEPT_STACKS);
	dp_fake_altstack(here - 0x1000, 0x2000);
	assert_int_equal(made_on(), DP_INTERCEPT_STACKS);
	dp_fake_altstack(0x5000, 0x1000);
	for (i = 0; i < DP_INTERCEPT_STACKS; i++) {
		assert_int_equal(made_on(), i);
		assert_int_equal(dp_private.stacks[i].busy, 0);
		dp_private.stacks[i].busy = 1;
	}
	/* All are in use. */
	assert_int_equal(made_on(), DP_INTERCEPT_STACKS);
}

static void our_actions(void **state)
{
	u32 k;

	for (k = 0; k < DP_CAUGHT; k++)
		dp_fake_action(dp_caught(k))->handler = HANDLER;
	dp_intercept_take_actions();
	for (k = 0; k < DP_CAUGHT; k++)
		assert_int_equal(dp_fake_action(dp_caught(k))->handler ==
					 HANDLER,
				 k >= DP_CAUGHT_JUMPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(which_are_answered, begin),
		cmocka_unit_test_setup(actions, begin),
		cmocka_unit_test_setup(exec_is_noted, begin),
		cmocka_unit_test_setup(thread_ends, begin),
		cmocka_unit_test_setup(pointer_changes, begin),
		cmocka_unit_test_setup(alternate_stack_changes, begin),
		cmocka_unit_test_setup(small_stacks, begin),
		cmocka_unit_test_setup(our_actions, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
