// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * instance: the account of tracked calls, in a world in memory: calls that are known by
 * their slots, and calls that return to stubs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "engine/hit/hit.h"
#include "engine/instance/instance.h"
#include "engine/instance/retprobe.h"
#include "arch/arch.h"
#include "port/fake/hit/world.h"
#include "engine/insn/class.h"
#include "engine/layout/base.h"
#include "engine/layout/handler.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"

#define HOME 0x401234
#define ELSEWHERE 0x405678
#define STUBS 0x5000000ull
#define ACTIVE 2
#define ZERO 0x40 /* of the flags */

/* Probes, each at a site of its own */
enum { ENTRY, EXIT, TAIL, STUB };

static struct dp_stack stack;
static struct dp_regs regs;
static struct dp_instance_pool f;
static struct dp_frames frames;
static struct dp_frame frame[DP_STUBS_A_PAGE];
static struct {
	struct dp_instance ri;
	u64 data;
} pool[ACTIVE];
static u64 words[16]; /* the program's stack */
static u32 nmissed, veto;
static jmp_buf up;
static bool leaves;
static struct dp_regs seen;
static u64 seen_data, seen_ending;

static u64 on_entry(struct dp_instance *ri, const struct dp_regs *r)
{
	assert_int_equal(ri->ret_addr, HOME);
	*(u64 *)(ri + 1) += 7;
	if (leaves)
		longjmp(up, 1);
	return veto;
}

static u64 on_return(struct dp_instance *ri, struct dp_regs *r)
{
	seen = *r;
	seen_data = *(u64 *)(ri + 1);
	seen_ending = ri->ending;
	r->sp = r->ip = 0;
	if (leaves)
		longjmp(up, 1);
	return 0;
}

static void probe(u32 i, u8 kind, u32 way)
{
	struct dp_probe_entry *p;

	dp_fake_site(i, 0x401000 + i * 16);
	p = dp_fake_probe(i, i, kind);
	p->instance_pool = (u64)&f;
	p->way = way;
}

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT_JUMPS);
	memset(&stack, 0, sizeof(stack));
	memset(pool, 0, sizeof(pool));
	memset(frame, 0, sizeof(frame));
	stack.tid = DP_FAKE_PID;
	f = (struct dp_instance_pool){ .handler = (u64)on_return,
				       .entry = (u64)on_entry,
				       .nmissed = (u64)&nmissed,
				       .pool = (u64)pool,
				       .stride = sizeof(pool[0]),
				       .nr = ACTIVE,
				       .data_size = sizeof(u64),
				       .exits = 1 };
	for (u32 i = 0; i < ACTIVE; i++) {
		pool[i].ri.instance_pool = (u64)&f;
		pool[i].ri.index = i;
	}
	frames = (struct dp_frames){ .stubs = STUBS,
				     .table = (u64)frame,
				     .nr = DP_STUBS_A_PAGE };
	dp_arena.control.frames = (u64)&frames;
	nmissed = veto = 0;
	leaves = false;
	memset(&seen, 0, sizeof(seen));
	probe(ENTRY, DP_KIND_ENTER, 0);
	probe(EXIT, DP_KIND_EXIT, 0);
	probe(TAIL, DP_KIND_EXIT, DP_WAY_TAIL | DP_WAY_TAKEN);
	((struct dp_site_entry *)dp_site_at(TAIL))->class = DP_INSN_JCC;
	((struct dp_site_entry *)dp_site_at(TAIL))->cc = 4; /* equal */
	probe(STUB, DP_KIND_RETURN, 0);
	return 0;
}

static void at(u32 slot)
{
	regs = (struct dp_regs){ .sp = (u64)&words[slot] };
}

static void enter(u32 slot)
{
	at(slot);
	words[slot] = HOME;
	dp_slot_enter(ENTRY, &regs, &stack);
}

/* The instance that the first call at a slot gets */
static struct dp_instance *first_at(u32 slot)
{
	return &pool[dp_instance_hash((u64)&words[slot] / 8) % ACTIVE].ri;
}

static void leave(u32 exit, u32 slot, u64 flags)
{
	at(slot);
	regs.flags = flags;
	dp_slot_exit(exit, dp_site_at(exit), &regs, &stack);
}

/* Of all instances, which are free, and nothing is in hand. */
static void account(u64 entered, u64 returned, u64 unwound, u64 abandoned)
{
	u64 sum[4] = { 0 };

	for (u32 i = 0; i < ACTIVE; i++) {
		assert_int_equal(pool[i].ri.used, 0);
		sum[0] += dp_instance_entered(&pool[i].ri);
		sum[1] += dp_instance_ended(&pool[i].ri, DP_CALL_RETURNED);
		sum[2] += dp_instance_ended(&pool[i].ri, DP_CALL_UNWOUND);
		sum[3] += dp_instance_ended(&pool[i].ri, DP_CALL_ABANDONED);
	}
	assert_int_equal(sum[0], entered);
	assert_int_equal(sum[1], returned);
	assert_int_equal(sum[2], unwound);
	assert_int_equal(sum[3], abandoned);
	assert_false(stack.instance | stack.rest | stack.taken | stack.counter);
}

static void by_an_exit(void **state)
{
	enter(3);
	assert_int_equal(words[3], HOME);
	assert_int_equal(stack.instance, 0);
	leave(EXIT, 4, 0);
	assert_int_equal(seen.ip, 0);
	/* Whatever stands there by now: no other calls come to this exit. */
	words[3] = ELSEWHERE;
	leave(EXIT, 3, 0);
	assert_int_equal(seen.ip, HOME);
	assert_int_equal(seen.sp, &words[4]);
	assert_int_equal(seen_data, 7);
	assert_int_equal(seen_ending, DP_CALL_RETURNED);
	assert_int_equal(regs.sp, &words[3]);
	leave(EXIT, 3, 0);
	account(1, 1, 0, 0);
}

static void by_a_jump_that_is_taken(void **state)
{
	enter(3);
	leave(TAIL, 3, 0);
	assert_int_equal(seen.ip, 0);
	leave(TAIL, 3, ZERO);
	assert_int_equal(seen_ending, DP_CALL_TAIL_CALLED);
	account(1, 1, 0, 0);
}

static void refused(void **state)
{
	veto = 1;
	enter(3);
	leave(EXIT, 3, 0);
	account(0, 0, 0, 0);
	assert_int_equal(dp_instance_ended(first_at(3), DP_CALL_VETOED), 1);
}

/* Another one is made at the same place. */
static void left_and_entered_again(void **state)
{
	enter(3);
	enter(3);
	leave(EXIT, 3, 0);
	account(2, 1, 0, 1);
	assert_int_equal(nmissed, 0);
}

/* Instances are short: what still stands at its place is not taken away. */
static void left_and_found_when_short(void **state)
{
	enter(3);
	enter(2);
	enter(1);
	assert_int_equal(nmissed, 1);
	assert_int_equal(stack.patience, 16 * 2);
	words[3] = ELSEWHERE;
	enter(1);
	assert_int_equal(nmissed, 2);
	stack.patience = 0;
	enter(1);
	assert_int_equal(nmissed, 2);
	dp_fake_bad((u64)&words[2], 8);
	enter(0);
	leave(EXIT, 0, 0);
	leave(EXIT, 1, 0);
	account(4, 2, 0, 2);
}

/* Another thread is about to end it. */
static void not_ours(void **state)
{
	enter(3);
	first_at(3)->used = DP_FAKE_PID + 1;
	leave(EXIT, 3, 0);
	assert_false(dp_instance_claim(&stack, first_at(3)));
	assert_int_equal(seen.ip, 0);
	assert_int_equal(stack.instance, 0);
	first_at(3)->used = DP_INSTANCE_AT_SLOT;
	leave(EXIT, 3, 0);
	account(1, 1, 0, 0);
}

/* A signal's handler does not come back to the entry handler, nor to the other. */
static void handlers_left_for_good(void **state)
{
	leaves = true;
	if (!setjmp(up))
		enter(3);
	dp_abandoned_recover(&stack);
	account(0, 0, 0, 0);
	leaves = false;
	enter(3);
	leaves = true;
	if (!setjmp(up))
		leave(EXIT, 3, 0);
	dp_abandoned_recover(&stack);
	account(1, 1, 0, 0);
	leaves = false;
	enter(3);
	leaves = true;
	if (!setjmp(up))
		leave(TAIL, 3, ZERO);
	dp_abandoned_recover(&stack);
	account(2, 2, 0, 0);
}

/* Nor to where an entry is being counted: before it is said whose the call is, and after. */
static void counts_left_for_good(void **state)
{
	struct dp_instance *ri = first_at(3);

	*ri = (struct dp_instance){ .instance_pool = (u64)&f,
				    .used = DP_FAKE_PID | DP_INSTANCE_NEW,
				    .ending = DP_CALL_ABANDONED };
	ri->calls = 1;
	stack.instance = (u64)ri;
	dp_abandoned_recover(&stack);
	account(1, 0, 0, 1);
	enter(3);
	stack.instance = (u64)ri;
	dp_abandoned_recover(&stack);
	leave(EXIT, 3, 0);
	account(2, 1, 0, 1);
	/* That it was abandoned is being counted. */
	enter(3);
	ri->used = DP_FAKE_PID;
	stack.instance = (u64)ri;
	stack.counter = (u64)&ri->otherwise[DP_CALL_ABANDONED];
	stack.sum = ri->otherwise[DP_CALL_ABANDONED] + 1;
	dp_abandoned_recover(&stack);
	account(3, 1, 0, 2);
}

/* An exit that other functions share: another call stands where the first was left. */
static void by_a_shared_exit(void **state)
{
	probe(EXIT, DP_KIND_EXIT, DP_WAY_SHARED);
	enter(3);
	words[3] = ELSEWHERE;
	leave(EXIT, 3, 0);
	assert_int_equal(seen.ip, 0);
	words[3] = HOME;
	leave(EXIT, 3, 0);
	account(1, 1, 0, 0);
}

/* The function has another return probe, whose stub stands for the return address. */
static void beside_a_stub(void **state)
{
	u64 back = STUBS + DP_STUB_SIZE + DP_STUB_BACK;

	probe(EXIT, DP_KIND_EXIT, DP_WAY_SHARED);
	frame[1].ret_addr = HOME;
	enter(3);
	words[3] = words[2] = back;
	at(2);
	dp_slot_enter(ENTRY, &regs, &stack);
	enter(1);
	assert_int_equal(nmissed, 1);
	leave(EXIT, 2, 0);
	leave(EXIT, 3, 0);
	assert_int_equal(seen.ip, HOME);
	account(2, 2, 0, 0);
}

/* Where another call's instance is already, the next free one is taken, and found. */
static void of_one_home(void **state)
{
	u32 a = 0, b = 1;

	while (first_at(a) != first_at(b))
		b++;
	enter(b);
	assert_int_equal(f.reach, 0);
	enter(a);
	assert_int_equal(f.reach, 1);
	leave(EXIT, a, 0);
	leave(EXIT, b, 0);
	account(2, 2, 0, 0);
}

/* Behind the last one comes the first. */
static void of_the_last_home(void **state)
{
	u32 a = 0, b;

	while (first_at(a) != &pool[ACTIVE - 1].ri)
		a++;
	for (b = a + 1; first_at(b) != first_at(a);)
		b++;
	assert_in_range(b, 1, 14);
	enter(a);
	assert_int_equal(f.reach, 0);
	enter(b);
	assert_int_equal(f.reach, 1);
	leave(EXIT, b, 0);
	assert_int_equal(seen.ip, HOME);
	leave(EXIT, a, 0);
	account(2, 2, 0, 0);
}

static struct dp_frame *enter_stub(u32 slot)
{
	struct dp_frame *begun = NULL;

	at(slot);
	f.exits = 0;
	dp_return_enter(STUB, &regs, &stack, &begun);
	return begun;
}

static void from_a_stub(u32 number)
{
	struct dp_returned back = { .back = number };
	struct dp_quick q = dp_return_quick_hit(&back, &stack);

	assert_ptr_equal(q.handler, on_return);
	assert_int_equal(back.back, HOME);
	dp_return_quick_end(&stack);
}

static void by_a_stub(void **state)
{
	struct dp_frame *begun;

	f.quick = 1;
	words[3] = HOME;
	begun = enter_stub(3);
	assert_int_equal(words[3], dp_stub_of(begun) + DP_STUB_BACK);
	from_a_stub(dp_stub_number(begun));
	account(1, 1, 0, 0);
	assert_int_equal(stack.frames, 0);
	assert_int_equal(stack.spare, 0);
	assert_ptr_equal(dp_stub_bound((void *)begun->instances), begun);
}

/* Both probes of a function, or one that has jumped to the other, return together. */
static void two_at_a_stub(void **state)
{
	struct dp_frame *begun;

	words[3] = HOME;
	begun = enter_stub(3);
	assert_null(enter_stub(3));
	assert_int_equal(begun->ret_addr, HOME);
	words[3] = HOME;
	dp_abandoned_drop(&stack);
	account(2, 0, 0, 2);
	assert_int_equal(begun->state, DP_FRAME_ABANDONED);
}

static void left_behind_a_stub(void **state)
{
	words[3] = words[2] = words[1] = HOME;
	enter_stub(3);
	words[3] = HOME;
	enter_stub(3);
	enter_stub(2);
	words[2] = ELSEWHERE;
	enter_stub(1);
	assert_int_equal(nmissed, 0);
	words[3] = words[1] = ELSEWHERE;
	dp_abandoned_drop(&stack);
	account(4, 0, 0, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(by_an_exit, begin),
		cmocka_unit_test_setup(by_a_jump_that_is_taken, begin),
		cmocka_unit_test_setup(refused, begin),
		cmocka_unit_test_setup(left_and_entered_again, begin),
		cmocka_unit_test_setup(left_and_found_when_short, begin),
		cmocka_unit_test_setup(not_ours, begin),
		cmocka_unit_test_setup(handlers_left_for_good, begin),
		cmocka_unit_test_setup(counts_left_for_good, begin),
		cmocka_unit_test_setup(by_a_shared_exit, begin),
		cmocka_unit_test_setup(beside_a_stub, begin),
		cmocka_unit_test_setup(of_one_home, begin),
		cmocka_unit_test_setup(of_the_last_home, begin),
		cmocka_unit_test_setup(by_a_stub, begin),
		cmocka_unit_test_setup(two_at_a_stub, begin),
		cmocka_unit_test_setup(left_behind_a_stub, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
