// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * upcall: hits whose handlers run in the tool, or have been put here by the tool, in a world
 * in memory. What the tool does while a thread waits is a function of the test.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "arch/arch.h"
#include "port/fake/hit/world.h"
#include "port.h"
#include "engine/insn/callout.h"
#include "engine/insn/class.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/layout/handler.h"
#include "steps.h"

#define AT 0x401000ull
#define DETOUR 0x7000000ull
#define PLACES 2
#define DEADLINE 50
#define USR1 DP_SIGMASK(10)
#define SEGV DP_SIGMASK(11)

static struct dp_site_entry *site;
static struct dp_upcalls *asks;
static u64 words[256];
static u8 alternate[0x10000] __attribute__((aligned(64)));

/* What the tool, or a handler that it has put here, was shown, and what it changes. */
static struct {
	u32 calls, probe, tid, slot;
	struct dp_regs regs;
	u64 mask, sp;
} seen;
static struct dp_regs given;
static u32 idle; /* so often it does nothing first */

static void change(struct dp_regs *regs)
{
	seen.calls++;
	seen.regs = *regs;
	seen.mask = dp_fake_mask();
	if (given.ax)
		regs->ax = given.ax;
	if (given.ip)
		regs->ip = given.ip;
	if (given.sp)
		regs->sp = given.sp;
}

static void answer(void)
{
	u32 i;

	for (i = 0; i < asks->high; i++) {
		struct dp_upcall *a = &asks->v[i];

		if (a->state != DP_UPCALL_REQUESTED || idle) {
			idle -= !!idle;
			continue;
		}
		seen.probe = a->probe;
		seen.tid = a->tid;
		seen.slot = i;
		change((struct dp_regs *)a->regs);
		a->state = DP_UPCALL_ANSWERED;
	}
}

/* It takes what is asked, and never answers. */
static void take_it(void)
{
	if (asks->v[0].state == DP_UPCALL_REQUESTED)
		asks->v[0].state = DP_UPCALL_RUNS;
}

static void end(void)
{
	asks->owner |= DP_TOOL_DIED;
}

static void make_room(void)
{
	if (idle && !--idle)
		asks->v[1].state = DP_UPCALL_FREE;
	if (!idle)
		answer();
}

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT);
	dp_fake_theres();
	asks = dp_fake_upcalls(PLACES);
	dp_fake_tool(answer);
	site = dp_fake_site(0, AT);
	site->calls = 1;
	dp_fake_jump(site)->base = DETOUR;
	dp_fake_jump(site)->insn[0] = 24;
	memset(&seen, 0, sizeof(seen));
	memset(&given, 0, sizeof(given));
	memset(words, 0, sizeof(words));
	idle = 0;
	return 0;
}

static struct dp_probe_entry *asking(u32 i)
{
	struct dp_probe_entry *p = dp_fake_probe(i, 0, DP_KIND_UPCALL);

	p->deadline = DEADLINE;
	return p;
}

static u64 hit(void)
{
	dp_fake_breakpoint(AT);
	return dp_fake_regs()->rip;
}

static struct dp_call_frame *frame(void)
{
	struct dp_call_frame *f = (void *)&words[128];

	memset(f, 0, sizeof(*f));
	return f;
}

/* A detour that has not counted */
static u64 call_out(struct dp_call_frame *f)
{
	f->number |= DP_CALLOUT_UNCOUNTED;
	return dp_hit_detour(f);
}

/* By a branch that is not taken, a function is not left. */
static void is_taken(void **state)
{
	site->class = DP_INSN_JCC;
	site->cc = 4; /* equal */
	asking(0)->way = DP_WAY_TAIL | DP_WAY_TAKEN;
	assert_int_equal(hit(), site->copy);
	call_out(frame());
	assert_int_equal(seen.calls, 0);
	dp_fake_regs()->eflags = DP_ZF;
	hit();
	frame()->regs.flags = DP_ZF;
	call_out((void *)&words[128]);
	assert_int_equal(seen.calls, 2);
}

static void is_answered(void **state)
{
	asking(0);
	asking(1);
	dp_fake_thread(2);
	dp_fake_regs()->rdi = 7;
	given.ax = 9;
	assert_int_equal(hit(), site->copy);
	assert_int_equal(seen.calls, 2);
	assert_int_equal(seen.probe, 1);
	assert_int_equal(seen.tid, DP_FAKE_PID + 2);
	assert_int_equal(seen.regs.di, 7);
	assert_int_equal(seen.regs.ip, AT);
	assert_int_equal(seen.regs.ax, 9);
	assert_int_equal(dp_fake_regs()->rax, 9);
	assert_int_equal(asks->high, 1);
	assert_int_equal(asks->calls, 2);
	assert_int_equal(asks->v[0].state, DP_UPCALL_FREE);
	assert_int_equal(dp_fake_count(0), 1);
	assert_int_equal(dp_fake_mask(), 0);
	given.ip = 0x999000;
	assert_int_equal(hit(), 0x999000);
}

static void which_are_asked(void **state)
{
	asking(0)->enabled = 0;
	asking(1);
	asking(2);
	asking(3);
	dp_probe_state(1)->status = DP_PROBE_REMOVED;
	dp_probe_state(2)->status = DP_PROBE_FAULTED;
	hit();
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.probe, 3);
	/* One that has gone has made room for another, elsewhere. */
	((struct dp_probe_entry *)dp_probe(1))->site = 1;
	hit();
	assert_int_equal(seen.calls, 1);
	assert_int_equal(dp_fake_count(0), 2);
}

/* Signals wait meanwhile, as for a thread that is stopped. */
static void through_a_detour(void **state)
{
	struct dp_call_frame *f = frame();

	asking(0);
	dp_fake_set_mask(USR1);
	f->regs.di = 7;
	f->regs.orig_ax = 8;
	assert_int_equal(call_out(f), 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.regs.di, 7);
	assert_int_equal(seen.regs.ip, AT);
	assert_int_equal(seen.regs.sp, (u64)(f + 1) + DP_RED_ZONE);
	assert_int_not_equal(seen.mask & SEGV, 0);
	assert_int_equal(dp_fake_mask(), USR1);
	given.ax = 9;
	assert_int_equal(call_out(f), 0);
	assert_int_equal(f->regs.ax, 9);
	assert_int_equal(f->regs.orig_ax, 8);
	given.sp = 0x1230;
	assert_int_equal(call_out(f), 1);
	assert_int_equal(f->regs.sp, 0x1230);
	assert_int_equal(f->regs.ip, DETOUR + 24);
	given.ip = 0x999000;
	assert_int_equal(call_out(f), 1);
	assert_int_equal(f->regs.ip, 0x999000);
	assert_int_equal(dp_fake_count(0), 4);
}

static void of_a_system_call(void **state)
{
	struct dp_mcontext *mc = dp_fake_regs();
	u64 sp = mc->rsp;

	asking(0)->nmissed = (u64)dp_at(dp_fake_room(8));
	mc->rip = AT;
	dp_fake_set_mask(USR1);
	given = (struct dp_regs){ .ax = 9, .sp = 0x1230 };
	dp_hit_observed(dp_site_index(site), mc);
	assert_int_equal(mc->rax, 9);
	assert_int_equal(mc->rsp, sp);
	assert_int_equal(mc->rip, AT);
	assert_int_not_equal(seen.mask & SEGV, 0);
	assert_int_equal(dp_fake_mask(), USR1);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 0);
}

/* It goes on with the registers that it had. */
static void no_answer(void **state)
{
	u64 began;

	asking(0);
	dp_fake_tool(NULL);
	given.ax = 9;
	began = dp_port_now();
	assert_int_equal(hit(), site->copy);
	assert_in_range(dp_port_now() - began, DEADLINE, DEADLINE + 10);
	assert_int_equal(dp_fake_regs()->rax, 0);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_UNANSWERED), 1);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_UNHEARD), 0);
	assert_int_equal(asks->v[0].state, DP_UPCALL_FREE);
	/* The handler runs: the tool is to free the place. */
	dp_fake_tool(take_it);
	hit();
	assert_int_equal(dp_fake_tally(0, DP_TALLY_UNANSWERED), 2);
	assert_int_equal(asks->v[0].state, DP_UPCALL_ABANDONED);
	/* Another place is taken for the next one, and it is looked there. */
	dp_fake_tool(answer);
	hit();
	assert_int_equal(seen.slot, 1);
	assert_int_equal(asks->high, 2);
	assert_int_equal(dp_fake_regs()->rax, 9);
}

static void one_hit(void)
{
	hit();
}

/* The tool frees an abandoned place at once, and another thread takes the place. */
static void free_it(void)
{
	if (asks->v[0].state == DP_UPCALL_ABANDONED)
		asks->v[0].state = DP_UPCALL_TAKEN;
}

static void place_is_anothers(void **state)
{
	asking(0);
	dp_fake_tool(take_it);
	steps(one_hit, free_it);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_UNANSWERED), 1);
	assert_int_equal(asks->v[0].state, DP_UPCALL_TAKEN);
}

/* In time, though late. */
static void patience(void **state)
{
	asking(0);
	idle = DEADLINE / 2;
	hit();
	assert_int_equal(seen.calls, 1);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_UNANSWERED), 0);
}

static u32 waits;

/* The tool does nothing, and ends before the thread would wait for ever. */
static void end_at_last(void)
{
	if (++waits == 1000)
		end();
}

static void answer_late(void)
{
	if (asks->v[0].state == DP_UPCALL_REQUESTED && ++waits == 3000)
		answer();
}

/* A filter forbids the clock. */
static void no_clock(void **state)
{
	asking(0);
	dp_arena.control.forbidden = dp_own_bit(__NR_clock_gettime);
	waits = 0;
	dp_fake_tool(end_at_last);
	hit();
	assert_int_equal(dp_fake_tally(0, DP_TALLY_UNANSWERED), 1);
	asks->v[0].state = asks->v[1].state = DP_UPCALL_RUNS;
	hit();
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
	/* Nor can the thread sleep: it waits for the tool. */
	asks->v[0].state = DP_UPCALL_FREE;
	waits = 0;
	dp_arena.control.forbidden |= dp_own_bit(__NR_futex);
	steps(one_hit, answer_late);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_UNANSWERED), 1);
}

static void tool_is_gone(void **state)
{
	u64 began;

	asking(0);
	dp_fake_tool(end);
	began = dp_port_now();
	assert_int_equal(hit(), site->copy);
	assert_in_range(dp_port_now() - began, 1, DEADLINE / 2);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_UNHEARD), 1);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_UNANSWERED), 0);
	assert_int_equal(asks->v[0].state, DP_UPCALL_FREE);
	assert_false(dp_upcall_is_heard());
	/* Nor has there been one. */
	asks->owner = 0;
	assert_false(dp_upcall_is_heard());
	asks->owner = 5;
	assert_true(dp_upcall_is_heard());
}

/* As many as there is room for wait already. */
static void crowd(void **state)
{
	u64 began;

	asking(0);
	asks->v[0].state = asks->v[1].state = DP_UPCALL_RUNS;
	began = dp_port_now();
	hit();
	assert_in_range(dp_port_now() - began, DEADLINE, DEADLINE + 10);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
	assert_int_equal(seen.calls, 0);
	/* One of them goes on meanwhile. */
	idle = 3;
	dp_fake_tool(make_room);
	hit();
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.slot, 1);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
	/* Or the tool ends. */
	asks->v[1].state = DP_UPCALL_RUNS;
	dp_fake_tool(end);
	began = dp_port_now();
	hit();
	assert_in_range(dp_port_now() - began, 1, DEADLINE / 2);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_UNHEARD), 1);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
}

/* --- handlers that have been put here --- */

static u32 there(u64 user, struct dp_regs *regs)
{
	assert_int_equal(user, 5);
	seen.sp = (u64)__builtin_frame_address(0);
	change(regs);
	__asm__ volatile("xorps %%xmm3, %%xmm3" : : : "xmm3");
	return 0;
}

static struct dp_probe_entry *put(u32 i)
{
	struct dp_probe_entry *p = dp_fake_probe(i, 0, DP_KIND_INJECTED);

	p->pre = (u64)there;
	p->user = 5;
	return p;
}

static struct dp_injected *place(u32 i)
{
	return (void *)(dp_arena.control.injected_base +
			(u64)i * DP_INJECTED_SIZE);
}

static void runs_here(void **state)
{
	put(0);
	dp_fake_regs()->rdi = 7;
	given.ax = 9;
	assert_int_equal(hit(), site->copy);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.regs.di, 7);
	assert_int_equal(seen.regs.ip, AT);
	assert_int_equal(dp_fake_regs()->rax, 9);
	assert_in_range(seen.sp, (u64)place(0), (u64)place(1));
	assert_int_equal(place(0)->probe, 0);
	assert_int_equal(place(0)->guard, 0);
	/* Its faults have to come, and no other signal. */
	assert_int_equal(call_out(frame()), 0);
	assert_int_equal(seen.mask & SEGV, 0);
	assert_int_not_equal(seen.mask & USR1, 0);
	assert_int_equal(dp_fake_mask(), 0);
	given.ip = 0x999000;
	assert_int_equal(hit(), 0x999000);
}

/* The tool's handlers are asked with all blocked, those here with faults open. */
static void both_kinds(void **state)
{
	asking(0);
	put(1);
	call_out(frame());
	assert_int_equal(seen.calls, 2);
	assert_int_equal(seen.mask & SEGV, 0);
	begin(state);
	put(0);
	asking(1);
	call_out(frame());
	assert_int_equal(seen.calls, 2);
	assert_int_not_equal(seen.mask & SEGV, 0);
}

/* Another kind of probe is not called where handlers run in the tool. */
static void another_kind(void **state)
{
	dp_fake_probe(0, 0, DP_KIND_KPROBE)->pre = (u64)there;
	hit();
	assert_int_equal(seen.calls, 0);
}

static void does_not_run(void **state)
{
	u32 i;

	put(0);
	for (i = 0; i < DP_INJECTED_MAX; i++)
		place(i)->probe = 7;
	assert_int_equal(hit(), site->copy);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
	place(DP_INJECTED_MAX - 1)->probe = 0;
	hit();
	assert_int_equal(seen.calls, 1);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 1);
	dp_arena.control.injected_base = 0;
	hit();
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 2);
	asks->owner |= DP_TOOL_DIED;
	hit();
	assert_int_equal(dp_fake_tally(0, DP_TALLY_UNHEARD), 1);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 2);
	assert_int_equal(seen.calls, 1);
}

/* It is looked once more when the place is taken: who takes the probe away waits for
 * those that are in one. */
static void taken_away(void **state)
{
	struct dp_probe_entry *p = put(0);
	struct dp_injected *t = dp_injected_begin(0);

	assert_ptr_equal(t, place(0));
	assert_int_equal(t->probe, 1);
	dp_injected_end(t);
	p->enabled = 0;
	assert_null(dp_injected_begin(0));
	assert_int_equal(place(0)->probe, 0);
	p->enabled = 1;
	dp_probe_state(0)->status = DP_PROBE_REMOVED;
	assert_null(dp_injected_begin(0));
	assert_int_equal(place(0)->probe, 0);
	dp_probe_state(0)->status = DP_PROBE_SUSPENDED;
	assert_non_null(dp_injected_begin(0));
}

static u64 left_of_xmm3(u8 needs)
{
	struct dp_injected *t = place(1);
	u64 now = 0x1234567812345678;

	((struct dp_probe_entry *)dp_probe(0))->pre_needs = needs;
	t->probe = 1;
	__asm__ volatile("movq %0, %%xmm3" : : "r"(now) : "xmm3");
	dp_injected_call(t, 0);
	__asm__ volatile("movq %%xmm3, %0" : "=r"(now) : :);
	return now;
}

static void what_it_uses(void **state)
{
	put(0);
	dp_arena.control.vectors = DP_STATE_SSE_MATH;
	assert_int_equal(left_of_xmm3(DP_STATE_GENERAL), 0);
	assert_int_equal(left_of_xmm3(DP_STATE_SSE), 0x1234567812345678);
	assert_int_equal(left_of_xmm3(DP_STATE_ALL), 0x1234567812345678);
}

/* As a signal does: what the thread's registers are when it has been handled. */
static u32 fault(u64 user, struct dp_regs *ptregs)
{
	struct dp_mcontext *regs = dp_fake_regs();

	seen.calls++;
	regs->rip = 0x1234;
	regs->rsp = (u64)__builtin_frame_address(0);
	dp_fake_raise(11, 1);
	if (regs->rip == (u64)dp_guard_up)
		__asm__ volatile("mov %0, %%rsp\n\tjmp *%1"
				 :
				 : "r"(regs->rsp), "r"(regs->rip));
	return 0;
}

static void is_given_up(void **state)
{
	struct dp_call_frame *f = frame();

	/* Here the world's own functions run on the stack where the signal comes. */
	dp_fake_altstack((u64)alternate, sizeof(alternate));
	dp_arena.control.own_process = 1;
	put(0)->pre = (u64)fault;
	put(1);
	f->regs.di = 7;
	assert_int_equal(call_out(f), 0);
	assert_int_equal(seen.calls, 2);
	assert_int_equal(dp_probe_state(0)->status, DP_PROBE_FAULTED);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_FAULTED), 1);
	assert_int_equal(dp_arena.hit.news, 1);
	assert_int_equal(place(0)->probe, 0);
	assert_int_equal(place(0)->guard, 0);
	assert_int_equal(f->regs.di, 7);
	assert_int_equal(call_out(f), 0);
	assert_int_equal(seen.calls, 3);
}

/* Whose is a fault? */
static void faults(void **state)
{
	struct dp_mcontext mc = { .rip = 0x1234 };

	put(0);
	place(3)->guard = 0x5550;
	mc.rsp = (u64)place(3) + 100;
	assert_true(dp_injected_fault(&mc));
	assert_int_equal(mc.rip, (u64)dp_guard_up);
	assert_int_equal(mc.rsp, 0x5550);
	mc.rsp = (u64)place(4) + 100;
	assert_false(dp_injected_fault(&mc));
	mc.rsp = (u64)place(DP_INJECTED_MAX);
	assert_false(dp_injected_fault(&mc));
	mc.rsp = (u64)place(0) - 8;
	assert_false(dp_injected_fault(&mc));
	mc.rsp = (u64)place(3) + 100;
	dp_arena.control.injected_base = 0;
	assert_false(dp_injected_fault(&mc));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(is_taken, begin),
		cmocka_unit_test_setup(is_answered, begin),
		cmocka_unit_test_setup(which_are_asked, begin),
		cmocka_unit_test_setup(through_a_detour, begin),
		cmocka_unit_test_setup(of_a_system_call, begin),
		cmocka_unit_test_setup(no_answer, begin),
		cmocka_unit_test_setup(place_is_anothers, begin),
		cmocka_unit_test_setup(patience, begin),
		cmocka_unit_test_setup(no_clock, begin),
		cmocka_unit_test_setup(tool_is_gone, begin),
		cmocka_unit_test_setup(crowd, begin),
		cmocka_unit_test_setup(runs_here, begin),
		cmocka_unit_test_setup(both_kinds, begin),
		cmocka_unit_test_setup(another_kind, begin),
		cmocka_unit_test_setup(does_not_run, begin),
		cmocka_unit_test_setup(taken_away, begin),
		cmocka_unit_test_setup(what_it_uses, begin),
		cmocka_unit_test_setup(is_given_up, begin),
		cmocka_unit_test_setup(faults, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
