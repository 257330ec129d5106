// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * action: masks in the program's actions, and masks where the stack ends, in a world in
 * memory.
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
#include "port.h"
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "port_hit.h"

#define SIGHUP 1
#define SIGUSR1 10
#define TRAP DP_SIGMASK(DP_SIGTRAP)
#define ILL DP_SIGMASK(DP_SIGILL)
#define HANDLER 0x5000000ull
#define STACK_PAGES 4

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT_JUMPS);
	return 0;
}

/* @set: may be NULL. Return: the mask of the action before */
static u64 action(u32 sig, const struct dp_kernel_sigaction *set)
{
	struct dp_kernel_sigaction old = { 0 };

	assert_int_equal(dp_fake_call(__NR_rt_sigaction, sig, (u64)set,
				      (u64)&old, DP_SIGSET_BYTES, 0),
			 0);
	return old.mask;
}

static u64 set_mask(u32 sig, u64 mask)
{
	struct dp_kernel_sigaction act = { HANDLER, DP_SA_RESTORER, 1, mask };

	return action(sig, &act);
}

static void to_ask_for_an_action_changes_nothing(void **state)
{
	set_mask(SIGUSR1, TRAP);
	assert_int_equal(action(SIGUSR1, NULL), TRAP);
	assert_int_equal(action(SIGUSR1, NULL), TRAP);
	assert_int_equal(set_mask(SIGUSR1, 0), TRAP);
	assert_int_equal(action(SIGUSR1, NULL), 0);
}

/* It shares the memory, but has actions of its own. */
static void a_child_in_our_memory_changes_no_action_of_ours(void **state)
{
	struct dp_kernel_sigaction ours;

	set_mask(SIGUSR1, TRAP);
	ours = *dp_fake_action(SIGUSR1);
	dp_fake_vfork(false);
	set_mask(SIGUSR1, ILL);
	dp_fake_vfork(true);
	*dp_fake_action(SIGUSR1) = ours;
	assert_int_equal(set_mask(SIGUSR1, 0), TRAP);
}

static void masks_of_actions_are_only_in_their_table(void **state)
{
	dp_private.recovering = ~0ull;
	assert_int_equal(set_mask(SIGUSR1, TRAP), 0);
	assert_int_equal(set_mask(SIGUSR1, ILL), TRAP);
	assert_int_equal(set_mask(SIGUSR1, 0), ILL);
	assert_int_equal(dp_private.recovering, ~0ull);
}

static void every_action_is_given_back(void **state)
{
	u32 sig;

	for (sig = SIGHUP; sig <= 64; sig++)
		if (sig != DP_SIGTRAP && sig != DP_SIGILL)
			set_mask(sig, sig & 1 ? TRAP : ILL);
	dp_mask_give_back(NULL);
	for (sig = SIGHUP; sig <= 64; sig++)
		if (sig != DP_SIGTRAP && sig != DP_SIGILL)
			assert_int_equal(dp_fake_action(sig)->mask,
					 sig & 1 ? TRAP : ILL);
}

/* --- masks at the end of a stack --- */

static u8 *stack, *stack_end;
static u64 got;
static int errors[16];

static void read_all(void *arg)
{
	u32 back;

	for (back = 0; back < 16; back++)
		errors[back] = dp_mask_get(&got, (u64)stack_end - back);
}

/* Of a mask that begins on the stack, and ends where nothing is, the kernel tells. */
static void masks_are_not_read_behind_the_stack(void **state)
{
	u32 back;

	stack = mmap(NULL, (STACK_PAGES + 1) * DP_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(stack, MAP_FAILED);
	stack_end = stack + STACK_PAGES * DP_PAGE;
	assert_int_equal(mprotect(stack_end, DP_PAGE, PROT_NONE), 0);
	dp_fake_bad((u64)stack_end, DP_PAGE);
	dp_call_on(NULL, read_all, stack_end - 64);
	for (back = 0; back < 8; back++)
		assert_int_equal(errors[back], -EFAULT);
	for (; back < 16; back++)
		assert_int_equal(errors[back], 0);
	dp_call_on(NULL, read_all, stack_end - DP_PAGE - 64);
	for (back = 0; back < 8; back++)
		assert_int_equal(errors[back], -EFAULT);
	munmap(stack, (STACK_PAGES + 1) * DP_PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(to_ask_for_an_action_changes_nothing,
				       begin),
		cmocka_unit_test_setup(
			a_child_in_our_memory_changes_no_action_of_ours, begin),
		cmocka_unit_test_setup(masks_of_actions_are_only_in_their_table,
				       begin),
		cmocka_unit_test_setup(every_action_is_given_back, begin),
		cmocka_unit_test_setup(masks_are_not_read_behind_the_stack,
				       begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("action", tests, NULL, NULL);
}
