// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * injected: which registers a handler needs that is to run in another process, and where it
 * and its uprobe come to lie. The handlers are not called.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>
#include "arch/arch.h"
#include "lib/foreign.h"
#include "lib/self.h"
#include "proc/attach_other.h"

#define AWAY 0x100000000000ull /* from our memory to the other process's */

static u8 *mapped;
static u64 mapped_size;
static u32 maps;

int __wrap_dp_attach_other_map(struct dp_process *proc, u64 size, u8 **ours,
			       u64 *there);
int __wrap_dp_attach_other_protect(struct dp_process *proc, u64 addr, u64 size,
				   int prot, const void *bytes);
int __wrap_dp_live_own(struct dp_engine *engine, u64 addr, u64 size);
struct dp_arena *__wrap_dp_engine_arena(const struct dp_engine *engine);

int __wrap_dp_attach_other_map(struct dp_process *proc, u64 size, u8 **ours,
			       u64 *there)
{
	mapped = *ours = calloc(1, size);
	mapped_size = size;
	maps++;
	*there = (u64)*ours + AWAY;
	return 0;
}

int __wrap_dp_attach_other_protect(struct dp_process *proc, u64 addr, u64 size,
				   int prot, const void *bytes)
{
	assert_true(addr - (u64)mapped - AWAY + size <= mapped_size);
	assert_true((u64)bytes + AWAY == addr);
	return 0;
}

int __wrap_dp_live_own(struct dp_engine *engine, u64 addr, u64 size)
{
	assert_true(addr == (u64)mapped + AWAY);
	return 0;
}

struct dp_arena *__wrap_dp_engine_arena(const struct dp_engine *engine)
{
	static struct dp_arena arena;

	return &arena;
}

#define HANDLER(name, code)                                         \
	static void name(struct uprobe *u, struct pt_regs *regs)    \
	{                                                           \
		__asm__ volatile(code ::: "xmm0", "rax", "memory"); \
	}

HANDLER(plain, "incq %%rax")
HANDLER(moves, "movups (%%rax), %%xmm0")
HANDLER(counts, "addsd %%xmm0, %%xmm0")
HANDLER(wide, "vmovups (%%rax), %%ymm0")
HANDLER(old, "fld1\n\tfstp %%st(0)")
HANDLER(wide_first, "vzeroupper\n\tmovups (%%rax), %%xmm0\n\tincq %%rax")
HANDLER(wide_last, "incq %%rax\n\taddsd %%xmm0, %%xmm0\n\tvzeroupper")
HANDLER(anywhere, "call *%%rax")

static u8 needs_of(struct dp_foreign *f, uprobe_handler_t handler)
{
	static struct uprobe u;
	struct dp_client c = { .u = &u, .handler = handler, .at = f };
	u64 there, user;
	u8 needs = 0x77;

	assert_int_equal(dp_injected_put(&c, &there, &user, &needs), 0);
	/* All are in one object, of which there is one copy. */
	assert_int_equal(maps, 1);
	assert_true(dp_injected_see(f, (void *)handler) ==
		    (void *)(there - AWAY));
	assert_true(dp_injected_see(f, &u) == (void *)(user - AWAY));
	return needs;
}

static int begin(void **state)
{
	static struct dp_foreign f;

	/* Stacks are mapped already. */
	f = (struct dp_foreign){ .injected = (u8 *)&f };
	maps = 0;
	*state = &f;
	return 0;
}

static int end(void **state)
{
	dp_injected_free(*state);
	free(mapped);
	return 0;
}

/* The most that any instruction needs, whatever comes before it and behind. */
static void registers_are_saved_that_are_used(void **state)
{
	struct dp_foreign *f = *state;

	assert_int_equal(needs_of(f, plain), DP_STATE_GENERAL);
	assert_int_equal(needs_of(f, moves), DP_STATE_SSE | DP_STATE_XMM16);
	assert_int_equal(needs_of(f, counts),
			 DP_STATE_SSE_MATH | DP_STATE_XMM16);
	assert_int_equal(needs_of(f, wide), DP_STATE_ALL);
	assert_int_equal(needs_of(f, old), DP_STATE_ALL);
	assert_int_equal(needs_of(f, wide_first), DP_STATE_ALL);
	assert_int_equal(needs_of(f, wide_last), DP_STATE_ALL);
	assert_int_equal(needs_of(f, anywhere), DP_STATE_ALL);
}

/* Behind the copy, each in a place of its own. */
static void uprobes_outside_the_object_go_along(void **state)
{
	struct uprobe u[2] = { { .vaddr = 17 }, { .vaddr = 18 } };
	struct dp_client c[2] = {
		{ .u = &u[0], .handler = plain, .at = *state },
		{ .u = &u[1], .handler = plain, .at = *state }
	};
	u64 there, user[2];
	u32 i;
	u8 needs;

	for (i = 0; i < 2; i++)
		assert_int_equal(
			dp_injected_put(&c[i], &there, &user[i], &needs), 0);
	for (i = 0; i < 2; i++) {
		user[i] -= (u64)mapped + AWAY;
		assert_true(user[i] + sizeof(u[i]) <= mapped_size);
		assert_memory_equal(mapped + user[i], &u[i], sizeof(u[i]));
	}
	assert_null(dp_injected_see(*state, &u[0]));
}

void __real_free(void *p);
void __wrap_free(void *p);

static u32 frees;

void __wrap_free(void *p)
{
	frees++;
	__real_free(p);
}

/* Of another object there is another copy. */
static void copies_are_forgotten_together(void **state)
{
	const uprobe_handler_t handlers[] = {
		plain, (uprobe_handler_t)(void *)ZydisGetVersion
	};
	struct dp_client c = { .at = *state };
	u64 there, user;
	u8 needs, *first = NULL;
	u32 i;

	for (i = 0; i < 2; i++) {
		first = mapped;
		c.handler = handlers[i];
		c.u = &(struct uprobe){ .vaddr = i };
		assert_int_equal(dp_injected_put(&c, &there, &user, &needs), 0);
		assert_int_equal(maps, i + 1);
		assert_non_null(dp_injected_see(*state, (void *)handlers[i]));
	}
	frees = 0;
	dp_injected_free(*state);
	assert_int_equal(frees, 2);
	((struct dp_foreign *)*state)->objects = NULL;
	free(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			registers_are_saved_that_are_used, begin, end),
		cmocka_unit_test_setup_teardown(
			uprobes_outside_the_object_go_along, begin, end),
		cmocka_unit_test_setup_teardown(copies_are_forgotten_together,
						begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
