// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * generated: walks through signals that have interrupted threads in code of ours.
 *
 * tests/scenario/stacks-ticked.sh walks through code as it is made; here is what is rare.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "backtrace_world.h"
#include "engine/insn/detour.h"
#include "engine/insn/unwind.h"
#include "engine/site/live.h"

#define CODE 0x400000ull
#define POOL 0x500000ull
#define AGENT 0x800000ull
#define STACK 0x7f0000000000ull
#define WORDS 512
#define RULES 8
#define PC_OF(rule) (CODE + 16 * (rule) + 5)
#define AGENT_PC(rule) (AGENT + 16 * (rule) + 5)
#define EXACT DP_BACKTRACE_EXACT
#define RED (DP_RED_ZONE_SIZE / 8)

static u64 stack[WORDS];
static struct dp_regs regs;
static u64 frames[DP_BACKTRACE_FRAMES];
static enum dp_backtrace_end end;

enum { NONE, LAST, WORD, FRAMED, OTHER, SIGNAL, SKIPPED, BACK };

static const struct dp_rule rules[RULES] = {
	[LAST] = { .how = DP_RULE_LAST },
	[WORD] = { DP_RULE_REG, DP_RULE_SP, DP_FRAME_SAME, DP_RULE_RET_BELOW, 8,
		   0, 0 },
	[FRAMED] = { DP_RULE_REG, DP_RULE_FRAME, DP_FRAME_AT_CFA,
		     DP_RULE_RET_BELOW, 16, 0, -16 },
	[OTHER] = { DP_RULE_REG, 10, DP_FRAME_SAME, DP_RULE_RET_BELOW, 0, 0,
		    0 },
	[SIGNAL] = { .how = DP_RULE_SIGNAL },
	[SKIPPED] = { DP_RULE_REG, DP_RULE_SP, DP_FRAME_SAME,
		      DP_RULE_RET_SKIPPED, 8 + DP_RED_ZONE_SIZE, 0, 0 },
	[BACK] = { DP_RULE_REG, DP_RULE_SP, DP_FRAME_SAME, DP_RULE_RET_BELOW,
		   -64, 0, 0 },
};

/* The same rules for the program and for the agent */
static int begin(void **state)
{
	u32 ranges[RULES], which[RULES], i;
	struct dp_backtrace_code code = { ranges, which, RULES, rules, RULES };
	struct dp_backtrace_place places[2] = {
		{ CODE, CODE + 16 * RULES, 0 },
		{ AGENT, AGENT + 16 * RULES, 0 },
	};

	for (i = 0; i < RULES; i++) {
		ranges[i] = 16 * i;
		which[i] = i;
	}
	world_begin(1 << 20, 1000);
	((struct dp_backtrace_head *)(world.arena +
				      world.e->backtraces.head_off))
		->agent = AGENT;
	assert_int_equal(dp_engine_add_code(world.e, &code, &places[0].code),
			 0);
	places[1].code = places[0].code;
	assert_int_equal(dp_engine_map_code(world.e, places, 2), 0);
	world_window(0, STACK, sizeof(stack), stack);
	memset(stack, 0, sizeof(stack));
	memset(&regs, 0, sizeof(regs));
	return 0;
}

static int finish(void **state)
{
	world_end();
	return 0;
}

/* In a signal's handler, that is to return to a frame at STACK + 8 */
static struct dp_ucontext *interrupt(u64 pc, u64 sp_word)
{
	struct dp_ucontext *uc = (void *)&stack[1];

	stack[0] = CODE + 16 * SIGNAL + 1;
	uc->mc.rip = pc;
	uc->mc.rsp = STACK + 8 * sp_word;
	return uc;
}

static u32 walk(void)
{
	struct dp_backtrace b = world_walk();

	dp_regs_set_pc(&regs, PC_OF(WORD));
	dp_regs_set_sp(&regs, STACK);
	dp_backtrace_begin(&b, &regs);
	return dp_engine_backtrace(world.e, dp_backtrace_number(&b), frames,
				   &end);
}

/* Behind the frame to which the handler returns: @pc, a word of whose stack leads to the outermost frame */
static void leads_to(u64 pc)
{
	assert_int_equal(walk(), 4);
	assert_int_equal(frames[1], CODE + 16 * SIGNAL + 1);
	assert_int_equal(frames[2], pc);
	assert_int_equal(frames[3], PC_OF(LAST));
	assert_int_equal(end, DP_END_COMPLETE);
}

static void put_piece(u64 at, u32 len, const struct dp_unwind_states *states,
		      u64 addr)
{
	struct dp_charted code = { .at = at,
				   .len = len,
				   .states = states,
				   .addr = addr,
				   .duplicate = PC_OF(WORD) + 7,
				   .offset = { 0, 3 } };

	code.offset[DP_UNWIND_BEHIND] = 6;
	dp_generated_note(world.e, &code);
}

#define STATE(insn, depth) (u8)((insn) << DP_UNWIND_INSN | (depth))

/* A detour that counts: rax and the frame register are saved for its first instruction. */
static struct dp_unwind_states states = {
	.slot = { [0] = 1, [DP_RULE_FRAME] = 2 },
	.nr = 9,
	.v = { { 0, STATE(0, 0), 0 },
	       { 4, STATE(0, DP_DEPTH_SKIPPED), 0 },
	       { 8, STATE(0, DP_DEPTH_SAVED + 1), 0 },
	       { 12, STATE(0, DP_DEPTH_SAVED + 2), 0 },
	       { 16, STATE(0, DP_UNWIND_DEPTH), 30 },
	       { 20, STATE(1, DP_DEPTH_SAVED + 2), 0 },
	       { 24, STATE(DP_UNWIND_BEHIND, 0), 0 },
	       { 28, STATE(DP_UNWIND_DUPLICATE, 1), 0 },
	       { 32, DP_UNWIND_IN_ARGUMENT, 0 } },
};

static void each_state(void **state)
{
	static const struct {
		u8 at;
		u32 sp;
		u64 pc;
	} of[] = {
		{ 0, 0, PC_OF(WORD) },
		{ 3, 0, PC_OF(WORD) },
		{ 4, RED, PC_OF(WORD) },
		{ 8, RED + 1, PC_OF(WORD) },
		{ 15, RED + 2, PC_OF(WORD) },
		{ 19, RED + DP_UNWIND_DEPTH - DP_DEPTH_SAVED + 30,
		  PC_OF(WORD) },
		{ 20, RED + 2, PC_OF(WORD) + 3 },
		{ 24, 0, PC_OF(WORD) + 6 },
		{ 28, 1, PC_OF(WORD) + 7 },
	};
	u32 i;

	put_piece(POOL, 40, &states, PC_OF(WORD));
	for (i = 0; i < sizeof(of) / sizeof(*of); i++) {
		memset(stack, 0, sizeof(stack));
		interrupt(POOL + of[i].at, 200);
		stack[200 + of[i].sp] = PC_OF(LAST);
		leads_to(of[i].pc | EXACT);
	}
	/* What no walk can be in, what has no note, what is behind */
	interrupt(POOL + 32, 200);
	assert_int_equal(walk(), 2);
	assert_int_equal(end, DP_END_UNKNOWN);
	interrupt(POOL + 40, 200);
	assert_int_equal(walk(), 3);
	assert_int_equal(frames[2], (POOL + 40) | EXACT);
	assert_int_equal(end, DP_END_UNKNOWN);
	interrupt(POOL - 1, 200);
	assert_int_equal(walk(), 3);
}

/* The frame register, and one that the interrupted frame's rule needs, are where they have been saved. */
static void saved_registers(void **state)
{
	static struct dp_unwind_states other = {
		.slot = { [10] = 2 },
		.nr = 1,
		.v = { { 0, STATE(0, DP_DEPTH_SAVED + 2), 0 } },
	};
	struct dp_ucontext *uc;
	u64 sp = 300;

	put_piece(POOL, 40, &states, PC_OF(FRAMED));
	uc = interrupt(POOL + 12, sp - RED - 2);
	uc->mc.rbp = STACK + 8 * 400;
	stack[sp - RED - 2] = STACK + 8 * 310;
	stack[311] = PC_OF(LAST);
	leads_to(PC_OF(FRAMED) | EXACT);
	/* Not saved yet: still in the register */
	uc = interrupt(POOL + 8, sp - RED - 1);
	stack[401] = PC_OF(LAST);
	stack[311] = 0x5000;
	leads_to(PC_OF(FRAMED) | EXACT);
	/* What counts an inner instruction saves other registers. */
	interrupt(POOL + 20, sp - RED - 2);
	leads_to((PC_OF(FRAMED) + 3) | EXACT);

	put_piece(POOL + 64, 16, &other, PC_OF(OTHER));
	uc = interrupt(POOL + 64 + 3, sp - RED - 2);
	uc->mc.r10 = 0;
	stack[sp - RED - 2] = STACK + 8 * 320;
	stack[319] = PC_OF(LAST);
	leads_to(PC_OF(OTHER) | EXACT);
	/* Where nothing of ours has saved it */
	uc->mc.rip = PC_OF(OTHER);
	uc->mc.r10 = STACK + 8 * 330;
	stack[329] = PC_OF(LAST);
	leads_to(PC_OF(OTHER) | EXACT);
}

static void islands_and_stubs(void **state)
{
	put_piece(POOL, 5, NULL, PC_OF(WORD));
	interrupt(POOL + 0, 200);
	stack[200] = PC_OF(LAST);
	leads_to(PC_OF(WORD) | EXACT);
	/* A stub has been called by a detour. */
	put_piece(POOL + 64, 40, &states, PC_OF(WORD));
	put_piece(POOL + 512, 16, NULL, 0);
	interrupt(POOL + 512 + 6, 200);
	stack[200] = POOL + 64 +
		     8; /* of the call that ends there: the state before */
	stack[201 + RED] = PC_OF(LAST);
	leads_to(PC_OF(WORD) | EXACT);
	/* Its stack cannot be read. */
	interrupt(POOL + 512, WORDS);
	assert_int_equal(walk(), 2);
	assert_int_equal(end, DP_END_UNREADABLE);
}

/* Frames of the agent are passed over, up to the detour that has called it, or the program. */
static void the_agent(void **state)
{
	put_piece(POOL, 40, &states, PC_OF(WORD));
	interrupt(AGENT_PC(WORD), 200);
	stack[200] = AGENT_PC(WORD);
	stack[201] = AGENT_PC(WORD);
	stack[202] = POOL + 8;
	stack[203 + RED] = PC_OF(LAST);
	leads_to(PC_OF(WORD) | EXACT);
	/* An intercepted call: its return address is below the red zone. */
	stack[201] = AGENT_PC(SKIPPED);
	stack[202] = PC_OF(WORD);
	stack[203 + RED] = PC_OF(LAST);
	leads_to(PC_OF(WORD) | EXACT);
	/* A caught signal in between */
	interrupt(AGENT_PC(WORD), 200);
	stack[200] = AGENT + 16 * SIGNAL + 1;
	((struct dp_ucontext *)&stack[201])->mc.rip = POOL + 4;
	((struct dp_ucontext *)&stack[201])->mc.rsp = STACK + 8 * 420;
	stack[420 + RED] = PC_OF(LAST);
	leads_to(PC_OF(WORD) | EXACT);
	/* It has not looked at the breakpoint yet. */
	((struct dp_ucontext *)&stack[201])->mc.rip = PC_OF(WORD) + 1;
	world.breakpoint = PC_OF(WORD);
	stack[420] = PC_OF(LAST);
	leads_to(PC_OF(WORD) | EXACT);
	world.breakpoint = 0;
	leads_to((PC_OF(WORD) + 1) | EXACT);
	/* On a stack of the agent's own, which is above */
	interrupt(AGENT_PC(BACK), 200);
	stack[191] = POOL + 1;
	stack[192] = PC_OF(LAST);
	leads_to(PC_OF(WORD) | EXACT);
	/* What the agent's rules do not know, and what has no end */
	interrupt(AGENT_PC(NONE), 200);
	assert_int_equal(walk(), 2);
	assert_int_equal(end, DP_END_UNKNOWN);
	interrupt(AGENT_PC(LAST), 200);
	assert_int_equal(walk(), 2);
	assert_int_equal(end, DP_END_UNKNOWN);
	interrupt(AGENT + 16 * SIGNAL, 1);
	((struct dp_ucontext *)&stack[1])->mc.rip = AGENT + 16 * SIGNAL;
	assert_int_equal(walk(), 2);
	assert_int_equal(end, DP_END_UNKNOWN);
	assert_true(world.reads < 4 * DP_GENERATED_FRAMES + 100);
	/* Walks of which nobody knows where the agent is go on as they would through any code. */
	((struct dp_backtrace_head *)(world.arena +
				      world.e->backtraces.head_off))
		->agent = 0;
	interrupt(AGENT_PC(WORD), 200);
	stack[200] = PC_OF(LAST);
	leads_to(AGENT_PC(WORD) | EXACT);
}

/* Code is made where other code has been; pieces lie in several lines. */
static void code_is_made_anew(void **state)
{
	static const u32 at[] = { 0, 100, 5000, 4095, 1023, 1024 };
	u32 i;

	put_piece(POOL, DP_DETOUR_MAX, &states, PC_OF(WORD));
	for (i = 0; i < 6; i++) {
		interrupt(POOL + DP_DETOUR_MAX + at[i], 200);
		assert_int_equal(walk(), 3);
	}
	put_piece(POOL + 32, 40, &states, PC_OF(FRAMED));
	interrupt(POOL + 32, 200)->mc.rbp = STACK + 8 * 210;
	stack[211] = PC_OF(LAST);
	leads_to(PC_OF(FRAMED) | EXACT);
	/* All of the code that was there is gone. */
	interrupt(POOL, 200);
	assert_int_equal(walk(), 3);
	put_piece(POOL + 2000, 40, &states, PC_OF(WORD));
	put_piece(POOL + 16, 3000, &states, PC_OF(WORD));
	interrupt(POOL + 3010, 200);
	assert_int_equal(walk(),
			 2); /* by its last state, which no walk can be in */
	interrupt(POOL + 2000, 200);
	assert_int_equal(walk(), 2);
	interrupt(POOL + 32, 200);
	stack[200 + RED + DP_UNWIND_DEPTH - DP_DEPTH_SAVED + 30] = PC_OF(LAST);
	leads_to(PC_OF(WORD) | EXACT);
}

/* Where there is no room, walks end. */
static void no_room(void **state)
{
	const struct dp_backtrace_head *head = world_walk().head;
	struct dp_unwind_states s = states;
	u32 i;

	/* Of shapes */
	for (i = 0; i < 1000; i++) {
		s.v[8].at = (u16)(32 + i);
		put_piece(POOL + 64 * i, 40, &s, PC_OF(WORD));
	}
	assert_true(world.e->backtraces.generated.nr < 1000);
	interrupt(POOL + 64 * 999, 200);
	stack[200] = PC_OF(LAST);
	assert_int_equal(walk(), 3);
	assert_int_equal(end, DP_END_UNKNOWN);
	interrupt(POOL, 200);
	leads_to(PC_OF(WORD) | EXACT);
	/* Of pieces */
	for (i = 0; i < head->max_pieces + 10; i++)
		put_piece(POOL + (1 << 20) + 8 * i, 5, NULL, PC_OF(WORD));
	assert_int_equal(world.e->backtraces.generated.nr, head->max_pieces);
	interrupt(POOL + (1 << 20) + 8 * (i - 1), 200);
	assert_int_equal(walk(), 3);
	interrupt(POOL + (1 << 20), 200);
	leads_to(PC_OF(WORD) | EXACT);
}

/* Detours that are made alike have one shape. */
static void shapes_are_shared(void **state)
{
	const struct dp_generated_room *r = &world.e->backtraces.generated;
	u32 left, i;

	put_piece(POOL, 40, &states, PC_OF(WORD));
	left = r->end - r->shapes;
	for (i = 1; i < 100; i++)
		put_piece(POOL + 64 * i, 40, &states, PC_OF(WORD));
	assert_int_equal(r->end - r->shapes, left);
	assert_int_equal(r->nr, 101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_state, begin, finish),
		cmocka_unit_test_setup_teardown(saved_registers, begin, finish),
		cmocka_unit_test_setup_teardown(islands_and_stubs, begin,
						finish),
		cmocka_unit_test_setup_teardown(the_agent, begin, finish),
		cmocka_unit_test_setup_teardown(code_is_made_anew, begin,
						finish),
		cmocka_unit_test_setup_teardown(no_room, begin, finish),
		cmocka_unit_test_setup_teardown(shapes_are_shared, begin,
						finish),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
