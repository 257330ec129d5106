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
#include <asm/unistd.h>
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "engine/hit/program.h"
#include "port/fake/hit/world.h"
#include "port/user/signals/intercept.h"
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
#define LEAVE 0xad
#define POST 0x7000000ull
#define DETOUR 0x8000000ull

static u64 words[512]; /* a detour's frame, with the thread's stack above it */

static int begin(void **state)
{
	static const u8 text[16] = { [0 ... 15] = 0x90 };

	dp_fake_begin(DP_CAUGHT_JUMPS);
	dp_fake_text(AT, text, sizeof(text));
	return 0;
}

static struct dp_site_entry *site(u32 i)
{
	return (struct dp_site_entry *)dp_site_at(i);
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
	site(0)->post = POST;
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(hit(AT + 8), dp_fake_copy(1));
	assert_int_equal(dp_fake_count(0), 2);
	assert_int_equal(dp_fake_count(1), 1);
	assert_int_equal(dp_fake_seen.entered, 0);
	assert_int_equal(dp_fake_seen.died, 0);
}

/* Detours count alone, in the first shards, and all others in those behind them. */
static void each_cpu_its_own_shard(void **state)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u32 cpu;

	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	for (cpu = 0; cpu < 4; cpu++) {
		u32 shard = DP_FAKE_CPUS + cpu % DP_FAKE_CPUS;
		u64 *hits = dp_at(c->counter_off + shard * c->shard_stride);

		dp_fake_cpu(cpu);
		hit(AT);
		assert_int_equal(*hits, 1 + cpu / DP_FAKE_CPUS);
	}
}

/* A site is counted for all its probes, once; one without a probe that is counted, never. */
static void counts_sites(void **state)
{
	dp_fake_site(0, AT);
	dp_fake_site(1, AT + 8);
	dp_fake_probe(0, 0, DP_KIND_PLAIN)->enabled = 0;
	dp_fake_probe(1, 0, DP_KIND_PLAIN);
	dp_fake_probe(2, 1, DP_KIND_UNWIND)->enabled = 0;
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(hit(AT + 8), dp_fake_copy(1));
	assert_int_equal(dp_fake_count(0), 1);
	assert_int_equal(dp_fake_count(1), 0);
}

/* It would be for a tool that does not read any more. */
static void tool_is_gone(void **state)
{
	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	dp_fake_probe(1, 0, DP_KIND_LINKER);
	dp_fake_probe(2, 0, DP_KIND_PLAIN);
	site(0)->post = POST;
	dp_arena.control.tool_futex = DP_TOOL_DIED;
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(dp_fake_count(0), 0);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_TOOL_GONE), 1);
	assert_int_equal(dp_fake_tally(1, DP_TALLY_TOOL_GONE), 0);
	assert_int_equal(dp_fake_tally(2, DP_TALLY_TOOL_GONE), 1);
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

/* One program goes, and another one comes: each hit runs one of them. */
static void one_of_two_generations(void **state)
{
	const u8 code[] = { EXIT_N, 3 };
	const struct dp_record *r;
	u32 g;

	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_PLAIN)->enabled = DP_ENABLED_UNTIL(1, 2);
	dp_fake_probe(1, 0, DP_KIND_PLAIN)->enabled = DP_ENABLED_FROM(2);
	dp_fake_program(0, code, sizeof(code));
	dp_fake_program(1, code, sizeof(code));
	for (g = 0; g < 5; g++) {
		dp_arena.control.generation = g;
		assert_int_equal(hit(AT), dp_fake_copy(0));
		r = dp_fake_record();
		assert_non_null(r);
		assert_int_equal(r->probe, g >= 2);
		assert_null(dp_fake_record());
	}
	assert_int_equal(dp_fake_tally(0, DP_TALLY_DISABLED), 0);
	assert_int_equal(dp_fake_tally(1, DP_TALLY_DISABLED), 0);
}

static u32 naps;
static u64 held_ip;

static void note_nap(void)
{
	naps++;
}

static void serve(void)
{
	naps++;
	assert_int_equal(dp_arena.hit.core_tid, DP_FAKE_PID + 2);
	assert_non_null(dp_fake_record());
	held_ip = dp_arena.hit.core_regs.ip;
	dp_arena.hit.core_tid = 0;
	dp_arena.control.core_served++;
}

static void die(void)
{
	naps++;
	dp_arena.control.tool_futex = DP_TOOL_DIED;
}

/* Thread 2 asks for a core dump, from a tool that does @tool while it waits. */
static void ask(void (*tool)(void), bool holds)
{
	naps = 0;
	held_ip = 0;
	with_program(EXIT_N);
	dp_arena.control.core_holds = holds;
	dp_fake_tool(tool);
	dp_fake_thread(2);
	assert_int_equal(hit(AT), dp_fake_copy(0));
	dp_fake_tool(NULL);
}

static void waits_for_a_core(void **state)
{
	ask(serve, true);
	assert_int_equal(naps, 1);
	assert_int_equal(held_ip, AT);
	assert_int_equal(dp_arena.hit.core_tid, 0);
}

/* Nobody waits for much longer than a second. */
static void waits_in_vain(void **state)
{
	u64 began = dp_port_now();

	ask(note_nap, true);
	assert_in_range(dp_port_now() - began, 1000, 1100);
	assert_int_equal(dp_arena.hit.core_tid, 0);
	assert_non_null(dp_fake_record());
	begin(state);
	ask(die, true);
	assert_int_equal(naps, 1);
	assert_int_equal(dp_arena.hit.core_tid, 0);
	begin(state);
	ask(note_nap, false);
	assert_int_equal(naps, 0);
	assert_non_null(dp_fake_record());
}

/* The thread that has the place may have been killed. */
static void takes_a_place_over(void **state)
{
	dp_arena.hit.core_tid = DP_FAKE_PID + 1;
	ask(note_nap, true);
	assert_true(naps > 1000);
	assert_int_equal(dp_arena.hit.core_tid, 0);
	assert_int_equal(dp_arena.hit.core_regs.ip, AT);
	assert_non_null(dp_fake_record());
}

/* Its instruction may fail, so the thread goes through the copy that tells. */
static void waiting(u32 i)
{
	struct dp_site_entry *s = site(i);

	s->faults = DP_FAULTS_OTHER;
	s->post = POST + i * 16;
	s->post_body = 4;
	s->post_len = 8;
	dp_fake_index(s->post + 4, i);
}

/* The record is there although the instruction may fail; then the tool says whether the thread halts. */
static void halt(void)
{
	const struct dp_record *r = dp_fake_record();

	naps++;
	assert_non_null(r);
	assert_int_equal(r->facility, 1);
	dp_arena.control.halted_tid = dp_arena.hit.core_tid;
	dp_arena.hit.core_tid = 0;
}

static void halt_another(void)
{
	halt();
	dp_arena.control.halted_tid++;
}

static u64 ask_debugger(void (*tool)(void), bool holds)
{
	static const u8 code[] = { EXIT_N, 1 };
	u64 pc;

	naps = 0;
	dp_fake_site(0, AT);
	waiting(0);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	dp_fake_program(0, code, sizeof(code));
	dp_arena.control.core_holds = holds;
	dp_fake_tool(tool);
	pc = hit(AT);
	dp_fake_tool(NULL);
	return pc;
}

/* [row 323] */
static void goes_back_for_a_debugger(void **state)
{
	assert_int_equal(ask_debugger(halt, true), AT);
	assert_int_equal(naps, 1);
	begin(state);
	assert_int_equal(ask_debugger(halt_another, true), dp_fake_copy(0));
	assert_int_equal(naps, 1);
	begin(state);
	assert_int_equal(ask_debugger(die, true), dp_fake_copy(0));
	assert_non_null(dp_fake_record());
	begin(state);
	assert_int_equal(ask_debugger(halt, false), dp_fake_copy(0));
	assert_int_equal(naps, 0);
	assert_non_null(dp_fake_record());
	assert_int_equal(dp_arena.hit.pending, 0);
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

/* Nothing reads how often a program without limits has run, and only then: passcount is one. */
static void without_limits(void **state)
{
	with_program(EXIT_N);
	((struct dp_probe_entry *)dp_probe(0))->maxhits = DP_HITS_UNLIMITED;
	dp_probe_state(0)->count = -1;
	hit(AT);
	assert_null(dp_fake_record());
	assert_int_equal(dp_fake_tally(0, DP_TALLY_PASSED), 1);
	hit(AT);
	hit(AT);
	assert_non_null(dp_fake_record());
	assert_non_null(dp_fake_record());
	assert_int_equal(dp_probe_state(0)->count, 0);
	dp_program_undo(0);
	assert_int_equal(dp_probe_state(0)->count, 0);
	dp_probe_state(0)->status = DP_PROBE_SUSPENDED;
	hit(AT);
	assert_null(dp_fake_record());
	assert_int_equal(dp_fake_tally(0, DP_TALLY_DISABLED), 1);
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

/* Others of the same program and minor code, whatever else stands against them */
static void resumes(void **state)
{
	static const u8 code[] = { 0x4c, 7, 0, 0, 0, 0, 0, 0, 0, 0x10, EXIT };
	enum { SAME, OF_ANOTHER_CODE, OF_ANOTHER_PROGRAM, RUNS, REMOVED, NONE };
	u32 i;

	dp_fake_site(0, AT);
	for (i = 0; i <= NONE; i++) {
		dp_fake_probe(i, 0, DP_KIND_PLAIN)->minor =
			7 + (i == OF_ANOTHER_CODE);
		dp_probe_state(i)->status = i != RUNS ? DP_PROBE_SUSPENDED : 0;
	}
	dp_fake_program(RUNS, code, sizeof(code));
	for (i = 0; i <= NONE; i++)
		if (i != OF_ANOTHER_PROGRAM)
			((struct dp_probe_entry *)dp_probe(i))->program =
				RUNS + 1;
	dp_probe_state(REMOVED)->status |= DP_PROBE_REMOVED;
	dp_arena.control.nr_probes = NONE;
	hit(AT);
	assert_int_equal(dp_probe_state(SAME)->status, 0);
	assert_int_equal(dp_probe_state(REMOVED)->status, DP_PROBE_REMOVED);
	assert_int_equal(dp_probe_state(OF_ANOTHER_CODE)->status,
			 DP_PROBE_SUSPENDED);
	assert_int_equal(dp_probe_state(OF_ANOTHER_PROGRAM)->status,
			 DP_PROBE_SUSPENDED);
	assert_int_equal(dp_probe_state(NONE)->status, DP_PROBE_SUSPENDED);
}

static struct dp_context *context(u32 i)
{
	return (struct dp_context *)dp_at(dp_arena.control.context_off) + i;
}

/* Its machine is made as control has laid it out. */
static void machine_of_a_program(void **state)
{
	static const u8 code[] = { EXIT, EXIT_N, 3 };
	const struct dp_vm *vm = &context(0)->vm;
	struct dp_program_entry *prog;
	struct dp_probe_entry *p;
	u64 sp;

	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	p = dp_fake_probe(1, 0, DP_KIND_PLAIN);
	dp_fake_program(1, code, sizeof(code));
	p->start = 1;
	p->major = 5;
	p->minor = 6;
	prog = (struct dp_program_entry *)dp_at(dp_arena.control.program_off) +
	       1;
	prog->nr_lv = 2;
	prog->stack_mask = 31;
	prog->jmpmax = 9;
	prog->logmax = 12;
	dp_arena.control.gv_off = dp_fake_room(16);
	dp_arena.control.nr_gv = 2;
	hit(AT);
	sp = dp_fake_regs()->rsp;
	assert_int_equal(dp_fake_record()->facility, 3);
	assert_ptr_equal(vm->code, dp_at(prog->code_off));
	assert_ptr_equal(vm->lv, dp_at(prog->lv_off));
	assert_ptr_equal(vm->gv, dp_at(dp_arena.control.gv_off));
	assert_int_equal(vm->nr_lv, 2);
	assert_int_equal(vm->nr_gv, 2);
	assert_int_equal(vm->stack_mask, 31);
	assert_int_equal(vm->jmpmax, 9);
	assert_int_equal(vm->logmax, 12);
	assert_non_null(vm->regs);
	assert_int_equal(vm->safe_low, sp - DP_RED_ZONE);
	assert_int_equal(vm->safe_high, (sp | (DP_PAGE - 1)) + 1);
	assert_int_equal(vm->probe, 1);
	assert_int_equal(vm->major, 5);
	assert_int_equal(vm->minor, 6);
}

/* A program that logs, and says nothing else, has a record, too. */
static void record_of_a_log(void **state)
{
	static const u8 code[] = { 0x4c, 0x77, 0,    0, 0, 0,	0,
				   0,	 0,    0x1b, 1, 0, EXIT };
	const struct dp_record *r;

	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	dp_fake_program(0, code, sizeof(code));
	hit(AT);
	r = dp_fake_record();
	assert_non_null(r);
	assert_int_equal(r->len, DP_ITEM_PREFIX + sizeof(u64));
}

/* Let a thread run in each context, at @sp. */
static void fill_contexts(u32 tid, u64 sp)
{
	u32 i;

	for (i = 0; i < DP_FAKE_CONTEXTS; i++) {
		context(i)->state = DP_CONTEXT_RUNS;
		context(i)->tid = tid;
		context(i)->sp = sp;
	}
}

/* All are in use, by threads that go on in them. */
static void no_context(void **state)
{
	u32 i;

	with_program(EXIT_N);
	waiting(0);
	fill_contexts(DP_FAKE_PID + 1, 0);
	assert_int_equal(hit(AT), dp_fake_copy(0));
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
	assert_int_equal(dp_probe_state(0)->count, 0);
	assert_null(dp_fake_record());
	/* Any one of them will do. */
	site(0)->faults = DP_FAULTS_NEVER;
	for (i = 0; i < DP_FAKE_CONTEXTS; i++) {
		context(i)->state = DP_CONTEXT_FREE;
		hit(AT);
		assert_non_null(dp_fake_record());
		assert_int_equal(context(i)->state, DP_CONTEXT_FREE);
		assert_int_equal(context(i)->tid, 0);
		context(i)->state = DP_CONTEXT_RUNS;
	}
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
}

/* The clock is read for a program that may log, once for all of a hit; or for the record of an
 * exception. */
static void reads_the_clock_for_records(void **state)
{
	struct dp_mcontext mc = { 0 };
	struct dp_hit hit = { .mc = &mc };
	struct dp_program_entry *program;
	const struct dp_record *r;
	u64 serial = 0;

	with_program(EXIT);
	program = dp_at(dp_arena.control.program_off);
	program->logmax = 0;
	assert_false(dp_program_run(0, site(0), &hit, &serial));
	assert_int_equal(serial, 0);
	program->logmax = 1;
	assert_false(dp_program_run(0, site(0), &hit, &serial));
	assert_int_not_equal(serial, 0);
	serial = 5;
	assert_false(dp_program_run(0, site(0), &hit, &serial));
	assert_int_equal(serial, 5);
	with_program(EXIT_N);
	program = dp_at(dp_arena.control.program_off);
	program->logmax = 0;
	site(0)->faults = DP_FAULTS_NEVER;
	serial = 0;
	assert_false(dp_program_run(0, site(0), &hit, &serial));
	r = dp_fake_record();
	assert_non_null(r);
	assert_true(r->ticks);
}

/* Between the look at the probe and the context, control has disabled it, or given its number to
 * another one, at the same site without a program or at another site. */
static void probe_that_goes_meanwhile(void **state)
{
	struct dp_hit hit = { .sp = dp_fake_regs()->rsp };
	struct dp_probe_entry *p;
	u64 serial = 1;
	int i;

	with_program(EXIT_N);
	dp_fake_site(1, AT + 64);
	p = (struct dp_probe_entry *)dp_probe(0);
	for (i = 0; i < 3; i++) {
		const struct dp_probe_entry was = *p;

		p->enabled = i != 0;
		p->program = i != 1;
		p->site = i == 2;
		assert_false(dp_program_run(0, site(0), &hit, &serial));
		assert_int_equal(dp_fake_tally(0, DP_TALLY_DISABLED), i + 1);
		assert_int_equal(dp_probe_state(0)->count, 0);
		assert_int_equal(context(0)->state, DP_CONTEXT_FREE);
		assert_int_equal(context(0)->tid, 0);
		*p = was;
	}
	assert_null(dp_fake_record());
}

#define ALT 0x10000000ull
#define ALT_SIZE 0x1000

/* A thread that hits at its old hit's stack pointer, or above, has left that by siglongjmp;
 * not where one of the two is on the alternate stack. */
static void contexts_that_are_left(void **state)
{
	u64 sp = dp_fake_regs()->rsp;
	const struct {
		u64 sp;
		bool left;
	} cases[] = {
		{ sp + 8, false },	  { sp, true },
		{ sp - 8, true },	  { ALT - 8, true },
		{ ALT, false },		  { ALT + ALT_SIZE - 1, false },
		{ ALT + ALT_SIZE, true },
	};
	struct dp_hit hit = { .sp = sp };
	u32 i;

	with_program(EXIT_N);
	dp_fake_altstack(ALT, ALT_SIZE);
	for (i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		bool left = cases[i / 2].left;

		/* A trap tells the alternate stack, else the kernel is asked. */
		hit.alt_sp = i % 2 ? ALT : 0;
		hit.alt_size = i % 2 ? ALT_SIZE : DP_ALT_UNKNOWN;
		fill_contexts(DP_FAKE_PID, cases[i / 2].sp);
		assert_int_equal(dp_context_claim(&hit) != NULL, left);
		fill_contexts(DP_FAKE_PID, cases[i / 2].sp);
		context(2)->state = DP_CONTEXT_PENDING;
		dp_pending_abandon(DP_FAKE_PID, &hit);
		assert_int_equal(context(2)->state,
				 left ? DP_CONTEXT_FREE : DP_CONTEXT_PENDING);
	}
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

static void record_waits(void **state)
{
	with_program(EXIT_N);
	waiting(0);
	assert_int_equal(hit(AT), POST);
	assert_null(dp_fake_record());
	assert_int_equal(dp_arena.hit.pending, 1);
	assert_int_equal(dp_probe_state(0)->waiting, 1);
	/* Another thread's is none of this one's. */
	dp_fake_thread(1);
	hit(POST + 4);
	assert_null(dp_fake_record());
	dp_fake_thread(0);
	/* Nor a CLONE_VM child's, which goes on behind the program's own. */
	dp_fake_vfork(false);
	assert_int_equal(hit(POST + 4), AT + 1);
	assert_null(dp_fake_record());
	dp_fake_vfork(true);
	assert_int_equal(hit(POST + 4), POST + 5);
	assert_non_null(dp_fake_record());
	assert_int_equal(context(0)->state, DP_CONTEXT_FREE);
	assert_int_equal(dp_arena.hit.pending, 0);
	assert_int_equal(dp_probe_state(0)->waiting, 0);
}

/* Of a thread's records those of the site, and nothing behind the last context. */
static void records_of_several_sites(void **state)
{
	with_program(EXIT_N);
	dp_fake_site(1, AT + 8);
	dp_fake_probe(1, 1, DP_KIND_PLAIN)->program = 1;
	waiting(0);
	waiting(1);
	dp_arena.control.nr_contexts = 2;
	context(2)->state = DP_CONTEXT_PENDING;
	context(2)->tid = DP_FAKE_PID;
	context(2)->serial = 1000;
	hit(AT);
	dp_fake_regs()->rsp -= 8;
	hit(AT + 8);
	hit(site(1)->post + 4);
	assert_int_equal(dp_fake_record()->probe, 1);
	assert_null(dp_fake_record());
	hit(AT + 8);
	dp_fake_regs()->rsp += 8;
	hit(site(0)->post + 4);
	assert_int_equal(dp_fake_record()->probe, 0);
	assert_null(dp_fake_record());
	/* The other one has failed: the thread is where it was before it. */
	hit(AT + 8);
	assert_int_equal(dp_fake_tally(1, DP_TALLY_DISCARDED), 1);
	assert_int_equal(context(2)->state, DP_CONTEXT_PENDING);
}

/* It is seen to fail: a return to where nothing can be. */
static void no_record_of_a_failure(void **state)
{
	static u64 stack[1024];
	u64 *top = stack + 1000;

	with_program(EXIT_N);
	waiting(0);
	site(0)->faults = DP_FAULTS_RET;
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
	waiting(0);
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
	hit(POST + 4);
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
	dp_hit_detour((void *)stack);
	assert_int_equal(dp_arena.hit.linker_asked, 3);
	assert_int_equal(loader_event(0, 5), 5);
	assert_int_equal(dp_arena.hit.linker_late, 2);
}

static struct dp_call_frame *make_frame(void)
{
	memset(words, 0, sizeof(words));
	return (void *)&words[256];
}

static void call_out(struct dp_call_frame *frame, u32 number)
{
	frame->number = number | DP_CALLOUT_UNCOUNTED;
	assert_int_equal(dp_hit_detour(frame), 0);
}

/* A thread on its way through a detour: no signal tells of it. */
static void through_a_detour(void **state)
{
	struct dp_call_frame *frame = make_frame();

	dp_fake_site(0, AT);
	dp_fake_site(1, AT + 8);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	dp_fake_probe(1, 1, DP_KIND_PLAIN);
	call_out(frame, 1);
	assert_int_equal(dp_fake_count(0), 0);
	assert_int_equal(dp_fake_count(1), 1);
	assert_int_equal(frame->regs.ip, AT + 8);
	assert_int_equal(frame->regs.sp, (u64)(frame + 1) + DP_RED_ZONE);
	/* It tells of a completed instruction, for which no record waits. */
	call_out(frame, 1 | DP_CALLOUT_AFTER);
	assert_int_equal(dp_fake_count(1), 1);
	dp_fake_vfork(false);
	call_out(frame, 1);
	assert_int_equal(dp_fake_count(1), 1);
	assert_int_equal(dp_arena.hit.missed[DP_MISSED_FORK], 1);
	/* It has come while such a child is there. */
	dp_fake_vfork(true);
	dp_arena.hit.vm_children = 1;
	call_out(frame, 1);
	assert_int_equal(dp_fake_count(1), 2);
	dp_arena.control.revertible = 1;
	dp_fake_fork();
	call_out(frame, 1);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, DP_SIG_DFL);
	assert_int_equal(dp_fake_count(1), 2);
	assert_int_equal(dp_arena.hit.missed[DP_MISSED_FORK], 1);
}

/* With this stack pointer, before and after */
static u64 hit_at(u64 pc, u64 *sp)
{
	dp_fake_regs()->rsp = *sp;
	hit(pc);
	*sp = dp_fake_regs()->rsp;
	return dp_fake_regs()->rip;
}

/* The thread goes to where the word at its stack pointer says, and the probes behind see none of it. */
static void leaves_a_function(void **state)
{
	const u8 other[] = { EXIT_N, 3 };
	u64 *stack = &words[500], sp = (u64)stack;

	*stack = 0x4711;
	with_program(LEAVE);
	dp_fake_probe(1, 0, DP_KIND_PLAIN);
	dp_fake_program(1, other, sizeof(other));
	assert_int_equal(hit_at(AT, &sp), 0x4711);
	assert_int_equal(sp, (u64)&stack[1]);
	assert_null(dp_fake_record());
}

static void leaves_through_a_detour(void **state)
{
	struct dp_call_frame *frame = make_frame();
	u64 *sp = (u64 *)((u64)(frame + 1) + DP_RED_ZONE);

	with_program(LEAVE);
	*sp = 0x4712;
	frame->number = DP_CALLOUT_UNCOUNTED;
	assert_int_equal(dp_hit_detour(frame), 1);
	assert_int_equal(frame->regs.ip, 0x4712);
	assert_int_equal(frame->regs.sp, (u64)(sp + 1));
}

/* What is pushed goes where the detour itself has pushed. */
static void record_of_a_detour(void **state)
{
	struct dp_call_frame *frame = make_frame();
	u64 sp = (u64)(frame + 1) + DP_RED_ZONE;

	with_program(EXIT_N);
	waiting(0);
	site(0)->faults = DP_FAULTS_PUSH;
	dp_fake_bad(sp - 8, 8);
	call_out(frame, 0);
	assert_non_null(dp_fake_record());
	site(0)->faults = DP_FAULTS_OTHER;
	call_out(frame, 0);
	assert_null(dp_fake_record());
	call_out(frame, DP_CALLOUT_AFTER);
	assert_non_null(dp_fake_record());
}

static struct dp_observed_frame *observe(u32 number)
{
	struct dp_observed_frame *frame = (void *)&words[256];

	frame->number = number | DP_CALLOUT_UNCOUNTED;
	frame->back = 5;
	dp_intercept_detour(frame);
	return frame;
}

/* A system call's detour calls out for the probes and the call, and behind the call; a plain
 * one's for the probes, for the call, and behind it. Return: back was moved. */
static bool observed(u32 call, u32 what)
{
	struct dp_mcontext *regs = (void *)&words[256];
	u64 back;

	memset(words, 0, sizeof(words));
	regs->rax = call;
	regs->r10 = DP_SIGSET_BYTES;
	back = observe(what)->back;
	assert_true(back == 5 || back == DETOUR + 0x40 - DP_CALLOUT_TAIL);
	return back != 5;
}

static void observed_calls(void **state)
{
	struct dp_site_entry *s = dp_fake_site(0, AT);

	s->intercept = DP_INTERCEPT_OBSERVED;
	s->number = DP_ANY_CALL;
	*dp_fake_jump(s) =
		(struct dp_jump){ .base = DETOUR, .nr = 1, .at = { 8, 0x40 } };
	assert_true(observed(__NR_rt_sigprocmask, 0));
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	assert_true(observed(__NR_rt_sigprocmask, 0));
	assert_false(observed(__NR_getpid, 0));
	assert_int_equal(dp_fake_count(0), 2);
	assert_false(observed(__NR_rt_sigprocmask, DP_CALLOUT_AFTER));
	s->number = DP_PLAIN_CALL;
	assert_false(observed(__NR_rt_sigprocmask, 0));
	assert_int_equal(dp_fake_count(0), 3);
	assert_true(observed(__NR_rt_sigprocmask, DP_CALLOUT_CALLS));
	assert_false(observed(__NR_rt_sigprocmask, DP_CALLOUT_AFTER));
	assert_int_equal(dp_fake_count(0), 3);
	/* Children's calls pass, and are no hits. */
	s->number = DP_ANY_CALL;
	dp_fake_vfork(false);
	dp_arena.hit.vm_children = 1;
	assert_true(observed(__NR_rt_sigprocmask, 0));
	dp_fake_vfork(true);
	dp_fake_fork();
	assert_true(observed(__NR_rt_sigprocmask, 0));
	assert_int_equal(dp_fake_count(0), 3);
}

/* Another site's probes, on an instruction that the call's detour displaces: the program
 * sees the thread's registers, and changes them. */
static void beside_an_observed_call(void **state)
{
	struct dp_mcontext *regs = (void *)&words[256];

	memset(words, 0, sizeof(words));
	with_program(EXIT_N);
	waiting(0);
	site(0)->faults = DP_FAULTS_OTHER;
	assert_int_equal(observe(0)->back, 5);
	assert_int_equal(regs->rip, AT);
	assert_int_equal(regs->rsp,
			 (u64)((struct dp_observed_frame *)regs + 1) +
				 DP_RED_ZONE);
	assert_int_equal(dp_fake_count(0), 1);
	assert_null(dp_fake_record());
	observe(DP_CALLOUT_AFTER);
	assert_non_null(dp_fake_record());
	assert_int_equal(dp_fake_count(0), 1);
}

/* Handlers in C, of which none is called without a stack */
static void handlers_of_a_call(void **state)
{
	struct dp_site_entry *s = dp_fake_site(0, AT);

	dp_fake_probe(0, 0, DP_KIND_KPROBE)->nmissed =
		(u64)dp_at(dp_fake_room(8));
	s->calls = 1;
	call_out(make_frame(), 0);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
	assert_int_equal(dp_fake_count(0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(counts, begin),
		cmocka_unit_test_setup(each_cpu_its_own_shard, begin),
		cmocka_unit_test_setup(counts_sites, begin),
		cmocka_unit_test_setup(tool_is_gone, begin),
		cmocka_unit_test_setup(record_of_a_program, begin),
		cmocka_unit_test_setup(leaves_a_function, begin),
		cmocka_unit_test_setup(leaves_through_a_detour, begin),
		cmocka_unit_test_setup(one_of_two_generations, begin),
		cmocka_unit_test_setup(waits_for_a_core, begin),
		cmocka_unit_test_setup(waits_in_vain, begin),
		cmocka_unit_test_setup(takes_a_place_over, begin),
		cmocka_unit_test_setup(goes_back_for_a_debugger, begin),
		cmocka_unit_test_setup(no_record, begin),
		cmocka_unit_test_setup(too_early_and_too_often, begin),
		cmocka_unit_test_setup(without_limits, begin),
		cmocka_unit_test_setup(removes_itself, begin),
		cmocka_unit_test_setup(resumes, begin),
		cmocka_unit_test_setup(machine_of_a_program, begin),
		cmocka_unit_test_setup(record_of_a_log, begin),
		cmocka_unit_test_setup(reads_the_clock_for_records, begin),
		cmocka_unit_test_setup(probe_that_goes_meanwhile, begin),
		cmocka_unit_test_setup(no_context, begin),
		cmocka_unit_test_setup(contexts_that_are_left, begin),
		cmocka_unit_test_setup(full_ring, begin),
		cmocka_unit_test_setup(record_waits, begin),
		cmocka_unit_test_setup(records_of_several_sites, begin),
		cmocka_unit_test_setup(no_record_of_a_failure, begin),
		cmocka_unit_test_setup(record_is_discarded, begin),
		cmocka_unit_test_setup(loader_events, begin),
		cmocka_unit_test_setup(loader_events_of_a_stopped_tool, begin),
		cmocka_unit_test_setup(child_in_our_memory, begin),
		cmocka_unit_test_setup(through_a_detour, begin),
		cmocka_unit_test_setup(handlers_of_a_call, begin),
		cmocka_unit_test_setup(observed_calls, begin),
		cmocka_unit_test_setup(beside_an_observed_call, begin),
		cmocka_unit_test_setup(record_of_a_detour, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
