// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dispatch: what a hit does, in a world in memory: counts, programs, what is missed and
 * why, and where the thread goes on.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "port/fake/hit/world.h"
#include "port.h"
#include "arch/arch.h"
#include "engine/insn/faults.h"
#include "engine/insn/callout.h"
#include "engine/layout/base.h"
#include "engine/layout/ring.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"

#define AT 0x401000ull
#define EXIT 0x0d
#define ABORT 0x0b
#define REMOVE 0x0c
#define EXIT_N 0x0e

static int begin(void **state)
{
	static const u8 text[16] = { [0 ... 15] = 0x90 };

	dp_fake_begin(DP_CAUGHT_JUMPS);
	dp_fake_text(AT, text, sizeof(text));
	return 0;
}

static u64 hit(u64 pc)
{
	dp_fake_breakpoint(pc);
	return dp_fake_regs()->rip;
}

static void counts(void **state)
{
	dp_fake_site(0, AT);
	dp_fake_site(1, AT + 8);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	dp_fake_probe(1, 0, DP_KIND_PLAIN);
	dp_fake_probe(2, 1, DP_KIND_PLAIN);
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(hit(AT + 8), dp_fake_copy(1));
	assert_int_equal(dp_fake_count(0), 2);
	assert_int_equal(dp_fake_count(1), 2);
	assert_int_equal(dp_fake_count(2), 1);
	assert_int_equal(dp_fake_seen.entered, 0);
	assert_int_equal(dp_fake_seen.died, 0);
}

static void disabled(void **state)
{
	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_PLAIN)->enabled = 0;
	dp_fake_probe(1, 0, DP_KIND_PLAIN);
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(dp_fake_count(0), 0);
	assert_int_equal(dp_fake_count(1), 1);
}

/* It would be for a tool that does not read any more. */
static void tool_is_gone(void **state)
{
	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	dp_fake_probe(1, 0, DP_KIND_LINKER);
	dp_arena.control.tool_futex = DP_TOOL_DIED;
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(dp_fake_count(0), 0);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_TOOL_GONE), 1);
	assert_int_equal(dp_fake_tally(1, DP_TALLY_TOOL_GONE), 0);
}

static void with_program(u8 op)
{
	const u8 code[] = { op, 3 };

	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_PLAIN)->major = 5;
	dp_fake_program(0, code, sizeof(code));
}

static void record_of_a_program(void **state)
{
	const struct dp_record *r;

	with_program(EXIT_N);
	dp_fake_thread(2);
	assert_int_equal(hit(AT), dp_fake_copy(0));
	r = dp_fake_record();
	assert_non_null(r);
	assert_int_equal(r->probe, 0);
	assert_int_equal(r->major, 5);
	assert_int_equal(r->facility, 3);
	assert_int_equal(r->tid, DP_FAKE_PID + 2);
	assert_int_equal(dp_probe_state(0)->count, 1);
	assert_null(dp_fake_record());
}

/* Nothing was logged, or it is not to be. */
static void no_record(void **state)
{
	with_program(EXIT);
	hit(AT);
	assert_null(dp_fake_record());
	begin(state);
	with_program(ABORT);
	hit(AT);
	assert_null(dp_fake_record());
	assert_int_equal(dp_probe_state(0)->count, 1);
}

static void too_early_and_too_often(void **state)
{
	with_program(EXIT_N);
	((struct dp_probe_entry *)dp_probe(0))->maxhits = 2;
	dp_probe_state(0)->count = -1;
	hit(AT);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_PASSED), 1);
	assert_null(dp_fake_record());
	hit(AT);
	hit(AT);
	assert_non_null(dp_fake_record());
	assert_non_null(dp_fake_record());
	hit(AT);
	assert_null(dp_fake_record());
	assert_int_equal(dp_fake_tally(0, DP_TALLY_DISABLED), 1);
	assert_int_equal(dp_fake_count(0), 4);
}

static void removes_itself(void **state)
{
	with_program(REMOVE);
	hit(AT);
	assert_int_equal(dp_probe_state(0)->status, DP_PROBE_REMOVED);
	hit(AT);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_DISABLED), 1);
	assert_int_equal(dp_probe_state(0)->count, 1);
}

/* Another one, of the same program. */
static void resumes(void **state)
{
	static const u8 code[] = { 0x4c, 7, 0, 0, 0, 0, 0, 0, 0, 0x10, EXIT };
	u32 i;

	dp_fake_site(0, AT);
	for (i = 0; i < 4; i++) {
		dp_fake_probe(i, 0, DP_KIND_PLAIN)->minor = 7 + i / 2;
		dp_probe_state(i)->status = i ? DP_PROBE_SUSPENDED : 0;
	}
	dp_fake_program(0, code, sizeof(code));
	((struct dp_probe_entry *)dp_probe(1))->program = dp_probe(0)->program;
	((struct dp_probe_entry *)dp_probe(2))->program = dp_probe(0)->program;
	((struct dp_probe_entry *)dp_probe(3))->minor = 7;
	dp_probe_state(1)->status |= DP_PROBE_REMOVED;
	hit(AT);
	assert_int_equal(dp_probe_state(1)->status, DP_PROBE_REMOVED);
	assert_int_equal(dp_probe_state(2)->status, DP_PROBE_SUSPENDED);
	assert_int_equal(dp_probe_state(3)->status, DP_PROBE_SUSPENDED);
}

static struct dp_context *context(u32 i)
{
	return (struct dp_context *)dp_at(dp_arena.control.context_off) + i;
}

/* All are in use, by threads that go on in them. */
static void no_context(void **state)
{
	u32 i;

	with_program(EXIT_N);
	for (i = 0; i < DP_FAKE_CONTEXTS; i++) {
		context(i)->state = DP_CONTEXT_RUNS;
		context(i)->tid = DP_FAKE_PID + 1;
	}
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
	assert_int_equal(dp_probe_state(0)->count, 0);
	assert_null(dp_fake_record());
	/* One of its own, farther down its stack, was left by siglongjmp. */
	context(2)->tid = DP_FAKE_PID;
	context(2)->sp = dp_fake_regs()->rsp - 8;
	hit(AT);
	assert_non_null(dp_fake_record());
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
	assert_int_equal(context(2)->state, DP_CONTEXT_FREE);
}

/* One that is not left: its hit is farther up, and goes on. */
static void context_of_an_outer_hit(void **state)
{
	u32 i;

	with_program(EXIT_N);
	for (i = 0; i < DP_FAKE_CONTEXTS; i++) {
		context(i)->state = DP_CONTEXT_RUNS;
		context(i)->tid = DP_FAKE_PID;
		context(i)->sp = dp_fake_regs()->rsp + 8;
	}
	hit(AT);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
}

static void full_ring(void **state)
{
	u32 i;

	with_program(EXIT_N);
	for (i = 0; i < DP_FAKE_SLOTS; i++)
		hit(AT);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_LOST), 0);
	hit(AT);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_LOST), 1);
	for (i = 0; i < DP_FAKE_SLOTS; i++)
		assert_non_null(dp_fake_record());
	assert_null(dp_fake_record());
	hit(AT);
	assert_non_null(dp_fake_record());
}

/* Its instruction may fail, so the thread goes through the copy that tells. */
static void waiting(struct dp_site_entry *s)
{
	s->faults = DP_FAULTS_OTHER;
	s->post = 0x7000000;
	s->post_body = 4;
	s->post_len = 8;
	dp_fake_index(s->post + 4, 0);
}

static void record_waits(void **state)
{
	with_program(EXIT_N);
	waiting((struct dp_site_entry *)dp_site_at(0));
	assert_int_equal(hit(AT), 0x7000000);
	assert_null(dp_fake_record());
	assert_int_equal(dp_arena.hit.pending, 1);
	assert_int_equal(dp_probe_state(0)->waiting, 1);
	/* Another thread's is none of this one's. */
	dp_fake_thread(1);
	hit(0x7000004);
	assert_null(dp_fake_record());
	dp_fake_thread(0);
	assert_int_equal(hit(0x7000004), 0x7000005);
	assert_non_null(dp_fake_record());
	assert_int_equal(dp_arena.hit.pending, 0);
	assert_int_equal(dp_probe_state(0)->waiting, 0);
}

/* It is seen to fail: a return to where nothing can be. */
static void no_record_of_a_failure(void **state)
{
	static u64 stack[1024];
	u64 *top = stack + 1000;

	with_program(EXIT_N);
	waiting((struct dp_site_entry *)dp_site_at(0));
	((struct dp_site_entry *)dp_site_at(0))->faults = DP_FAULTS_RET;
	*top = 1ull << 63;
	dp_fake_regs()->rsp = (u64)top;
	hit(AT);
	assert_null(dp_fake_record());
	assert_int_equal(dp_arena.hit.pending, 0);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_DISCARDED), 1);
	*top = AT;
	hit(AT);
	assert_non_null(dp_fake_record());
	/* A probe may want the record nevertheless. */
	((struct dp_probe_entry *)dp_probe(0))->logonfault = 1;
	*top = 1ull << 63;
	hit(AT);
	assert_non_null(dp_fake_record());
}

/* It has failed: the thread is farther up its stack at its next hit. */
static void record_is_discarded(void **state)
{
	with_program(EXIT_N);
	waiting((struct dp_site_entry *)dp_site_at(0));
	hit(AT);
	dp_fake_regs()->rsp += 64;
	hit(AT);
	assert_null(dp_fake_record());
	assert_int_equal(dp_fake_tally(0, DP_TALLY_DISCARDED), 1);
	assert_int_equal(dp_arena.hit.pending, 1);
	assert_int_equal(dp_probe_state(0)->count, 1);
	/* Farther down it is another hit, inside of the first. */
	dp_fake_regs()->rsp -= 128;
	hit(AT);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_DISCARDED), 1);
	assert_int_equal(dp_arena.hit.pending, 2);
	hit(0x7000004);
	assert_non_null(dp_fake_record());
	assert_null(dp_fake_record());
	assert_int_equal(dp_arena.hit.pending, 1);
}

static void child_in_our_memory(void **state)
{
	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	dp_fake_vfork(false);
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(dp_fake_count(0), 0);
	assert_int_equal(dp_arena.hit.missed[DP_MISSED_FORK], 1);
	dp_fake_vfork(true);
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(dp_fake_count(0), 1);
}

/* What the tool does at its nth call, of those that wake it or wait for it. */
static u32 calls, answers_at, ends_at;

static void answer_linker(void)
{
	if (++calls == answers_at)
		dp_arena.control.linker_answered = dp_arena.hit.linker_asked;
	if (calls == ends_at)
		dp_arena.control.tool_futex = DP_TOOL_DIED;
}

/* Return: how often the tool was woken or waited for in a loader event */
static u32 loader_event(u32 answers, u32 ends)
{
	calls = 0;
	answers_at = answers;
	ends_at = ends;
	dp_fake_tool(answer_linker);
	assert_int_equal(hit(AT), dp_fake_copy(0));
	return calls;
}

static void loader_events(void **state)
{
	enum { CONSISTENT, CHANGES };
	static s32 linker;

	linker = CONSISTENT;
	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_LINKER);
	assert_int_equal(loader_event(1, 0), 0);
	dp_arena.control.linker_state = (u64)&linker;
	assert_int_equal(loader_event(1, 0), 1);
	assert_int_equal(loader_event(3, 0), 3);
	assert_int_equal(dp_arena.hit.linker_asked, 2);
	linker = CHANGES;
	assert_int_equal(loader_event(1, 0), 0);
	dp_arena.control.linker_hold = 1;
	assert_int_equal(loader_event(1, 0), 1);
	assert_int_equal(dp_fake_count(0), 0);
	assert_int_equal(dp_arena.hit.linker_late, 0);
}

/* A thread waits for it two seconds, and not again before it has caught up. */
static void loader_events_of_a_stopped_tool(void **state)
{
	static s32 linker;
	static u64 stack[64];

	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_LINKER);
	dp_arena.control.linker_state = (u64)&linker;
	assert_int_equal(loader_event(0, 0), 201);
	assert_int_equal(loader_event(0, 0), 1);
	assert_int_equal(dp_arena.hit.linker_late, 2);
	dp_arena.control.linker_answered = dp_arena.hit.linker_asked;
	assert_int_equal(loader_event(5, 0), 5);
	/* The tool could not send it home from a detour. */
	dp_detour_hit((void *)stack);
	assert_int_equal(dp_arena.hit.linker_asked, 3);
	assert_int_equal(loader_event(0, 5), 5);
	assert_int_equal(dp_arena.hit.linker_late, 2);
}

/* A thread on its way through a detour: no signal tells of it. */
static void through_a_detour(void **state)
{
	static u64 stack[64];
	struct dp_detour_frame *frame = (void *)stack;

	dp_fake_site(0, AT);
	dp_fake_site(1, AT + 8);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	dp_fake_probe(1, 1, DP_KIND_PLAIN);
	frame->number = 1;
	dp_detour_hit(frame);
	assert_int_equal(dp_fake_count(0), 0);
	assert_int_equal(dp_fake_count(1), 1);
	assert_int_equal(((struct dp_mcontext *)frame->regs)->rip, AT + 8);
	assert_int_equal(((struct dp_mcontext *)frame->regs)->rsp,
			 (u64)(frame + 1) + DP_RED_ZONE);
	/* It tells of a completed instruction, for which no record waits. */
	frame->number = 1 | DP_CALLOUT_AFTER;
	dp_detour_hit(frame);
	assert_int_equal(dp_fake_count(1), 1);
	frame->number = 1;
	dp_fake_vfork(false);
	dp_detour_hit(frame);
	assert_int_equal(dp_fake_count(1), 1);
	assert_int_equal(dp_arena.hit.missed[DP_MISSED_FORK], 1);
	/* It has come while such a child is there. */
	dp_fake_vfork(true);
	dp_arena.hit.vm_children = 1;
	dp_detour_hit(frame);
	assert_int_equal(dp_fake_count(1), 2);
	dp_fake_fork();
	dp_detour_hit(frame);
	assert_int_equal(dp_fake_count(1), 2);
	assert_int_equal(dp_arena.hit.missed[DP_MISSED_FORK], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(counts, begin),
		cmocka_unit_test_setup(disabled, begin),
		cmocka_unit_test_setup(tool_is_gone, begin),
		cmocka_unit_test_setup(record_of_a_program, begin),
		cmocka_unit_test_setup(no_record, begin),
		cmocka_unit_test_setup(too_early_and_too_often, begin),
		cmocka_unit_test_setup(removes_itself, begin),
		cmocka_unit_test_setup(resumes, begin),
		cmocka_unit_test_setup(no_context, begin),
		cmocka_unit_test_setup(context_of_an_outer_hit, begin),
		cmocka_unit_test_setup(full_ring, begin),
		cmocka_unit_test_setup(record_waits, begin),
		cmocka_unit_test_setup(no_record_of_a_failure, begin),
		cmocka_unit_test_setup(record_is_discarded, begin),
		cmocka_unit_test_setup(loader_events, begin),
		cmocka_unit_test_setup(loader_events_of_a_stopped_tool, begin),
		cmocka_unit_test_setup(child_in_our_memory, begin),
		cmocka_unit_test_setup(through_a_detour, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
