// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kretprobe: the instances that a return probe in this process asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "engine/layout/arena.h"
#include "engine/layout/instance.h"
#include "own_engine.h"

static struct dp_arena arena;
static struct dp_instance_pool asked;

int __wrap_dp_self_begin(bool make);
void __wrap_dp_self_end(void);
int __wrap_dp_probes_register(struct dp_request *requests, u32 n);

int __wrap_dp_self_begin(bool make)
{
	return 0;
}

void __wrap_dp_self_end(void)
{
}

/* Nothing is armed: the pool goes with the next one. */
int __wrap_dp_probes_register(struct dp_request *requests, u32 n)
{
	assert_int_equal(n, 1);
	asked = *(struct dp_instance_pool *)requests->handlers.instance_pool;
	return -EBUSY;
}

static int begin(void **state)
{
	if (own_engine_begin())
		return -1;
	dp_self.arena = &arena;
	return 0;
}

static int end(void **state)
{
	own_engine_end();
	return 0;
}

/* The sanitizers would have a handler call functions of theirs. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

static int __attribute__((noinline)) function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 3;
}

static int UNCHECKED plain(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static int UNCHECKED of_vectors(struct kretprobe_instance *ri,
				struct pt_regs *regs)
{
	__asm__ volatile("pxor %%xmm3, %%xmm3" ::: "xmm3");
	return 0;
}

static int how_quick(kretprobe_handler_t entry, kretprobe_handler_t handler,
		     int maxactive, size_t data)
{
	struct kretprobe rp = { .kp.addr = (kprobe_opcode_t *)function,
				.entry_handler = entry,
				.handler = handler,
				.maxactive = maxactive,
				.data_size = data };

	assert_int_equal(register_kretprobe(&rp), -EBUSY);
	assert_int_equal(asked.nr, maxactive);
	assert_int_equal(asked.data_size, data);
	return asked.quick;
}

static bool is_quick(kretprobe_handler_t entry, kretprobe_handler_t handler,
		     int maxactive, size_t data)
{
	return how_quick(entry, handler, maxactive, data) != 0;
}

static int UNCHECKED of_ip(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs->ip;
	return 0;
}

static int UNCHECKED of_flags(struct kretprobe_instance *ri,
			      struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs->flags;
	return 0;
}

static int UNCHECKED of_bx(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs->bx;
	return 0;
}

/* What assembly saves is enough for what both handlers touch. */
static void followed_handlers_are_known(void **state)
{
	assert_int_equal(how_quick(plain, plain, 1, 0), DP_QUICK_FOLLOWED);
	assert_int_equal(how_quick(NULL, NULL, 1, 0), DP_QUICK_FOLLOWED);
	/* A word of data is always cleared; there is more. */
	assert_int_equal(how_quick(plain, plain, 1, 8), DP_QUICK_FOLLOWED);
	assert_int_equal(how_quick(plain, plain, 1, 9),
			 DP_QUICK_FOLLOWED_WITH_DATA);
	assert_int_equal(how_quick(of_ip, plain, 1, 8),
			 DP_QUICK_FOLLOWED_FOR_MORE);
	assert_int_equal(how_quick(NULL, of_ip, 1, 8),
			 DP_QUICK_FOLLOWED_FOR_MORE);
	assert_int_equal(how_quick(plain, of_bx, 1, 8), 1);
	assert_int_equal(how_quick(of_bx, of_ip, 1, 8), 1);
	assert_int_equal(how_quick(of_flags, plain, 1, 8), 1);
	assert_int_equal(how_quick(plain, of_flags, 1, 8), 1);
}

/* Vector registers are the program's where none are saved, and a search through many
 * instances, or much to clear, is no little work. */
static void calls_are_quick_that_need_little_work(void **state)
{
	assert_int_equal(function(1), 4);
	assert_true(is_quick(NULL, plain, 1, 0));
	assert_true(is_quick(plain, plain, 1, 0));
	assert_true(is_quick(plain, NULL, 1, 0));
	assert_false(is_quick(of_vectors, plain, 1, 0));
	assert_false(is_quick(plain, of_vectors, 1, 0));
	assert_false(is_quick(of_vectors, of_vectors, 1, 0));
	assert_true(is_quick(plain, plain, DP_INSTANCE_SCAN, 64));
	assert_false(is_quick(plain, plain, DP_INSTANCE_SCAN + 1, 64));
	assert_false(is_quick(plain, plain, DP_INSTANCE_SCAN, 65));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			calls_are_quick_that_need_little_work, begin, end),
		cmocka_unit_test_setup_teardown(followed_handlers_are_known,
						begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
