// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exit_instance: the hit half's table of calls that are tracked, in a world in memory. What it
 * hands to the log is read from the ring.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include "exit_calls.h"
#include "port_calls.h"

static void test_return(void **state)
{
	u64 stack[1] = { 0x1234 };

	enter(LOGS, stack);
	assert_int_equal(in_use(), 1);
	leave(LOGS_EXIT, stack, 77);
	assert_int_equal(in_use(), 0);
	assert_int_equal(dp_fake_count_calls(LOGS_EXIT), 1);
	assert_int_equal(nr_told, 1);
	assert_int_equal(told.how, DP_CALL_RETURNED);
	assert_int_equal(told.value, 77);
	assert_ptr_equal((void *)told.slot, stack);
	assert_int_equal(told_head.probe, LOGS);
	assert_int_equal(told_head.tid, DP_FAKE_PID);
	assert_true(told_head.ticks > told.entered && told.entered);
	assert_memory_equal(told_log, logged, sizeof(logged));
	assert_int_equal(tally(LOGS, DP_TALLY_UNSEEN), 0);
}

/* A hit of this probe alone, of all that the site has */
static void meet(u32 probe, struct dp_hit *hit)
{
	u32 i;

	for (i = 0; i < PROBES; i++)
		probe_at(i)->enabled = i == probe;
	dp_dispatch_site(dp_site_at(0), hit, false);
	hear();
}

/* Hits come to each kind of probe, and run a program at the entry alone. */
static void test_dispatched(void **state)
{
	u64 stack[2] = { 0x400000, 0x400001 };
	struct dp_mcontext regs;
	struct dp_hit hit = at_slot(&regs, &stack[1]);

	probe_at(LOGS_EXIT)->program = probe_at(UNWINDER)->program =
		probe_at(LOGS)->program;
	meet(LOGS, &hit);
	assert_int_equal(in_use(), 1);
	meet(LOGS_EXIT, &hit);
	assert_int_equal(in_use(), 0);
	meet(LOGS, &hit);
	hit.sp = (u64)&stack[0];
	regs.rcx = (u64)&stack[1];
	meet(UNWINDER, &hit);
	assert_int_equal(in_use(), 0);
	assert_int_equal(nr_told, 2);
	assert_int_equal(told.how, DP_CALL_UNWOUND);
	assert_int_equal(dp_probe_state(LOGS)->count, 2);
	assert_int_equal(dp_probe_state(LOGS_EXIT)->count, 0);
	assert_int_equal(dp_probe_state(UNWINDER)->count, 0);
}

static void test_tail(void **state)
{
	u64 stack[1] = { 0 };

	probe_at(LOGS_EXIT)->way = DP_WAY_TAIL;
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 5);
	assert_int_equal(told.how, DP_CALL_TAIL_CALLED);
	assert_int_equal(in_use(), 0);
}

static void test_branch(void **state)
{
	struct dp_mcontext regs;
	u64 stack[1] = { 0 };
	struct dp_hit hit;

	probe_at(PLAIN_EXIT)->way = DP_WAY_TAIL | DP_WAY_TAKEN;
	enter(PLAIN, stack);
	leave(PLAIN_EXIT, stack, 0); /* no flags: not taken */
	assert_int_equal(in_use(), 1);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT), 0);
	hit = at_slot(&regs, stack);
	regs.eflags = DP_ZF;
	dp_exit_instance_end(PLAIN_EXIT, dp_site_at(0), &hit);
	assert_int_equal(in_use(), 0);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT), 1);
}

/* Depth by depth, and two functions at one place on the stack: a tail call. */
static void test_recursion(void **state)
{
	u64 stack[40] = { 0 };
	int i;

	for (i = 39; i >= 0; i--)
		enter(PLAIN, &stack[i]);
	enter(LOGS, &stack[0]);
	assert_int_equal(in_use(), 41);
	leave(LOGS_EXIT, &stack[0], 1);
	for (i = 0; i < 40; i++)
		leave(PLAIN_EXIT, &stack[i], 1);
	assert_int_equal(in_use(), 0);
	assert_int_equal(displaced(), 0);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT), 40);
	assert_int_equal(dp_fake_count_calls(LOGS_EXIT), 1);
	assert_int_equal(tally(PLAIN, DP_TALLY_ABANDONED), 0);
}

static void test_abandoned(void **state)
{
	u64 stack[1] = { 0x1234 };

	enter(LOGS, stack);
	enter(LOGS, stack);
	assert_int_equal(tally(LOGS, DP_TALLY_ABANDONED), 1);
	assert_int_equal(nr_told, 1);
	assert_int_equal(told.how, DP_CALL_ABANDONED);
	assert_ptr_equal((void *)told.slot, stack);
	assert_memory_equal(told_log, logged, sizeof(logged));
	assert_int_equal(in_use(), 1);
	leave(LOGS_EXIT, stack, 1);
	assert_int_equal(nr_told, 2);
	assert_int_equal(told.how, DP_CALL_RETURNED);
	assert_int_equal(in_use(), 0);
}

/* A call of another function is at its place: from another caller, or from the same one, as errors that
 * an interpreter throws by longjmp are caught. */
static void calls_of_others_end_what_was_left(void **state)
{
	u64 stack[1] = { 0x1234 };

	enter(LOGS, stack);
	stack[0] = 0x5678;
	enter(PLAIN, stack);
	assert_int_equal(tally(LOGS, DP_TALLY_ABANDONED), 1);
	assert_int_equal(told.how, DP_CALL_ABANDONED);
	enter(LOGS, stack);
	assert_int_equal(tally(PLAIN, DP_TALLY_ABANDONED), 1);
	assert_int_equal(in_use(), 1);
	leave(LOGS_EXIT, stack, 1);
	assert_int_equal(in_use(), 0);
}

/* Of one function, for two conditions: each has its calls. */
static void probes_of_one_function_are_apart(void **state)
{
	u64 stack[1] = { 0x1234 };
	int i;

	probe_at(PLAIN)->site = probe_at(LOGS)->site;
	for (i = 0; i < 2; i++) {
		enter(LOGS, stack);
		enter(PLAIN, stack);
		assert_int_equal(in_use(), 2);
		leave(LOGS_EXIT, stack, 1);
		leave(PLAIN_EXIT, stack, 1);
		assert_int_equal(in_use(), 0);
	}
	/* Both were left: each entry ends its own. */
	enter(LOGS, stack);
	enter(PLAIN, stack);
	stack[0] = 0x5678;
	enter(LOGS, stack);
	assert_int_equal(tally(LOGS, DP_TALLY_ABANDONED), 1);
	assert_int_equal(tally(PLAIN, DP_TALLY_ABANDONED), 0);
	enter(PLAIN, stack);
	assert_int_equal(tally(PLAIN, DP_TALLY_ABANDONED), 1);
	assert_int_equal(in_use(), 2);
}

/* One whose exits are another function's, too, may be in the same frame; then it has the same return
 * address. */
static void calls_in_one_frame_are_both_live(void **state)
{
	u64 stack[1] = { 0x1234 }, key;

	probe_at(OTHER)->way |= DP_WAY_SHARED;
	enter(OTHER, stack);
	enter(PLAIN, stack);
	assert_int_equal(in_use(), 2);
	stack[0] = 0x5678;
	enter(LOGS, stack);
	assert_int_equal(in_use(), 1);
	assert_int_equal(tally(OTHER, DP_TALLY_ABANDONED), 1);
	assert_int_equal(tally(PLAIN, DP_TALLY_ABANDONED), 1);
	/* What is in doubt is left alone. */
	key = dp_instance_key(PLAIN, (u64)stack);
	lines_of(0)[dp_instance_hash(key) & (LINES - 1)].key[3] = key;
	enter(LOGS, stack);
	assert_int_equal(in_use(), 2);
	assert_int_equal(tally(PLAIN, DP_TALLY_ABANDONED), 1);
}

/* It is told of as the thread's that made it. */
static void abandoned_calls_are_their_threads(void **state)
{
	u64 stack[1] = { 0x1234 };

	enter(LOGS, stack);
	dp_fake_thread(1);
	enter(LOGS, stack);
	assert_int_equal(told.how, DP_CALL_ABANDONED);
	assert_int_equal(told.value, 0);
	assert_int_equal(told_head.tid, DP_FAKE_PID);
	leave(LOGS_EXIT, stack, 1);
	assert_int_equal(told_head.tid, DP_FAKE_PID + 1);
}

/* What is there was cut off: the next one takes its place, and only that is told of. */
static void next_takes_place(u64 *stack)
{
	enter(LOGS, stack);
	assert_int_equal(tally(LOGS, DP_TALLY_CUT), 1);
	assert_int_equal(tally(LOGS, DP_TALLY_ABANDONED), 0);
	assert_int_equal(nr_told, 0);
	leave(LOGS_EXIT, stack, 1);
	assert_int_equal(nr_told, 1);
	assert_int_equal(in_use(), 0);
}

/* Interrupted for good before it was complete. */
static void test_cut(void **state)
{
	u64 stack[1] = { 0 }, key = dp_instance_key(LOGS, (u64)stack);

	lines_of(0)[dp_instance_hash(key) & (LINES - 1)].key[3] = key;
	next_takes_place(stack);
	/* As well where a whole one was before. */
	setup(NULL);
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 1);
	lines_of(0)[dp_instance_hash(key) & (LINES - 1)].key[0] = key;
	nr_told = 0;
	next_takes_place(stack);
}

/* Interrupted for good while its end was being counted: it does not end twice. */
static void test_cut_at_end(void **state)
{
	struct dp_exit_instance *instances =
		(void *)dp_arena.control.instance_tables[0].instances;
	u64 stack[1] = { 0 };
	u32 i;

	enter(LOGS, stack);
	for (i = 0; in_blocks() && i < BLOCKS * DP_BLOCK_WORDS; i++)
		block_word(i)->state = DP_INSTANCE_DOUBT;
	for (i = 0; i < LINES * DP_INSTANCE_WAYS; i++) {
		struct dp_exit_instance *v =
			(void *)((char *)instances +
				 i * dp_arena.control.instance_stride);

		v->state = DP_INSTANCE_DOUBT;
	}
	next_takes_place(stack);
}

static void test_unwanted(void **state)
{
	static const u8 aborts[] = { ABORT };
	u64 stack[1] = { 0 };

	dp_fake_program(LOGS, aborts, sizeof(aborts));
	enter(LOGS, stack);
	assert_int_equal(dp_fake_count_calls(LOGS), 1);
	assert_int_equal(in_use(), 0);
}

/* Logs 0x77 at the entry; at the return rax, unless it is 5. */
static const u8 judges[] = {
	0x4c, 0x77, 0,	  0,	0,    0, 0, 0, 0, 0x1b,
	1,    0,    0x0d, 0x46, 0x60, 0, /* push r,rax */
	0x43, 1, /* dup 1 */
	0x4c, 5,    0,	  0,	0,    0, 0, 0, 0, 0xa0, /* eq */
	0x07, 6,    0,	  0,	0,    0, 0, 0, 0, /* jnz … */
	0x45, 1,    0x1b, 1,	0, /* ros 1, log 1 */
	0x0d, 0x0b
};
#define JUDGES 13

static void judge_returns(u32 way)
{
	dp_fake_program(LOGS, judges, sizeof(judges));
	probe_at(LOGS)->leaves = 1 + JUDGES;
	probe_at(LOGS)->way |= way;
}

static void test_judged(void **state)
{
	static const u8 both[] = {
		DP_ITEM_ELEMENTS, 1, 0, 0x77, 0, 0, 0, 0, 0, 0, 0,
		DP_ITEM_ELEMENTS, 1, 0, 6
	};
	u64 stack[1] = { 0x1234 };

	judge_returns(DP_WAY_JUDGED);
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 6);
	assert_int_equal(nr_told, 1);
	assert_int_equal(told_head.len, sizeof(told) + 22);
	assert_memory_equal(told_log, both, sizeof(both));
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 5);
	/* It has returned all the same. */
	assert_int_equal(nr_told, 1);
	assert_int_equal(dp_fake_count_calls(LOGS_EXIT), 2);
	assert_int_equal(in_use(), 0);
	/* What does not return is not judged, and makes no record. */
	probe_at(LOGS_EXIT)->way = DP_WAY_TAIL;
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 6);
	assert_int_equal(nr_told, 1);
	assert_int_equal(dp_fake_count_calls(LOGS_EXIT), 3);
}

/* Without a condition each call makes a record; only those that return have what is returned. */
static void test_values_of_returns(void **state)
{
	u64 stack[1] = { 0x1234 };

	judge_returns(0);
	probe_at(LOGS_EXIT)->way = DP_WAY_TAIL;
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 6);
	assert_int_equal(nr_told, 1);
	assert_int_equal(told_head.len, sizeof(told) + 11);
	/* Nothing at the entry */
	probe_at(LOGS_EXIT)->way = 0;
	probe_at(LOGS)->start = DP_NO_START;
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 0x88);
	assert_int_equal(nr_told, 2);
	assert_int_equal(told_head.len, sizeof(told) + 11);
	assert_int_equal(told_log[3], 0x88);
	assert_int_equal(dp_probe_state(LOGS)->count, 1);
}

/* The time of the call is that of the record. */
static void test_latency(void **state)
{
	/* push latency; log 1; exit */
	static const u8 code[] = { 0x0d, 0xa5, 0x1b, 1, 0, 0x0d };
	u64 stack[1] = { 0x1234 }, took;

	dp_fake_program(LOGS, code, sizeof(code));
	probe_at(LOGS)->leaves = 2;
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 6);
	assert_int_equal(nr_told, 1);
	memcpy(&took, told_log + DP_ITEM_PREFIX, sizeof(took));
	assert_int_equal(took, told_head.ticks - told.entered);
	assert_true(took > 0);
}

/* No context is left: it is told, and with a condition there is no record. */
static void test_not_judged(void **state)
{
	struct dp_context *all = dp_at(dp_arena.control.context_off);
	u64 stack[1] = { 0x1234 };
	u32 i;

	judge_returns(DP_WAY_JUDGED);
	enter(LOGS, stack);
	for (i = 0; i < dp_arena.control.nr_contexts; i++) {
		all[i].state = DP_CONTEXT_RUNS;
		all[i].tid = DP_FAKE_PID + 1;
	}
	leave(LOGS_EXIT, stack, 6);
	assert_int_equal(nr_told, 0);
	assert_int_equal(tally(LOGS, DP_TALLY_UNJUDGED), 1);
	assert_int_equal(tally(LOGS, DP_TALLY_CONTEXT), 0);
	assert_int_equal(dp_fake_count_calls(LOGS_EXIT), 1);
}

/* Jumps to another function, whose exits are probed, and which returns. */
static void test_tail_target(void **state)
{
	u64 stack[1] = { 0x1234 };

	probe_at(LOGS_EXIT)->way = DP_WAY_TAIL | DP_WAY_TAIL_TARGET;
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 5);
	assert_int_equal(in_use(), 1);
	assert_int_equal(nr_told, 0);
	enter(PLAIN, stack);
	assert_int_equal(in_use(), 2);
	leave(PLAIN_EXIT, stack, 6);
	assert_int_equal(in_use(), 0);
	assert_int_equal(nr_told, 1);
	assert_int_equal(told.how, DP_CALL_RETURNED);
	assert_int_equal(told.value, 6);
	assert_int_equal(tally(LOGS, DP_TALLY_RETURNED), 1);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT), 1);
	assert_int_equal(dp_fake_count_calls(LOGS_EXIT), 0);
	assert_int_equal(tally(PLAIN, DP_TALLY_UNSEEN), 0);
}

/* The function that it has jumped to jumps back: another call, from the same caller. */
static void a_function_that_is_jumped_back_to_is_called_anew(void **state)
{
	u64 stack[1] = { 0x1234 };

	probe_at(LOGS_EXIT)->way = DP_WAY_TAIL | DP_WAY_TAIL_TARGET;
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 5);
	enter(LOGS, stack);
	assert_int_equal(told.how, DP_CALL_TAIL_CALLED);
	assert_int_equal(tally(LOGS, DP_TALLY_TAIL_CALLED), 1);
	assert_int_equal(tally(LOGS, DP_TALLY_ABANDONED), 0);
	assert_int_equal(in_use(), 1);
	/* From another caller: it has not come back from where it jumped to. */
	leave(LOGS_EXIT, stack, 5);
	stack[0] = 0x5678;
	enter(LOGS, stack);
	assert_int_equal(told.how, DP_CALL_ABANDONED);
	assert_int_equal(tally(LOGS, DP_TALLY_TAIL_CALLED), 1);
	assert_int_equal(tally(LOGS, DP_TALLY_ABANDONED), 1);
}

/* What cannot be ours does not end: a probe that there is not, another slot. */
static void what_cannot_be_a_call_does_not_end(void **state)
{
	u64 stack[1] = { 0x1234 }, *at;
	struct dp_exit_instance *v;
	u32 i;

	probe_at(LOGS_EXIT)->way = DP_WAY_TAIL | DP_WAY_TAIL_TARGET;
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 5);
	at = &lines_of(0)[dp_instance_hash((u64)stack >> 3) & (LINES - 1)]
		      .key[0];
	*at = dp_instance_key(dp_arena.control.nr_probes, (u64)stack);
	leave(NOBODYS_EXIT, stack, 6);
	assert_int_equal(in_use(), 1);
	*at = dp_instance_key(LOGS, (u64)stack);
	for (i = 0; i < LINES * DP_INSTANCE_WAYS; i++) {
		v = (void *)(dp_arena.control.instance_tables[0].instances +
			     i * dp_arena.control.instance_stride);
		if (v->group)
			v->group++;
	}
	leave(NOBODYS_EXIT, stack, 6);
	assert_int_equal(in_use(), 1);
	assert_int_equal(nr_told, 0);
}

/* The same where nobody follows that function for itself; and a call of it from
 * elsewhere, at the place of one that was left otherwise. */
static void test_tail_target_hidden(void **state)
{
	u64 stack[1] = { 0x1234 };

	probe_at(LOGS_EXIT)->way = DP_WAY_TAIL | DP_WAY_TAIL_TARGET;
	enter(LOGS, stack);
	leave(NOBODYS_EXIT, stack, 4); /* it has not jumped yet */
	assert_int_equal(in_use(), 1);
	leave(LOGS_EXIT, stack, 5);
	stack[0] = 0x5678;
	leave(NOBODYS_EXIT, stack, 6);
	assert_int_equal(in_use(), 1);
	stack[0] = 0x1234;
	leave(NOBODYS_EXIT, stack, 7);
	assert_int_equal(in_use(), 0);
	assert_int_equal(told.value, 7);
	assert_int_equal(nr_told, 1);
}

/* Where a tail-called one was, another begins and is interrupted for good: it is not that. */
static void test_tail_called_before(void **state)
{
	u64 stack[1] = { 0x1234 }, key = dp_instance_key(LOGS, (u64)stack);

	probe_at(LOGS_EXIT)->way = DP_WAY_TAIL | DP_WAY_TAIL_TARGET;
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 5);
	leave(NOBODYS_EXIT, stack, 6);
	lines_of(0)[dp_instance_hash(key) & (LINES - 1)].key[0] = key;
	leave(NOBODYS_EXIT, stack, 7);
	assert_int_equal(tally(LOGS, DP_TALLY_RETURNED), 1);
	assert_int_equal(in_use(), 1);
}

/* What is returned in xmm0, from where the kernel has put it. */
static void leave_xmm(u32 exit, u64 *slot, u64 value)
{
	u64 state[64] = { [160 / 8] = value, [160 / 8 + 1] = 99 };
	struct dp_mcontext regs;
	struct dp_hit hit = at_slot(&regs, slot);

	regs.rax = 88;
	hit.fpstate = (u64)state;
	dp_exit_instance_end(exit, dp_site_at(0), &hit);
	hear();
}

static void test_xmm(void **state)
{
	u64 stack[1] = { 0x1234 };

	probe_at(LOGS)->way = DP_WAY_LOGS | DP_WAY_XMM;
	enter(LOGS, stack);
	leave_xmm(LOGS_EXIT, stack, 0x4009000000000000);
	assert_int_equal(told.value, 0x4009000000000000);
	/* by the exit of a function that it has jumped to, which returns an integer */
	probe_at(LOGS_EXIT)->way = DP_WAY_TAIL | DP_WAY_TAIL_TARGET;
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 5);
	leave_xmm(NOBODYS_EXIT, stack, 0x4010000000000000);
	assert_int_equal(told.value, 0x4010000000000000);
	assert_int_equal(nr_told, 2);
	/* one that returns an integer */
	probe_at(LOGS)->way = DP_WAY_LOGS;
	probe_at(LOGS_EXIT)->way = 0;
	enter(LOGS, stack);
	leave_xmm(LOGS_EXIT, stack, 0x4009000000000000);
	assert_int_equal(told.value, 88);
}

/* It jumps on, and nobody knows where to. */
static void test_tail_target_lost(void **state)
{
	u64 stack[1] = { 0x1234 };

	probe_at(LOGS_EXIT)->way = DP_WAY_TAIL | DP_WAY_TAIL_TARGET;
	probe_at(NOBODYS_EXIT)->way = DP_WAY_TAIL;
	enter(LOGS, stack);
	leave(LOGS_EXIT, stack, 5);
	leave(NOBODYS_EXIT, stack, 6);
	assert_int_equal(in_use(), 0);
	assert_int_equal(told.how, DP_CALL_TAIL_CALLED);
	assert_int_equal(tally(LOGS, DP_TALLY_TAIL_CALLED), 1);
}

static void test_unwound(void **state)
{
	u64 stack[8];
	int i;

	for (i = 0; i < 8; i++)
		stack[i] = 0x400000 + i;
	enter(PLAIN, &stack[7]);
	enter(LOGS, &stack[5]);
	enter(PLAIN, &stack[4]);
	enter(PLAIN, &stack[2]);
	stack[2] = 0x400077; /* that one was left before */
	unwind(&stack[1], &stack[5]);
	assert_int_equal(in_use(), 2);
	assert_int_equal(tally(PLAIN, DP_TALLY_UNWOUND), 1);
	assert_int_equal(tally(LOGS, DP_TALLY_UNWOUND), 1);
	assert_int_equal(nr_told, 1);
	assert_int_equal(told.how, DP_CALL_UNWOUND);
	assert_true(told_head.ticks > told.entered && told.entered);
	leave(PLAIN_EXIT, &stack[7], 1);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT), 1);
	/* To another stack, or nowhere: not known */
	enter(PLAIN, &stack[0]);
	unwind(&stack[5], &stack[1]);
	unwind(&stack[1], (u64 *)((u64)stack + (1ull << 35)));
	unwind((u64 *)((u64)stack - (1ull << 35)), &stack[1]);
	assert_int_equal(in_use(), 2);
}

/* Unless it is known that the word is mapped, the kernel reads it. */
static void return_addresses_are_read_with_care(void **state)
{
	struct dp_mcontext regs;
	static u64 stack[1];
	struct dp_hit hit;

	stack[0] = 0x1000;
	enter(OTHER, stack);
	hit = at_slot(&regs, stack);
	hit.low = hit.high = 0;
	dp_exit_instance_end(SHARED_EXIT, dp_site_at(0), &hit);
	assert_int_equal(in_use(), 0);
	enter(OTHER, stack);
	stack[0] = 0x2000;
	dp_exit_instance_end(SHARED_EXIT, dp_site_at(0), &hit);
	assert_int_equal(in_use(), 1);
	stack[0] = 0x1000;
	dp_fake_bad((u64)stack, 8);
	dp_exit_instance_end(SHARED_EXIT, dp_site_at(0), &hit);
	assert_int_equal(in_use(), 1);
	leave(SHARED_EXIT, stack, 0);
	assert_int_equal(in_use(), 0);
}

/* A word that is there is not copied by the kernel, unless a filter forbids to ask. */
static void return_addresses_that_are_there_are_loaded(void **state)
{
	static const long forbidden[] = { __NR_process_vm_readv,
					  __NR_rt_sigprocmask };
	static u64 stack[1] = { 0x1000 };
	struct dp_mcontext regs;
	struct dp_hit hit;
	u32 i;

	for (i = 0; i < 2; i++) {
		enter(OTHER, stack);
		hit = at_slot(&regs, stack);
		hit.low = hit.high = 0;
		dp_arena.control.forbidden = dp_own_bit(forbidden[i]);
		dp_exit_instance_end(SHARED_EXIT, dp_site_at(0), &hit);
		dp_arena.control.forbidden = 0;
		assert_int_equal(in_use(), 0);
	}
}

static void without_a_table_calls_are_missed(void **state)
{
	u64 stack[1] = { 0x1234 };

	dp_arena.control.nr_instance_tables = 0;
	enter(PLAIN, stack);
	assert_int_equal(tally(PLAIN, DP_TALLY_INSTANCES), 1);
	assert_int_equal(dp_arena.hit.full, 1);
	leave(PLAIN_EXIT, stack, 0);
	leave(NOBODYS_EXIT, stack, 0);
	assert_int_equal(tally(PLAIN, DP_TALLY_UNSEEN), 1);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT), 0);
}

/* As much as there is room for, and no more. */
static void as_much_is_logged_as_there_is_room_for(void **state)
{
	static const u8 log[STAGED + 8] = { [0 ... STAGED + 7] = 7 };
	u64 stack[1] = { 0x1234 };
	struct dp_exit_instance *v =
		(void *)dp_arena.control.instance_tables[0].instances;
	struct dp_mcontext regs;
	struct dp_hit hit = at_slot(&regs, stack);
	u32 i;

	enter(LOGS, stack);
	for (i = 0; !v->group; i++)
		v = (void *)((char *)v + dp_arena.control.instance_stride);
	memset((char *)(v + 1) + STAGED, 0x55, 8);
	dp_exit_instance_fill(v, LOGS, &hit, log, sizeof(log));
	assert_int_equal(v->len, STAGED);
	for (i = 0; i < 8; i++)
		assert_int_equal(((u8 *)(v + 1))[STAGED + i], 0x55);
	leave(LOGS_EXIT, stack, 9);
	assert_int_equal(nr_told, 1);
	assert_memory_equal(told_log, log, STAGED);
	assert_int_equal(tally(LOGS, DP_TALLY_DAMAGED), 0);
}

static void test_entered_before(void **state)
{
	u64 stack[1] = { 0 };

	leave(PLAIN_EXIT, stack, 1);
	assert_int_equal(tally(PLAIN, DP_TALLY_UNSEEN), 1);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT), 0);
	assert_int_equal(tally(PLAIN, DP_TALLY_DAMAGED), 0);
	/* Not all exits were armed yet, or they are not any more. */
	probe_at(PLAIN)->enabled = 0;
	leave(PLAIN_EXIT, stack, 1);
	assert_int_equal(tally(PLAIN, DP_TALLY_UNSEEN), 1);
}

static void test_full(void **state)
{
	static u64 stack[4096];
	u32 entered = LINES * DP_INSTANCE_WAYS + 50, i, missed, returned;
	const u64 *behind = dp_at(dp_fake_room(8 * sizeof(u64)));

	for (i = 0; i < entered; i++)
		enter(PLAIN, &stack[i]);
	missed = (u32)tally(PLAIN, DP_TALLY_INSTANCES);
	/* Nearly all of the table is used before anything is missed. */
	assert_in_range(missed, 50, 50 + LINES);
	assert_int_equal(in_use(), entered - missed);
	for (i = 0; i < entered; i++)
		leave(PLAIN_EXIT, &stack[i], 1);
	returned = dp_fake_count_calls(PLAIN_EXIT);
	assert_int_equal(returned, entered - missed);
	assert_int_equal(tally(PLAIN, DP_TALLY_UNSEEN), missed);
	assert_int_equal(tally(PLAIN, DP_TALLY_DAMAGED), 0);
	assert_int_equal(in_use(), 0);
	assert_int_equal(displaced(), 0);
	for (i = 0; i < 8; i++)
		assert_int_equal(behind[i], 0);
}

#define APART 32 /* words from a slot to the next of the same line */

static void calls_find_room_in_the_next_lines(void **state)
{
	static u64 stack[64 * APART];
	u32 room = DP_INSTANCE_REACH * DP_INSTANCE_WAYS, i;

	for (i = 0; i < room; i++)
		enter(PLAIN, &stack[i * APART]);
	assert_int_equal(tally(PLAIN, DP_TALLY_INSTANCES), 0);
	assert_int_equal(in_use(), room);
	assert_int_equal(displaced(), room - DP_INSTANCE_WAYS);
	enter(PLAIN, &stack[i * APART]);
	assert_int_equal(tally(PLAIN, DP_TALLY_INSTANCES), 1);
	for (i = 0; i < room; i++)
		leave(PLAIN_EXIT, &stack[i * APART], 1);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT), room);
	assert_int_equal(displaced(), 0);
}

/* Another table is added, several times as large: calls end where they began. */
static void test_growth(void **state)
{
	static u64 stack[4096];
	u32 first = LINES * DP_INSTANCE_WAYS, entered = 4 * first, i, missed;

	for (i = 0; i < first; i++)
		enter(PLAIN, &stack[i]);
	missed = (u32)tally(PLAIN, DP_TALLY_INSTANCES);
	assert_int_equal(missed, dp_arena.hit.full);
	dp_fake_instances(4 * LINES, STAGED);
	for (; i < entered; i++)
		enter(PLAIN, &stack[i]);
	assert_int_equal(tally(PLAIN, DP_TALLY_INSTANCES), missed);
	assert_int_equal(in_table(0), first - missed);
	assert_int_equal(in_table(1), entered - first);
	/* The new one is full, too: there is room in the old one. */
	for (i = 0; i < first; i++)
		leave(PLAIN_EXIT, &stack[i], 1);
	for (i = entered; i < entered + 3 * first / 2; i++)
		enter(PLAIN, &stack[i]);
	assert_in_range(in_table(0), first / 8, first);
	for (i = first; i < entered + 3 * first / 2; i++)
		leave(PLAIN_EXIT, &stack[i], 1);
	assert_int_equal(in_use(), 0);
	assert_int_equal(displaced(), 0);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT) +
				 tally(PLAIN, DP_TALLY_INSTANCES),
			 dp_fake_count_calls(PLAIN));
	assert_int_equal(tally(PLAIN, DP_TALLY_ABANDONED), 0);
}

/* Another function's call comes to an exit at the place of one that was left
 * otherwise. */
static void test_shared(void **state)
{
	u64 stack[1] = { 0x1000 };

	enter(OTHER, stack);
	stack[0] = 0x2000;
	leave(SHARED_EXIT, stack, 1);
	assert_int_equal(in_use(), 1);
	assert_int_equal(dp_fake_count_calls(SHARED_EXIT), 0);
	stack[0] = 0x1000;
	leave(SHARED_EXIT, stack, 1);
	assert_int_equal(in_use(), 0);
	leave(SHARED_EXIT, stack, 1);
	assert_int_equal(dp_fake_count_calls(SHARED_EXIT), 1);
	assert_int_equal(tally(OTHER, DP_TALLY_UNSEEN), 0);
}

/* Without this number a reader could not tell the next instance from this one. */
static void test_serial(void **state)
{
	u64 instances = dp_arena.control.instance_tables[0].instances, sum = 0;
	u64 stack[1] = { 0 };
	u32 i;

	for (i = 0; i < 3; i++) {
		enter(PLAIN, stack);
		leave(PLAIN_EXIT, stack, 0);
	}
	for (i = 0; i < LINES * DP_INSTANCE_WAYS; i++) {
		const struct dp_exit_instance *v =
			(void *)(instances +
				 i * dp_arena.control.instance_stride);

		sum += v->serial;
	}
	assert_int_equal(sum, 3);
}

static void test_damaged(void **state)
{
	struct dp_exit_instance *instances =
		(void *)dp_arena.control.instance_tables[0].instances;
	u64 stack[1] = { 0 };

	enter(LOGS, stack);
	memset(instances, 0xff,
	       LINES * DP_INSTANCE_WAYS * dp_arena.control.instance_stride);
	leave(LOGS_EXIT, stack, 1);
	assert_int_equal(tally(LOGS, DP_TALLY_DAMAGED), 1);
	assert_int_equal(tally(LOGS, DP_TALLY_UNSEEN), 0);
	assert_int_equal(nr_told, 0);
	assert_int_equal(in_use(), 0);
}

/* An address that is no place on any stack of this machine. */
static void test_odd_slot(void **state)
{
	u64 stack[2] = { 0 };

	enter(PLAIN, (u64 *)((char *)stack + 3));
	assert_int_equal(tally(PLAIN, DP_TALLY_INSTANCES), 1);
	assert_int_equal(in_use(), 0);
}

struct runner {
	u64 stack[64];
	u32 entered;
};

static void *run(void *arg)
{
	struct runner *r = arg;
	u32 round, depth, i;

	for (round = 0; round < 20000; round++) {
		depth = round % 12;
		for (i = 0; i < depth; i++)
			enter(PLAIN, &r->stack[i]);
		r->entered += depth;
		for (i = depth; i-- > 0;)
			leave(PLAIN_EXIT, &r->stack[i], 1);
	}
	return NULL;
}

/* More than fit, at times: all are either missed or returned. */
static void test_threads(void **state)
{
	struct runner *r = calloc(12, sizeof(*r));
	pthread_t t[12];
	u64 entered = 0;
	int i;

	assert_non_null(r);
	for (i = 0; i < 12; i++)
		assert_int_equal(pthread_create(&t[i], NULL, run, &r[i]), 0);
	for (i = 0; i < 12; i++) {
		pthread_join(t[i], NULL);
		entered += r[i].entered;
	}
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT) +
				 tally(PLAIN, DP_TALLY_INSTANCES),
			 entered);
	assert_int_equal(tally(PLAIN, DP_TALLY_UNSEEN),
			 tally(PLAIN, DP_TALLY_INSTANCES));
	assert_int_equal(tally(PLAIN, DP_TALLY_ABANDONED), 0);
	assert_int_equal(in_use(), 0);
	assert_int_equal(displaced(), 0);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_return, setup),
		cmocka_unit_test_setup(test_dispatched, setup),
		cmocka_unit_test_setup(test_tail, setup),
		cmocka_unit_test_setup(test_judged, setup),
		cmocka_unit_test_setup(test_values_of_returns, setup),
		cmocka_unit_test_setup(test_latency, setup),
		cmocka_unit_test_setup(test_not_judged, setup),
		cmocka_unit_test_setup(test_branch, setup),
		cmocka_unit_test_setup(test_recursion, setup),
		cmocka_unit_test_setup(test_abandoned, setup),
		cmocka_unit_test_setup(calls_of_others_end_what_was_left,
				       setup),
		cmocka_unit_test_setup(probes_of_one_function_are_apart, setup),
		cmocka_unit_test_setup(calls_in_one_frame_are_both_live, setup),
		cmocka_unit_test_setup(abandoned_calls_are_their_threads,
				       setup),
		cmocka_unit_test_setup(test_cut, setup),
		cmocka_unit_test_setup(test_cut_at_end, setup),
		cmocka_unit_test_setup(test_unwanted, setup),
		cmocka_unit_test_setup(test_tail_target, setup),
		cmocka_unit_test_setup(
			a_function_that_is_jumped_back_to_is_called_anew,
			setup),
		cmocka_unit_test_setup(what_cannot_be_a_call_does_not_end,
				       setup),
		cmocka_unit_test_setup(test_tail_target_hidden, setup),
		cmocka_unit_test_setup(test_tail_target_lost, setup),
		cmocka_unit_test_setup(test_tail_called_before, setup),
		cmocka_unit_test_setup(test_xmm, setup),
		cmocka_unit_test_setup(test_unwound, setup),
		cmocka_unit_test_setup(
			return_addresses_that_are_there_are_loaded, setup),
		cmocka_unit_test_setup(return_addresses_are_read_with_care,
				       setup),
		cmocka_unit_test_setup(without_a_table_calls_are_missed, setup),
		cmocka_unit_test_setup(as_much_is_logged_as_there_is_room_for,
				       setup),
		cmocka_unit_test_setup(test_growth, setup),
		cmocka_unit_test_setup(test_entered_before, setup),
		cmocka_unit_test_setup(test_full, setup),
		cmocka_unit_test_setup(calls_find_room_in_the_next_lines,
				       setup),
		cmocka_unit_test_setup(test_shared, setup),
		cmocka_unit_test_setup(test_serial, setup),
		cmocka_unit_test_setup(test_damaged, setup),
		cmocka_unit_test_setup(test_odd_slot, setup),
		cmocka_unit_test_setup(test_threads, setup),

		/* Likewise, with blocks in front of the lines */
		cmocka_unit_test_setup(test_return, setup_blocks),
		cmocka_unit_test_setup(test_dispatched, setup_blocks),
		cmocka_unit_test_setup(test_tail, setup_blocks),
		cmocka_unit_test_setup(test_judged, setup_blocks),
		cmocka_unit_test_setup(test_values_of_returns, setup_blocks),
		cmocka_unit_test_setup(test_latency, setup_blocks),
		cmocka_unit_test_setup(test_not_judged, setup_blocks),
		cmocka_unit_test_setup(test_branch, setup_blocks),
		cmocka_unit_test_setup(test_recursion, setup_blocks),
		cmocka_unit_test_setup(test_abandoned, setup_blocks),
		cmocka_unit_test_setup(calls_of_others_end_what_was_left,
				       setup_blocks),
		cmocka_unit_test_setup(probes_of_one_function_are_apart,
				       setup_blocks),
		cmocka_unit_test_setup(calls_in_one_frame_are_both_live,
				       setup_blocks),
		cmocka_unit_test_setup(abandoned_calls_are_their_threads,
				       setup_blocks),
		cmocka_unit_test_setup(test_cut_at_end, setup_blocks),
		cmocka_unit_test_setup(test_unwanted, setup_blocks),
		cmocka_unit_test_setup(test_tail_target, setup_blocks),
		cmocka_unit_test_setup(
			a_function_that_is_jumped_back_to_is_called_anew,
			setup_blocks),
		cmocka_unit_test_setup(test_tail_target_lost, setup_blocks),
		cmocka_unit_test_setup(test_tail_called_before, setup_blocks),
		cmocka_unit_test_setup(test_xmm, setup_blocks),
		cmocka_unit_test_setup(test_unwound, setup_blocks),
		cmocka_unit_test_setup(
			return_addresses_that_are_there_are_loaded,
			setup_blocks),
		cmocka_unit_test_setup(return_addresses_are_read_with_care,
				       setup_blocks),
		cmocka_unit_test_setup(test_entered_before, setup_blocks),
		cmocka_unit_test_setup(test_shared, setup_blocks),
		cmocka_unit_test_setup(test_odd_slot, setup_blocks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
