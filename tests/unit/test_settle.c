// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * settle: which handlers are waited for, and whose stacks still refer to memory that is about
 * to go.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/layout/arena.h"
#include "lib/helper/helper.h"
#include "lib/self.h"
#include "lib/text.h"

#define STACKS 5
#define THREAD 7
#define START 0x7100000000ull
#define SIZE 256

static struct {
	struct dp_arena arena;
	u32 owners[DP_STACKS];
} there;
static char *stacks;

static struct dp_stack *stack_at(u32 i)
{
	return (void *)(stacks + (u64)(i + 1) * DP_STACK_SIZE -
			sizeof(struct dp_stack));
}

static int begin(void **state)
{
	memset(&there, 0, sizeof(there));
	stacks = aligned_alloc(DP_PAGE, STACKS * DP_STACK_SIZE);
	if (!stacks)
		return -1;
	memset(stacks, 0, STACKS * DP_STACK_SIZE);
	there.arena.control.owner_off =
		(u32)((char *)there.owners - (char *)&there.arena);
	there.arena.control.stack_base = (u64)stacks;
	there.arena.control.nr_stacks = DP_STACKS;
	memset(&dp_self, 0, sizeof(dp_self));
	dp_self.arena = &there.arena;
	return 0;
}

static int end(void **state)
{
	free(stacks);
	memset(&dp_self, 0, sizeof(dp_self));
	return 0;
}

static bool in_hand(void)
{
	return dp_self_in_hand(START, SIZE);
}

/* Every stack that a thread owns is looked at, whatever is before it. */
static void all_stacks_are_looked_at(void **state)
{
	u32 i;

	there.arena.hit.stacks = STACKS;
	for (i = 0; i < STACKS; i++)
		there.owners[i] = i == 1 ? 0 : THREAD + i;
	assert_false(in_hand());
	for (i = 0; i < STACKS; i++) {
		stack_at(i)->instance = START;
		assert_int_equal(in_hand(), i != 1);
		stack_at(i)->instance = 0;
	}
	assert_false(in_hand());
	/* One whose owner only comes has no handler yet. */
	there.owners[2] |= DP_OWNER_COMES;
	stack_at(2)->instance = START;
	assert_false(in_hand());
	there.owners[2] = THREAD;
	assert_true(in_hand());
	/* One that was never taken has no owner. */
	there.arena.hit.stacks = 2;
	assert_false(in_hand());
}

/* From its first byte to its last, by the instance itself or by those behind it. */
static void any_byte_counts(void **state)
{
	static const struct {
		u64 at;
		bool in;
	} places[] = { { START - 1, false },
		       { START, true },
		       { START + SIZE - 1, true },
		       { START + SIZE, false } };
	u32 i;

	there.arena.hit.stacks = 1;
	there.owners[0] = THREAD;
	for (i = 0; i < 4; i++) {
		*stack_at(0) = (struct dp_stack){ .instance = places[i].at };
		assert_int_equal(in_hand(), places[i].in);
		*stack_at(0) = (struct dp_stack){ .rest = places[i].at };
		assert_int_equal(in_hand(), places[i].in);
	}
}

/* What the helper sees, one look after the other. */
static struct {
	u64 sp, pc;
} seen[5];
static u32 looks;

int __wrap_dp_helper_run(const struct dp_helper_order *order, const u32 *which,
			 struct dp_helper_answer *answer, struct dp_diag *diag);

int __wrap_dp_helper_run(const struct dp_helper_order *order, const u32 *which,
			 struct dp_helper_answer *answer, struct dp_diag *diag)
{
	assert_int_equal(order->verb, DP_HELPER_LOOK);
	assert_int_equal(order->n, stack_at(0)->tid);
	assert_true(looks < 5 && seen[looks].sp);
	answer->pc = seen[looks].pc;
	answer->base = seen[looks++].sp;
	return 0;
}

static u32 runs, ends;

static void *run(void *arg)
{
	__atomic_store_n(&runs, (u32)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&ends, __ATOMIC_ACQUIRE))
		;
	return NULL;
}

/* Until the thread is seen outside its handler's stack, its alternate one, and the engine. It does
 * not sleep, so only the helper can tell. */
static void waits_until_the_handler_is_left(void **state)
{
	struct dp_stack *s = stack_at(0);
	pthread_t thread;
	u32 i;

	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
	while (!(s->tid = __atomic_load_n(&runs, __ATOMIC_ACQUIRE)))
		;
	assert_int_equal(dp_text_open(&dp_self.text), 0);
	dp_self.base = 2 * START;
	there.arena.hit.stacks = 1;
	there.owners[0] = THREAD;
	s->busy = DP_BUSY_HANDLER;
	s->alt_sp = START;
	s->alt_size = SIZE;
	seen[0].sp = (u64)s;
	seen[1].sp = (u64)s + sizeof(*s) - DP_STACK_SIZE;
	seen[2].sp = START + SIZE - 1;
	seen[3].sp = seen[4].sp = START + SIZE;
	for (i = 0; i < 5; i++)
		seen[i].pc = dp_self.base + DP_AGENT_TEXT;
	seen[3].pc--;
	looks = 0;
	dp_self_settle();
	assert_int_equal(looks, 5);
	/* It is not waited for until its next hit. */
	dp_self_settle();
	assert_int_equal(looks, 5);
	__atomic_store_n(&ends, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	dp_text_close(&dp_self.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_stacks_are_looked_at, begin,
						end),
		cmocka_unit_test_setup_teardown(any_byte_counts, begin, end),
		cmocka_unit_test_setup_teardown(waits_until_the_handler_is_left,
						begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
