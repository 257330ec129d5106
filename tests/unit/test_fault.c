// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fault: what the processor raises in copies and in handlers, and hits whose probes are
 * handlers in C, in a world in memory.
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
#include "port/user/signals/mask.h"
#include "port.h"
#include "engine/insn/class.h"
#include "engine/insn/callout.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/layout/handler.h"
#include "port_hit.h"

#define AT 0x401000ull
#define HANDLER 0x5000000ull
#define SIGSEGV 11
#define SEGV_MAPERR 1
#define FPE_INTDIV 1
#define SENT (-6)

static struct dp_regs seen, given;
static u32 calls, afters, mends, result;
static struct dp_site_entry *inner;

/* What the thread was like while a fault_handler ran */
static struct {
	struct dp_stack stack;
	u64 alt_sp, alt_size;
} during;
static u8 alternate[0x4000] __attribute__((aligned(64)));

static u32 pre(u64 user, struct dp_regs *regs)
{
	assert_int_equal(user, 5);
	seen = *regs;
	calls++;
	if (given.ip)
		regs->ip = given.ip;
	if (given.ax)
		regs->ax = given.ax;
	return result;
}

static void post(u64 user, struct dp_regs *regs)
{
	assert_int_equal(user, 5);
	seen = *regs;
	afters++;
}

/* Return: it has mended what was raised. */
static u32 mend(u64 user, struct dp_regs *regs, u64 cause)
{
	assert_int_equal(user, 5);
	assert_int_equal(cause, 14);
	seen = *regs;
	during.stack = *dp_stack_known();
	dp_port_altstack(&during.alt_sp, &during.alt_size);
	mends++;
	regs->ax = 55;
	if (given.ip)
		regs->ip = given.ip;
	return result;
}

static int begin(void **state)
{
	u32 k;

	dp_fake_begin(DP_CAUGHT);
	dp_arena.control.own_process = 1;
	dp_fake_stacks();
	dp_arena.control.pools[0].start = dp_fake_copy(0);
	dp_arena.control.pools[0].size = DP_PAGE;
	dp_arena.control.nr_pools = 1;
	for (k = 0; k < DP_CAUGHT; k++) {
		struct dp_kernel_sigaction act = { .handler = HANDLER,
						   .flags = DP_SA_RESTORER };

		dp_action_set(k, &act, NULL);
	}
	inner = dp_fake_site(0, AT);
	inner->single_len = 16;
	inner->single = inner->copy;
	memset(&seen, 0, sizeof(seen));
	memset(&given, 0, sizeof(given));
	calls = afters = mends = result = 0;
	return 0;
}

static struct dp_probe_entry *kprobe(u32 i)
{
	struct dp_probe_entry *p = dp_fake_probe(i, 0, DP_KIND_KPROBE);

	inner->calls = 1;
	p->pre = (u64)pre;
	p->user = 5;
	p->nmissed = (u64)dp_at(dp_fake_room(8));
	return p;
}

static u64 fault_at(u32 sig, s32 code, u64 pc)
{
	dp_fake_regs()->rip = pc;
	dp_fake_raise(sig, code);
	return dp_fake_seen.entered ? (dp_fake_return(), dp_fake_regs()->rip) :
				      0;
}

/* The program is to see its own instruction where the copy's failed. */
static void in_a_copy(void **state)
{
	assert_int_equal(fault_at(SIGSEGV, SEGV_MAPERR, inner->copy + 3), AT);
	assert_int_equal(dp_fake_seen.handler, HANDLER);
	assert_int_equal(dp_fake_seen.info.fields[0], inner->copy + 3);
	assert_int_equal(fault_at(DP_SIGFPE, FPE_INTDIV, inner->copy), AT);
	assert_int_equal(dp_fake_seen.info.fields[0], AT);
	assert_int_equal(fault_at(SIGSEGV, SEGV_MAPERR, inner->copy + 16),
			 inner->copy + 16);
	assert_int_equal(fault_at(SIGSEGV, SEGV_MAPERR, 0x1234), 0x1234);
	/* One that was sent says nothing of where the thread was. */
	assert_int_equal(fault_at(SIGSEGV, SENT, inner->copy + 3),
			 inner->copy + 3);
}

/* Of several instructions in a detour that which failed. */
static void in_a_detour(void **state)
{
	*dp_fake_jump(inner) = (struct dp_jump){ .site = dp_site_index(inner),
						 .base = dp_fake_copy(4),
						 .len = 64,
						 .nr = 3,
						 .offset = { 0, 2, 5 },
						 .at = { 8, 20, 40 } };
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(4) + 9), AT);
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(4) + 19), AT);
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(4) + 20), AT + 2);
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(4) + 63), AT + 5);
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(4) + 64),
			 dp_fake_copy(4) + 64);
	/* Where no copies are nobody looks for one. */
	dp_arena.control.nr_pools = 0;
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(4) + 20),
			 dp_fake_copy(4) + 20);
}

/* Of several sites, and of several copies of one */
static void in_one_of_many(void **state)
{
	struct dp_arena_control *c = &dp_arena.control;
	struct dp_site_entry *s = dp_fake_site(1, AT + 8);

	inner->post = dp_fake_copy(5);
	inner->post_len = 16;
	s->single_len = 16;
	c->pools[0].size = dp_fake_copy(5) - c->pools[0].start;
	c->pools[1].start = dp_fake_copy(5);
	c->pools[1].size = DP_PAGE;
	c->nr_pools = 2;
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(5) + 15), AT);
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(0) + 15), AT);
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(1) + 15), AT + 8);
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(7)),
			 dp_fake_copy(7));
	c->nr_sites = 1;
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(1) + 15),
			 dp_fake_copy(1) + 15);
}

/* A child that cannot give the text back runs through the copies. */
static void in_a_child(void **state)
{
	dp_fake_fork();
	assert_int_equal(fault_at(SIGSEGV, 1, inner->copy + 3), AT);
	assert_int_equal(fault_at(DP_SIGFPE, FPE_INTDIV, inner->copy), AT);
	assert_int_equal(dp_fake_seen.info.fields[0], AT);
	assert_int_equal(fault_at(SIGSEGV, 1, 0x1234), 0x1234);
}

static u64 hit(void)
{
	dp_fake_breakpoint(AT);
	return dp_fake_regs()->rip;
}

static void handler_is_called(void **state)
{
	kprobe(0);
	dp_fake_regs()->rdi = 77;
	given.ax = 99;
	assert_int_equal(hit(), inner->copy);
	assert_int_equal(calls, 1);
	assert_int_equal(seen.di, 77);
	assert_int_equal(seen.ip, AT + 1);
	assert_int_equal(seen.sp, dp_fake_regs()->rsp);
	assert_int_equal(dp_fake_regs()->rax, 99);
	assert_int_equal(dp_fake_count(0), 1);
	assert_int_equal(dp_stack_busy(dp_stack_known()), 0);
}

/* It goes where the handler says, and the others are not called. */
static void handler_changes_the_way(void **state)
{
	kprobe(0);
	kprobe(1);
	given.ip = 0x999000;
	result = 1;
	assert_int_equal(hit(), 0x999000);
	assert_int_equal(calls, 1);
	result = 0;
	assert_int_equal(hit(), inner->copy);
	assert_int_equal(calls, 3);
}

static void after_the_instruction(void **state)
{
	kprobe(0)->post = (u64)post;
	inner->post = dp_fake_copy(2);
	inner->post_body = 4;
	inner->insn_len = 3;
	dp_fake_index(inner->post + 4, 0);
	assert_int_equal(hit(), inner->post);
	assert_int_equal(afters, 0);
	dp_fake_breakpoint(inner->post + 4);
	assert_int_equal(afters, 1);
	assert_int_equal(calls, 1);
	assert_int_equal(seen.ip, AT + 3);
	assert_int_equal(dp_fake_regs()->rip, AT + 3);
}

/* Behind a branch no breakpoint can be put: it is made in registers. */
static void after_a_branch(void **state)
{
	kprobe(0)->post = (u64)post;
	inner->class = DP_INSN_JMP;
	inner->target = 0x402000;
	assert_int_equal(hit(), 0x402000);
	assert_int_equal(calls, 1);
	assert_int_equal(afters, 1);
	assert_int_equal(seen.ip, 0x402000);
}

static void inside_of_a_handler(void **state)
{
	struct dp_probe_entry *p = kprobe(0);
	u64 sp = dp_fake_regs()->rsp;

	hit();
	dp_fake_regs()->rsp = dp_stack_low(dp_stack_known()) + 4096;
	assert_int_equal(hit(), inner->copy);
	assert_int_equal(calls, 1);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_RECURSED), 1);
	assert_int_equal(*(u64 *)p->nmissed, 1);
	dp_fake_regs()->rsp = sp;
	hit();
	assert_int_equal(calls, 2);
	/* In the library itself it is counted apart. */
	dp_stack_known()->busy = DP_BUSY_SELF;
	hit();
	assert_int_equal(calls, 2);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_SELF), 1);
	assert_int_equal(*(u64 *)p->nmissed, 1);
}

/* Each thread has a stack of its own; that of one that has ended is taken over. */
static void stack_of_a_thread(void **state)
{
	struct dp_stack *first;
	u32 *owners = dp_at(dp_arena.control.owner_off);

	kprobe(0);
	hit();
	first = dp_stack_known();
	assert_int_equal(owners[0], DP_FAKE_PID);
	dp_fake_thread(1);
	assert_null(dp_stack_known());
	hit();
	assert_ptr_not_equal(dp_stack_known(), first);
	assert_int_equal(owners[1], DP_FAKE_PID + 1);
	assert_int_equal(calls, 2);
	dp_fake_thread(0);
	assert_ptr_equal(dp_stack_known(), first);
	dp_stack_leave();
	assert_int_equal(owners[0], 0);
	dp_fake_thread(2);
	hit();
	assert_ptr_equal(dp_stack_known(), first);
}

/* A handler that faults is left, and not called again. */
static void faulting_handler(void **state)
{
	struct dp_stack *stack;
	static u64 elsewhere[1024];
	u64 guard = 0;

	kprobe(0);
	hit();
	stack = dp_stack_known();
	stack->busy = DP_BUSY_HANDLER;
	stack->probe = 1;
	stack->guard = (u64)&guard;
	dp_fake_regs()->rsp = dp_stack_low(stack) + 8192;
	dp_fake_regs()->rip = 0x1234;
	dp_fake_raise(SIGSEGV, SEGV_MAPERR);
	assert_int_equal(dp_fake_seen.entered, 0);
	assert_int_equal(dp_fake_regs()->rip, (u64)dp_guard_up);
	assert_int_equal(dp_fake_regs()->rsp, (u64)&guard);
	/* On another stack it is the program's own. */
	dp_fake_regs()->rsp = (u64)&elsewhere[1000];
	assert_int_equal(fault_at(SIGSEGV, SEGV_MAPERR, 0x1234), 0x1234);
}

/* The handler that entry.S has called by itself. */
static void faulting_fast_handler(void **state)
{
	static struct dp_call_frame frame;
	struct dp_stack *stack;

	kprobe(0);
	hit();
	stack = dp_stack_known();
	stack->busy = DP_BUSY_FAST;
	stack->regs = (u64)&frame;
	dp_fake_regs()->rsp = dp_stack_low(stack) + 8192;
	dp_fake_regs()->rip = 0x1234;
	dp_fake_raise(SIGSEGV, SEGV_MAPERR);
	assert_int_equal(dp_fake_seen.entered, 0);
	assert_int_equal(dp_fake_regs()->rip, (u64)dp_call_fast_up);
	assert_int_equal(dp_fake_regs()->rbx, (u64)&frame);
	assert_int_equal(dp_fake_regs()->r12, (u64)stack);
	assert_int_equal(dp_probe_state(0)->status, DP_PROBE_FAULTED);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_FAULTED), 1);
	assert_int_equal(dp_arena.hit.news, 1);
}

/* The handler that a detour has called by itself: it goes on behind the call, with the registers that
 * the handler leaves alone. */
static void faulting_followed_handler(void **state)
{
	static struct dp_call_frame frame;
	struct dp_stack *stack;

	kprobe(0);
	hit();
	stack = dp_stack_known();
	stack->busy = DP_BUSY_FOLLOWED;
	stack->regs = (u64)&frame;
	((u64 *)stack)[-1] = 0x777000;
	dp_fake_regs()->rsp = dp_stack_low(stack) + 8192;
	dp_fake_regs()->rip = 0x1234;
	dp_fake_regs()->rbx = 11;
	dp_fake_regs()->r12 = 12;
	dp_fake_raise(SIGSEGV, SEGV_MAPERR);
	assert_int_equal(dp_fake_seen.entered, 0);
	assert_int_equal(dp_fake_regs()->rip, 0x777000);
	assert_int_equal(dp_fake_regs()->rsp, (u64)stack);
	assert_int_equal(dp_fake_regs()->rbx, 11);
	assert_int_equal(dp_fake_regs()->r12, 12);
	assert_int_equal(dp_probe_state(0)->status, DP_PROBE_FAULTED);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_FAULTED), 1);
}

static u64 page_fault(u64 pc)
{
	dp_fake_regs()->trapno = 14;
	dp_fake_regs()->rip = pc;
	dp_fake_raise(SIGSEGV, SEGV_MAPERR);
	return dp_fake_regs()->rip;
}

/* The probed instruction has failed, and a probe's handler mends that. */
static void copy_is_mended(void **state)
{
	kprobe(0);
	kprobe(1)->fault = (u64)mend;
	kprobe(2)->fault = (u64)mend;
	result = 1;
	assert_int_equal(page_fault(inner->copy + 2), inner->copy + 2);
	assert_int_equal(mends, 1);
	assert_int_equal(seen.ip, AT);
	assert_int_equal(during.stack.sp, dp_fake_regs()->rsp);
	assert_int_equal(during.stack.regs, (u64)dp_stack_known()->trapped);
	assert_int_equal(during.stack.faulting, (u64)dp_stack_known());
	assert_true(during.stack.busy >= DP_BUSY_TURN);
	assert_int_equal(dp_stack_known()->faulting, 0);
	assert_int_equal(dp_stack_busy(dp_stack_known()), 0);
	assert_int_equal(dp_fake_regs()->rax, 55);
	given.ip = 0x999000;
	assert_int_equal(page_fault(inner->copy + 2), 0x999000);
	assert_int_equal(dp_fake_seen.entered, 0);
	/* None of them does. */
	result = 0;
	dp_fake_regs()->rax = 1;
	page_fault(inner->copy + 2);
	assert_int_equal(mends, 4);
	assert_int_equal(dp_fake_seen.entered, 1);
	dp_fake_return();
	assert_int_equal(dp_fake_regs()->rip, AT);
	assert_int_equal(dp_fake_regs()->rax, 1);
	((struct dp_probe_entry *)dp_probe(1))->enabled = 0;
	page_fault(inner->copy + 2);
	assert_int_equal(mends, 5);
}

/* A signal must not come onto the alternate stack meanwhile, where this one's frame is. */
static void alternate_stack_is_hidden(void **state)
{
	u64 sp, size;

	kprobe(0)->fault = (u64)mend;
	dp_fake_altstack((u64)alternate, sizeof(alternate));
	page_fault(inner->copy + 2);
	assert_int_equal(mends, 1);
	assert_int_equal(during.alt_size, 0);
	/* The program's handler is to have it again. */
	assert_int_equal(dp_fake_seen.entered, 1);
	dp_port_altstack(&sp, &size);
	assert_int_equal(sp, (u64)alternate);
	assert_int_equal(size, sizeof(alternate));
}

/* Only what stands at the site itself is a handler's matter, and where one may run. */
static void copy_is_not_mended(void **state)
{
	u32 *owners = dp_at(dp_arena.control.owner_off), i;
	u64 sp = dp_fake_regs()->rsp;

	kprobe(0)->fault = (u64)mend;
	result = 1;
	*dp_fake_jump(inner) = (struct dp_jump){ .site = dp_site_index(inner),
						 .base = dp_fake_copy(4),
						 .len = 64,
						 .nr = 2,
						 .offset = { 0, 2 },
						 .at = { 8, 20 } };
	assert_int_equal(fault_at(SIGSEGV, 1, dp_fake_copy(4) + 20), AT + 2);
	inner->calls = 0;
	assert_int_equal(fault_at(SIGSEGV, 1, inner->copy), AT);
	inner->calls = 1;
	for (i = 0; i < DP_STACKS; i++)
		owners[i] = DP_FAKE_PID + 1;
	assert_int_equal(fault_at(SIGSEGV, 1, inner->copy), AT);
	owners[0] = 0;
	dp_fake_regs()->rsp = dp_stack_low(dp_stack_mine()) + 8192;
	assert_int_equal(fault_at(SIGSEGV, 1, inner->copy), AT);
	assert_int_equal(mends, 0);
	dp_fake_regs()->rsp = sp;
	dp_fake_regs()->trapno = 14;
	fault_at(SIGSEGV, 1, inner->copy);
	assert_int_equal(mends, 1);
}

/* A fault_handler's own fault gives that handler up. */
static void in_a_fault_handler(void **state)
{
	static u64 words[1024];
	u64 top = (u64)&words[1000];
	const struct {
		u64 below;
		u32 busy, faulting, given_up;
	} cases[] = {
		{ 8, DP_BUSY_HANDLER, 1, 1 },  { 0, DP_BUSY_HANDLER, 1, 1 },
		{ -8, DP_BUSY_HANDLER, 1, 0 }, { 8, 0, 1, 0 },
		{ 8, DP_BUSY_HANDLER, 0, 0 },
	};
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dp_stack *stack;

		begin(state);
		stack = dp_stack_mine();
		stack->busy = cases[i].busy;
		stack->faulting = cases[i].faulting ? top : 0;
		stack->guard = 0x1230;
		dp_fake_regs()->rsp = top - cases[i].below;
		page_fault(0x1234);
		assert_int_equal(dp_fake_seen.entered, !cases[i].given_up);
		if (cases[i].given_up) {
			assert_int_equal(dp_fake_regs()->rip, (u64)dp_guard_up);
			assert_int_equal(dp_fake_regs()->rsp, 0x1230);
		}
	}
}

#define JPROBE 0x403000ull

static struct dp_stack *in_a_jprobe(void)
{
	struct dp_probe_entry *p;

	begin(NULL);
	inner->calls = 1;
	p = dp_fake_probe(0, 0, DP_KIND_JPROBE);
	p->pre = JPROBE;
	p->user = 5;
	hit();
	assert_int_equal(dp_fake_regs()->rip, JPROBE);
	return dp_stack_known();
}

/* On the program's own stack: it ends as if it had returned. */
static void faulting_jprobe(void **state)
{
	u64 sp = in_a_jprobe()->sp;

	dp_fake_regs()->rsp = sp - 64;
	assert_int_equal(page_fault(JPROBE + 3), inner->copy);
	assert_int_equal(dp_fake_seen.entered, 0);
	assert_int_equal(dp_probe_state(0)->status, DP_PROBE_FAULTED);
	assert_int_equal(dp_stack_known()->jumped, 0);
	in_a_jprobe();
	((struct dp_probe_entry *)dp_probe(0))->fault = (u64)mend;
	result = 1;
	given.ip = 0x999000;
	assert_int_equal(page_fault(JPROBE + 3), 0x999000);
	assert_int_equal(dp_stack_known()->jumped, 1);
	assert_int_equal(dp_stack_known()->faulting, 0);
	assert_int_not_equal(during.stack.faulting, 0);
	assert_int_equal(dp_probe_state(0)->status, 0);
	/* Farther up it has been left, and in a copy it is not its own fault. */
	in_a_jprobe();
	dp_fake_regs()->rsp = sp + 8;
	assert_int_equal(fault_at(SIGSEGV, 1, JPROBE + 3), JPROBE + 3);
	in_a_jprobe();
	assert_int_equal(fault_at(SIGSEGV, 1, inner->copy), AT);
	assert_int_equal(dp_stack_known()->jumped, 1);
}

/* What entry.S has called is told by the site, or by the call whose entry or end it is. */
static void whose_fast_handler(void **state)
{
	static struct dp_call_frame frame;
	struct dp_instance ri = { 0 };
	struct dp_instance_pool *f;
	struct dp_stack *stack;

	kprobe(0);
	kprobe(1);
	f = dp_fake_instance_pool(1, 1);
	hit();
	stack = dp_stack_known();
	stack->regs = (u64)&frame;
	dp_fake_regs()->rsp = dp_stack_low(stack) + 8192;
	stack->busy = DP_BUSY_RETURN;
	assert_int_equal(fault_at(SIGSEGV, 1, 0x1234), 0x1234);
	ri.instance_pool = (u64)f;
	stack->instance = (u64)&ri;
	stack->guard = 7;
	dp_fake_seen.entered = 0;
	assert_int_equal(page_fault(0x1234), (u64)dp_call_fast_up);
	assert_int_equal(stack->guard, 0);
	assert_int_equal(dp_probe_state(0)->status, 0);
	assert_int_equal(dp_probe_state(1)->status, DP_PROBE_FAULTED);
	stack->busy = DP_BUSY_FAST;
	dp_probe_state(1)->status = 0;
	inner->fast = (u64)dp_probe(1);
	dp_fake_regs()->rsp = dp_stack_low(stack) + 8192;
	assert_int_equal(page_fault(0x1234), (u64)dp_call_fast_up);
	assert_int_equal(dp_probe_state(1)->status, DP_PROBE_FAULTED);
	/* Behind the end of the stack it is another's. */
	dp_fake_regs()->rsp = (u64)(stack + 1);
	assert_int_equal(fault_at(SIGSEGV, 1, 0x1234), 0x1234);
}

static void handler_is_mended(void **state)
{
	struct dp_stack *stack;

	kprobe(0)->fault = (u64)mend;
	hit();
	stack = dp_stack_known();
	stack->busy = DP_BUSY_HANDLER;
	stack->probe = 1;
	stack->guard = 0x1230;
	dp_fake_regs()->rsp = dp_stack_low(stack) + 8192;
	result = 1;
	given.ip = 0x999000;
	assert_int_equal(page_fault(0x1234), 0x999000);
	assert_int_equal(dp_fake_regs()->rax, 55);
	assert_int_equal(stack->guard, 0x1230);
	assert_int_equal(stack->faulting, 0);
	result = 0;
	assert_int_equal(page_fault(0x1234), (u64)dp_guard_up);
	assert_int_equal(dp_fake_regs()->rsp, 0x1230);
}

/* A detour that has not counted */
static u64 call_out(struct dp_call_frame *f)
{
	f->number |= DP_CALLOUT_UNCOUNTED;
	return dp_hit_detour(f);
}

/* No signal: the thread's registers are on its stack. */
static void through_a_detour(void **state)
{
	static u64 stack[128];
	struct dp_call_frame *frame = (void *)&stack[32];

	kprobe(0);
	dp_fake_jump(inner)->base = 0x7000000;
	frame->regs.di = 78;
	assert_int_equal(call_out(frame), 0);
	assert_int_equal(calls, 1);
	assert_int_equal(seen.di, 78);
	assert_int_equal(seen.sp, (u64)(frame + 1) + 128);
	assert_int_equal(dp_fake_count(0), 1);
	given.ip = 0x999000;
	result = 1;
	assert_int_equal(call_out(frame), 1);
	assert_int_equal(frame->regs.ip, 0x999000);
	/* Detours that count have counted it, where they can. */
	dp_hit_detour(frame);
	assert_int_equal(calls, 3);
	assert_int_equal(dp_fake_count(0), 2);
	call_out(frame);
	assert_int_equal(dp_fake_count(0), 3);
	dp_fake_fork();
	assert_int_equal(call_out(frame), 0);
	assert_int_equal(calls, 4);
}

/* A child in our memory, with its parent's storage, asks no handler and takes no stack. */
static void copy_of_a_child(void **state)
{
	u32 *owners = dp_at(dp_arena.control.owner_off);

	kprobe(0)->fault = (u64)mend;
	result = 1;
	dp_fake_vfork(false);
	page_fault(inner->copy + 2);
	assert_int_equal(mends, 0);
	assert_int_equal(dp_fake_seen.entered, 1);
	dp_fake_return();
	assert_int_equal(dp_fake_regs()->rip, AT);
	assert_null(dp_stack_known());
	assert_int_equal(owners[0], 0);
	dp_fake_vfork(true);
	page_fault(inner->copy + 2);
	assert_int_equal(mends, 1);
	assert_int_equal(owners[0], DP_FAKE_PID);
}

static void given_up(void **state)
{
	kprobe(0);
	dp_probe_state(0)->status = DP_PROBE_FAULTED;
	assert_int_equal(hit(), inner->copy);
	assert_int_equal(calls, 0);
	assert_int_equal(dp_fake_count(0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(in_a_copy, begin),
		cmocka_unit_test_setup(in_a_detour, begin),
		cmocka_unit_test_setup(in_one_of_many, begin),
		cmocka_unit_test_setup(in_a_child, begin),
		cmocka_unit_test_setup(handler_is_called, begin),
		cmocka_unit_test_setup(handler_changes_the_way, begin),
		cmocka_unit_test_setup(after_the_instruction, begin),
		cmocka_unit_test_setup(after_a_branch, begin),
		cmocka_unit_test_setup(inside_of_a_handler, begin),
		cmocka_unit_test_setup(stack_of_a_thread, begin),
		cmocka_unit_test_setup(faulting_handler, begin),
		cmocka_unit_test_setup(faulting_fast_handler, begin),
		cmocka_unit_test_setup(faulting_followed_handler, begin),
		cmocka_unit_test_setup(whose_fast_handler, begin),
		cmocka_unit_test_setup(copy_is_mended, begin),
		cmocka_unit_test_setup(alternate_stack_is_hidden, begin),
		cmocka_unit_test_setup(copy_is_not_mended, begin),
		cmocka_unit_test_setup(handler_is_mended, begin),
		cmocka_unit_test_setup(faulting_jprobe, begin),
		cmocka_unit_test_setup(in_a_fault_handler, begin),
		cmocka_unit_test_setup(through_a_detour, begin),
		cmocka_unit_test_setup(copy_of_a_child, begin),
		cmocka_unit_test_setup(given_up, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
