// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_masks: masks that cannot be given back. The agent's tables are in this process. */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/private.h"
#include "engine/site/view.h"
#include "proc/attach/attach.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/signals/masks.h"

#define SIZE (DP_PRIVATE_OFFSET + sizeof(struct dp_private))
#define NO_PID (1 << 30)

static struct dp_process *proc;
static struct dp_arena arena;
static const struct dp_view view = { .arena = &arena };
static void *agent;

static int begin(void **state)
{
	struct dp_diag diag = { 0 };

	agent = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(agent, MAP_FAILED);
	arena.control.base = (u64)agent;
	proc = dp_process_new();
	assert_non_null(proc);
	proc->pid = getpid();
	assert_int_equal(dp_process_open_mem(proc, &diag), 0);
	return 0;
}

static int end(void **state)
{
	dp_process_close(proc);
	munmap(agent, SIZE);
	return 0;
}

static void all_can_be_read(void **state)
{
	assert_int_equal(dp_masks_return(proc, &view, false), 0);
}

static void no_tables(void **state)
{
	arena.control.base = 0;
	assert_int_equal(dp_masks_return(proc, &view, false), -ENOMEM);
	assert_true(dp_masks_absent(proc, 0));
}

/* In these the tool finds the stacks, and there the masks of handlers. */
static void no_mappings(void **state)
{
	proc->pid = NO_PID;
	assert_int_equal(dp_masks_return(proc, &view, false), -ENOMEM);
}

/* A frame, and the vector state that it refers to */
static struct {
	struct dp_sigframe frame;
	u32 state[256];
} there;

static bool is_frame(void)
{
	struct dp_sigframe f;

	return dp_frame_read(proc, (u64)&there, (u64)&there - 64, &f);
}

static int begin_frame(void **state)
{
	memset(&there, 0, sizeof(there));
	there.frame.uc.flags = DP_UC_FP_XSTATE;
	there.frame.uc.mc.cs = 0x33;
	there.frame.uc.mc.fpstate = (u64)there.state;
	there.state[DP_FPSTATE_MAGIC_AT / 4] = DP_FPSTATE_MAGIC;
	return begin(state);
}

static void whole_frames(void **state)
{
	assert_true(is_frame());
	/* Of a processor without xsave */
	there.frame.uc.flags = 0;
	there.state[DP_FPSTATE_MAGIC_AT / 4] = 0;
	assert_true(is_frame());
	there.frame.uc.flags = DP_UC_FP_XSTATE;
	there.frame.uc.mc.fpstate = 0;
	assert_true(is_frame());
}

static void remains_of_frames(void **state)
{
	there.frame.uc.link = 1;
	assert_false(is_frame());
	there.frame.uc.link = 0;
	there.frame.uc.flags |= 1ull << 40;
	assert_false(is_frame());
	there.frame.uc.flags = DP_UC_FP_XSTATE;
	there.state[DP_FPSTATE_MAGIC_AT / 4]++;
	assert_false(is_frame());
	there.frame.uc.mc.fpstate = 8;
	assert_false(is_frame());
	there.frame.uc.mc.fpstate = (u64)there.state;
	there.state[DP_FPSTATE_MAGIC_AT / 4]--;
	assert_true(is_frame());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_can_be_read, begin, end),
		cmocka_unit_test_setup_teardown(no_tables, begin, end),
		cmocka_unit_test_setup_teardown(no_mappings, begin, end),
		cmocka_unit_test_setup_teardown(whole_frames, begin_frame, end),
		cmocka_unit_test_setup_teardown(remains_of_frames, begin_frame,
						end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("masks", tests, NULL, NULL);
}
