// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * call: hits whose probes are handlers in C, in a world in memory: which handlers are
 * called, with what, on which stack, and where the thread goes on.
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
#include "engine/insn/class.h"
#include "engine/insn/callout.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/layout/handler.h"

#define AT 0x401000ull
#define SITE 3u
#define DETOUR 0x7000000ull
#define JPROBE 0x403000ull
#define ALTERNATE 0x10000u
#define WORDS 256

static struct dp_site_entry *site;

/* What the last handler saw, and what the thread was like meanwhile. */
static struct seen {
	u32 calls, afters;
	struct dp_regs regs;
	struct dp_stack stack;
	u64 at, alt_sp, alt_size, mask;
} seen;

/* What handlers do: registers that are not 0 are set. */
static struct dp_regs given;
static u32 result;

/* A detour's frame, and what of the program's stack is above it. */
static u64 words[WORDS];
static u8 alternate[ALTERNATE] __attribute__((aligned(64)));

static void look(struct dp_regs *regs)
{
	seen.regs = *regs;
	seen.at = (u64)&regs;
	seen.stack = *dp_stack_known();
	seen.mask = dp_fake_mask();
	dp_port_altstack(&seen.alt_sp, &seen.alt_size);
	if (given.ip)
		regs->ip = given.ip;
	if (given.sp)
		regs->sp = given.sp;
	if (given.ax)
		regs->ax = given.ax;
}

static u32 pre(u64 user, struct dp_regs *regs)
{
	assert_int_equal(user, 5);
	seen.calls++;
	look(regs);
	return result;
}

static void post(u64 user, struct dp_regs *regs)
{
	assert_int_equal(user, 5);
	seen.afters++;
	look(regs);
}

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT);
	dp_arena.control.own_process = 1;
	dp_fake_stacks();
	site = dp_fake_site(SITE, AT);
	site->single = site->copy;
	site->calls = 1;
	site->insn_len = 3;
	memset(&seen, 0, sizeof(seen));
	memset(&given, 0, sizeof(given));
	memset(words, 0, sizeof(words));
	result = 0;
	return 0;
}

static struct dp_probe_entry *kprobe(u32 i)
{
	struct dp_probe_entry *p = dp_fake_probe(i, SITE, DP_KIND_KPROBE);

	p->pre = (u64)pre;
	p->user = 5;
	p->nmissed = (u64)dp_at(dp_fake_room(8));
	return p;
}

static u64 missed(u32 probe)
{
	return *(u64 *)dp_probe(probe)->nmissed;
}

static u64 hit(void)
{
	dp_fake_breakpoint(AT);
	return dp_fake_regs()->rip;
}

static struct dp_call_frame *frame(void)
{
	struct dp_call_frame *f = (void *)&words[WORDS / 2];

	memset(f, 0, sizeof(*f));
	f->number = SITE;
	return f;
}

/* A detour that has not counted */
static u64 call_out(struct dp_call_frame *f)
{
	f->number |= DP_CALLOUT_UNCOUNTED;
	return dp_hit_detour(f);
}

/* The stack pointer that the program had. */
static u64 sp_of(const struct dp_call_frame *f)
{
	return (u64)(f + 1) + DP_RED_ZONE;
}

static bool on_handlers_stack(u64 sp)
{
	return sp - dp_stack_low(dp_stack_known()) < DP_STACK_SIZE;
}

static void handlers_world(void **state)
{
	struct dp_call_frame *f = frame();
	struct dp_stack *stack;
	u64 turn;

	kprobe(0);
	site->x87 = 1;
	assert_int_equal(call_out(f), 0);
	stack = dp_stack_known();
	assert_true(on_handlers_stack(seen.at));
	assert_int_equal(seen.regs.ip, AT + 1);
	assert_int_equal(seen.regs.sp, sp_of(f));
	assert_int_equal(f->regs.ip, AT);
	assert_int_equal(dp_stack_busy(&seen.stack), DP_BUSY_HANDLER);
	assert_int_equal(seen.stack.probe, 1);
	assert_int_equal(seen.stack.sp, sp_of(f));
	assert_int_equal(seen.stack.regs, (u64)f);
	assert_int_equal(seen.stack.site, (u64)site);
	assert_int_equal(seen.stack.x87, 1);
	assert_int_equal(seen.stack.after, 0);
	turn = seen.stack.busy;
	assert_int_not_equal(seen.stack.guard, 0);
	assert_int_equal(seen.mask, 0);
	assert_int_equal(dp_stack_busy(stack), 0);
	assert_int_equal(stack->probe, 0);
	assert_int_equal(stack->guard, 0);
	/* The world saves such registers for a thread that it interrupts. */
	stack->faulting = 1;
	hit();
	assert_int_equal(seen.stack.x87, 0);
	assert_int_equal(seen.stack.faulting, 0);
	assert_true(seen.stack.busy >= turn + DP_BUSY_TURN);
}

/* Only those that are on, and for each of them the pc is the breakpoint's. */
static void which_are_called(void **state)
{
	u32 i;

	for (i = 0; i < 4; i++)
		kprobe(i);
	((struct dp_probe_entry *)dp_probe(0))->enabled = 0;
	dp_probe_state(1)->status = DP_PROBE_REMOVED;
	dp_probe_state(2)->status = DP_PROBE_SUSPENDED;
	given.ip = 0x999000;
	assert_int_equal(hit(), site->copy);
	assert_int_equal(seen.calls, 2);
	assert_int_equal(seen.regs.ip, AT + 1);
	assert_int_equal(dp_fake_count(SITE), 1);
	/* Without a pre_handler there is nothing to be obeyed. */
	((struct dp_probe_entry *)dp_probe(2))->pre = 0;
	result = 1;
	assert_int_equal(hit(), 0x999000);
	assert_int_equal(seen.calls, 3);
}

/* In a handler none is called; who wants to know of that is told. */
static void which_are_missed(void **state)
{
	kprobe(0)->enabled = 0;
	kprobe(1);
	kprobe(2)->nmissed = 0;
	kprobe(3);
	kprobe(4);
	dp_probe_state(4)->status = DP_PROBE_FAULTED;
	hit();
	dp_fake_regs()->rsp = dp_stack_low(dp_stack_known()) + DP_PAGE;
	assert_int_equal(hit(), site->copy);
	assert_int_equal(seen.calls, 3);
	assert_int_equal(missed(0), 0);
	assert_int_equal(missed(1), 1);
	assert_int_equal(missed(3), 1);
	assert_int_equal(missed(4), 0);
	assert_int_equal(dp_fake_tally(1, DP_TALLY_RECURSED), 1);
	assert_int_equal(dp_fake_tally(2, DP_TALLY_RECURSED), 0);
	dp_stack_known()->busy = DP_BUSY_SELF;
	hit();
	assert_int_equal(dp_fake_tally(3, DP_TALLY_SELF), 1);
	assert_int_equal(missed(3), 1);
}

/* Every stack is another thread's that lives. */
static void no_stack(void **state)
{
	u32 *owners = dp_at(dp_arena.control.owner_off), i;
	struct dp_call_frame *f = frame();

	kprobe(0)->post = (u64)post;
	for (i = 0; i < DP_STACKS; i++)
		owners[i] = DP_FAKE_PID + 1;
	assert_int_equal(hit(), site->copy);
	assert_int_equal(call_out(f), 0);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_CONTEXT), 2);
	assert_int_equal(missed(0), 2);
	/* One of them has ended. */
	owners[1] = DP_FAKE_PID + 99;
	hit();
	assert_int_equal(seen.calls, 1);
	assert_int_equal(dp_stack_known()->tid, DP_FAKE_PID);
}

/* Through a detour: on, on with another stack pointer, or to elsewhere. */
static void where_it_goes_on(void **state)
{
	struct dp_call_frame *f = frame();

	kprobe(0);
	dp_fake_jump(site)->base = DETOUR;
	dp_fake_jump(site)->insn[0] = 24;
	given.ax = 9;
	assert_int_equal(call_out(f), 0);
	assert_int_equal(f->regs.ax, 9);
	assert_int_equal(f->number, SITE);
	given.sp = 0x1230;
	assert_int_equal(call_out(f), 1);
	assert_int_equal(f->regs.ip, DETOUR + 24);
	assert_int_equal(f->regs.sp, 0x1230);
	given.ip = 0x999000;
	result = 1;
	assert_int_equal(call_out(f), 1);
	assert_int_equal(f->regs.ip, 0x999000);
	/* One more word is above the frame of a function that is tracked. */
	result = 0;
	given.sp = given.ip = 0;
	f->number |= DP_CALLOUT_TRACKED;
	words[0] = *(u64 *)(f + 1) = 77;
	assert_int_equal(call_out(f), 0);
	assert_int_equal(seen.regs.sp, sp_of(f) + 8);
	assert_int_equal(*(u64 *)(f + 1), 77);
}

/* Signals' handlers must not be put where the thread was, or where the hit's frame is. */
static void from_the_alternate_stack(void **state)
{
	struct dp_call_frame *f = frame();

	dp_fake_altstack((u64)words, sizeof(words));
	dp_fake_set_mask(DP_SIGMASK(12));
	kprobe(0);
	call_out(f);
	assert_int_equal(seen.alt_size, 0);
	assert_int_equal(seen.stack.alt_off, 1);
	assert_int_not_equal(seen.mask & DP_SIGMASK(10), 0);
	assert_int_equal(seen.mask & dp_caught_mask(DP_CAUGHT), 0);
	assert_int_equal(dp_fake_mask(), DP_SIGMASK(12));
	dp_port_altstack(&seen.alt_sp, &seen.alt_size);
	assert_int_equal(seen.alt_sp, (u64)words);
	assert_int_equal(seen.alt_size, sizeof(words));
	assert_int_equal(dp_stack_known()->alt_off, 0);
	/* From another stack it stays in force. */
	dp_fake_altstack((u64)alternate, ALTERNATE);
	dp_stack_ask_alternate();
	call_out(f);
	assert_int_equal(seen.alt_size, ALTERNATE);
	assert_int_equal(seen.stack.alt_off, 0);
	assert_int_equal(seen.mask, DP_SIGMASK(12));
}

static void on_the_alternate_stack(void **state)
{
	dp_fake_altstack((u64)alternate, ALTERNATE);
	kprobe(0);
	hit();
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.alt_size, 0);
	dp_port_altstack(&seen.alt_sp, &seen.alt_size);
	assert_int_equal(seen.alt_sp, (u64)alternate);
	assert_int_equal(seen.alt_size, ALTERNATE);
	/* The world shows where the stack is now. */
	dp_fake_altstack((u64)alternate + 4096, 8192);
	hit();
	assert_int_equal(dp_stack_known()->alt_sp, (u64)alternate + 4096);
	assert_int_equal(dp_stack_known()->alt_size, 8192);
}

/* A handler that was left by siglongjmp has left it hidden. */
static void left_hidden(void **state)
{
	dp_fake_altstack((u64)alternate, ALTERNATE);
	kprobe(0);
	call_out(frame());
	dp_stack_known()->alt_off = 1;
	dp_fake_altstack(0, 0);
	call_out(frame());
	assert_int_equal(dp_stack_known()->alt_off, 0);
	dp_port_altstack(&seen.alt_sp, &seen.alt_size);
	assert_int_equal(seen.alt_sp, (u64)alternate);
	/* What the world knew when the trap came would hide it again. */
	dp_stack_known()->alt_off = 1;
	dp_fake_altstack(0, 0);
	hit();
	assert_int_equal(dp_stack_known()->alt_off, 0);
	dp_port_altstack(&seen.alt_sp, &seen.alt_size);
	assert_int_equal(seen.alt_sp, (u64)alternate);
	assert_int_equal(seen.alt_size, ALTERNATE);
}

static void of_others(void **state)
{
	struct dp_call_frame *f = frame();

	kprobe(0);
	dp_fake_vfork(false);
	assert_int_equal(call_out(f), 0);
	assert_int_equal(dp_arena.hit.missed[DP_MISSED_FORK], 1);
	dp_fake_vfork(true);
	dp_arena.control.revertible = 1;
	dp_fake_fork();
	assert_int_equal(call_out(f), 0);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, DP_SIG_DFL);
	assert_int_equal(dp_arena.hit.missed[DP_MISSED_FORK], 1);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(dp_fake_count(SITE), 0);
}

/* A system call's detour: pc and stack pointer are not the handler's to set. */
static void of_a_system_call(void **state)
{
	struct dp_mcontext *mc = dp_fake_regs();
	u64 sp = mc->rsp;

	kprobe(0);
	mc->rip = AT;
	given = (struct dp_regs){ .ax = 9, .sp = 0x1230, .ip = 0x999000 };
	dp_hit_observed(dp_site_index(site), mc);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.regs.sp, sp);
	assert_int_equal(seen.stack.regs, (u64)dp_stack_known()->trapped);
	assert_int_equal(mc->rax, 9);
	assert_int_equal(mc->rsp, sp);
	assert_int_equal(mc->rip, AT);
	assert_int_equal(dp_fake_count(SITE), 1);
	dp_stack_known()->busy = DP_BUSY_SELF;
	given.ax = 10;
	dp_hit_observed(dp_site_index(site), mc);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(mc->rax, 9);
}

static void behind(struct dp_site_entry *s)
{
	s->post = dp_fake_copy(8);
	s->post_body = 4;
	dp_fake_index(s->post + 4, SITE);
}

static void afterwards(void **state)
{
	kprobe(0);
	behind(site);
	assert_int_equal(hit(), site->copy);
	kprobe(1)->post = (u64)post;
	kprobe(2)->post = (u64)post;
	kprobe(3)->post = (u64)post;
	dp_probe_state(2)->status = DP_PROBE_FAULTED;
	assert_int_equal(hit(), site->post);
	assert_int_equal(seen.calls, 4);
	/* Registers that a handler sets are those with which the thread goes on. */
	given = (struct dp_regs){ .ax = 7, .ip = 0x999000 };
	dp_fake_regs()->rcx = 1;
	dp_fake_breakpoint(site->post + 4);
	assert_int_equal(seen.calls, 4);
	assert_int_equal(seen.afters, 2);
	assert_int_equal(seen.stack.after, 1);
	assert_int_equal(seen.stack.probe, 4);
	assert_int_equal(seen.regs.cx, 1);
	assert_int_equal(dp_fake_regs()->rip, 0x999000);
	assert_int_equal(dp_fake_regs()->rax, 7);
	/* A system call leaves there where it was. */
	site->class = DP_INSN_SYSCALL;
	given.ip = 0;
	dp_fake_breakpoint(site->post + 4);
	assert_int_equal(seen.regs.cx, AT + 3);
	assert_int_equal(seen.regs.ip, dp_fake_regs()->rip);
	assert_int_equal(dp_fake_regs()->rip, AT + 3);
	/* Nobody may be called: it goes on all the same. */
	dp_stack_known()->busy = DP_BUSY_SELF;
	dp_fake_breakpoint(site->post + 4);
	assert_int_equal(seen.afters, 4);
	assert_int_equal(dp_fake_regs()->rip, AT + 3);
}

/* A jump stands there meanwhile: no way leads to behind the one instruction. */
static void not_behind_a_jump(void **state)
{
	kprobe(0)->post = (u64)post;
	behind(site);
	site->single = dp_fake_copy(9);
	assert_int_equal(hit(), site->copy);
	assert_int_equal(seen.calls, 1);
	/* Nor is the instruction made in registers. */
	site->class = DP_INSN_JMP;
	site->target = 0x402000;
	assert_int_equal(hit(), site->copy);
	assert_int_equal(seen.afters, 0);
	/* And where a handler says where to go, it is not executed. */
	site->single = site->copy;
	given.ip = 0x999000;
	result = 1;
	assert_int_equal(hit(), 0x999000);
	assert_int_equal(seen.afters, 0);
}

/* Another kind of probe has no after-handler, whatever stands there. */
static void handlers_of_other_kinds(void **state)
{
	kprobe(0)->post = (u64)post;
	kprobe(1)->post = (u64)post;
	behind(site);
	hit();
	((struct dp_probe_entry *)dp_probe(1))->kind = DP_KIND_JPROBE;
	dp_fake_breakpoint(site->post + 4);
	assert_int_equal(seen.afters, 1);
}

/* Calls are tracked beside handlers, and the account of a hit that was left is settled. */
static void of_tracked_calls(void **state)
{
	struct dp_instance_pool *f;
	struct dp_instance *ri;

	dp_fake_frames(1);
	dp_fake_probe(0, SITE, DP_KIND_ENTER);
	kprobe(1);
	f = dp_fake_instance_pool(0, 1);
	f->exits = 1;
	ri = dp_instance_at(f, 0);
	hit();
	assert_int_equal(ri->used, DP_INSTANCE_AT_SLOT);
	assert_int_equal(seen.calls, 1);
	/* The same site as an exit: its kind decides. */
	((struct dp_probe_entry *)dp_probe(0))->kind = DP_KIND_EXIT;
	hit();
	assert_int_equal(ri->used, 0);
	assert_int_equal(dp_instance_ended(ri, DP_CALL_RETURNED), 1);
	assert_int_equal(seen.calls, 2);
	ri->used = DP_FAKE_PID | DP_INSTANCE_NEW;
	dp_stack_known()->instance = (u64)ri;
	hit();
	assert_int_equal(ri->used, 0);
}

/* --- a handler in the function's place --- */

static u64 legacy[DP_XSTATE_LEGACY / 8];

static struct dp_probe_entry *jprobe(u32 i)
{
	struct dp_probe_entry *p = dp_fake_probe(i, SITE, DP_KIND_JPROBE);

	p->pre = JPROBE;
	dp_fake_regs()->fpstate = (u64)legacy;
	memset(legacy, 0x11, sizeof(legacy));
	legacy[0] = 0;
	return p;
}

static u64 jprobe_return(void)
{
	dp_fake_breakpoint((u64)dp_jprobe_return);
	return dp_fake_regs()->rip;
}

static void in_the_functions_place(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();
	u64 *stack = (u64 *)regs->rsp;

	jprobe(0);
	kprobe(1);
	regs->rdi = 3;
	stack[0] = 0x404000;
	stack[1] = 44;
	stack[8] = 88;
	stack[9] = 99;
	assert_int_equal(hit(), JPROBE);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(regs->rdi, 3);
	assert_ptr_equal((u64 *)regs->rsp, stack);
	assert_int_equal(dp_stack_known()->jumped, 1);
	assert_int_equal(dp_stack_busy(dp_stack_known()), DP_BUSY_HANDLER);
	assert_int_equal(dp_stack_known()->probe, 1);
	/* What it makes of arguments and registers is put back. */
	regs->rdi = 4;
	regs->rsp -= 256;
	stack[0] = stack[1] = stack[8] = stack[9] = 1;
	memset(legacy, 0x22, sizeof(legacy));
	assert_int_equal(jprobe_return(), site->copy);
	assert_int_equal(regs->rdi, 3);
	assert_ptr_equal((u64 *)regs->rsp, stack);
	assert_int_equal(stack[0], 0x404000);
	assert_int_equal(stack[1], 44);
	assert_int_equal(stack[8], 88);
	assert_int_equal(stack[9], 1);
	assert_int_equal(legacy[0], 0);
	assert_int_equal(legacy[1], 0x1111111111111111);
	assert_int_equal(legacy[DP_XSTATE_LEGACY / 8 - 1], 0x1111111111111111);
	assert_int_equal(dp_stack_known()->jumped, 0);
	assert_int_equal(dp_stack_busy(dp_stack_known()), 0);
	assert_int_equal(dp_fake_seen.entered, 0);
	assert_int_equal(dp_fake_seen.died, 0);
}

/* The vector state may be kept in another size by the second signal: then it stays. */
static void vectors_of_another_size(void **state)
{
	static u64 full[DP_XSTATE_MOST / 8];
	u32 *software = (u32 *)((u8 *)full + DP_XSTATE_SOFTWARE);

	jprobe(0);
	hit();
	memset(full, 0x33, sizeof(full));
	software[0] = DP_XSTATE_MAGIC;
	software[1] = DP_XSTATE_LEGACY + 64;
	dp_fake_regs()->fpstate = (u64)full;
	jprobe_return();
	assert_int_equal(full[0], 0x3333333333333333);
	/* And none is kept where there is none. */
	begin(state);
	jprobe(0);
	dp_fake_regs()->fpstate = 0;
	hit();
	dp_fake_regs()->fpstate = (u64)legacy;
	jprobe_return();
	assert_int_equal(legacy[1], 0x1111111111111111);
	/* Or where it is gone. */
	hit();
	dp_fake_regs()->fpstate = 0;
	assert_int_equal(jprobe_return(), site->copy);
}

/* What is above the end of a stack is not there, or is not the thread's. */
static void end_of_a_stack(void **state)
{
	static u64 pages[2 * DP_PAGE / 8] __attribute__((aligned(4096)));
	u64 *last = &pages[DP_PAGE / 8 - 2];

	jprobe(0);
	dp_fake_regs()->rsp = (u64)last;
	memset(pages, 0, sizeof(pages));
	hit();
	assert_int_equal(dp_stack_known()->words_size,
			 sizeof(dp_stack_known()->words));
	memset(last, 1, 9 * sizeof(u64));
	jprobe_return();
	assert_int_equal(last[0] | last[1] | last[2] | last[8], 0);
	dp_fake_bad((u64)&pages[DP_PAGE / 8], DP_PAGE);
	hit();
	assert_int_equal(dp_stack_known()->words_size, 2 * sizeof(u64));
	memset(last, 1, 9 * sizeof(u64));
	jprobe_return();
	assert_int_equal(last[0] | last[1], 0);
	assert_int_equal(last[2], 0x0101010101010101);
	/* Nothing may be asked: what its own page has. */
	dp_fake_bad((u64)last, 16);
	last[0] = 5;
	last[1] = 6;
	hit();
	assert_int_equal(dp_stack_known()->words_size, 2 * sizeof(u64));
	memset(last, 1, 2 * sizeof(u64));
	jprobe_return();
	assert_int_equal(last[0], 5);
	assert_int_equal(last[1], 6);
}

/* Its probe's others get their turn behind the instruction. */
static void after_a_jprobe(void **state)
{
	struct dp_probe_entry *p;

	jprobe(0);
	p = kprobe(1);
	p->post = (u64)post;
	behind(site);
	hit();
	assert_int_equal(jprobe_return(), site->post);
	dp_fake_breakpoint(site->post + 4);
	assert_int_equal(seen.afters, 1);
	dp_probe_state(1)->status = DP_PROBE_FAULTED;
	hit();
	assert_int_equal(jprobe_return(), site->copy);
	dp_probe_state(1)->status = 0;
	p->post = 0;
	hit();
	assert_int_equal(jprobe_return(), site->copy);
	/* A branch is made, and they are called at once: on an alternate stack as well. */
	p->post = (u64)post;
	site->class = DP_INSN_JMP;
	site->target = 0x402000;
	site->x87 = 1;
	hit();
	dp_fake_altstack((u64)alternate, ALTERNATE);
	assert_int_equal(jprobe_return(), 0x402000);
	assert_int_equal(seen.afters, 2);
	assert_int_equal(seen.regs.ip, 0x402000);
	assert_int_equal(seen.stack.x87, 0);
	assert_int_equal(seen.alt_size, 0);
}

/* Farther down than where it began the thread is in it; farther up it has left it. */
static void hits_in_a_jprobe(void **state)
{
	u64 sp = dp_fake_regs()->rsp;

	jprobe(0)->nmissed = (u64)dp_at(dp_fake_room(8));
	hit();
	dp_fake_regs()->rsp = sp - 128;
	assert_int_equal(hit(), site->copy);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_RECURSED), 1);
	assert_int_equal(missed(0), 1);
	dp_fake_regs()->rsp = sp + 8;
	assert_int_equal(hit(), JPROBE);
	/* The breakpoint of its end is nothing where none runs. */
	jprobe_return();
	jprobe_return();
	assert_int_equal(dp_fake_seen.died, DP_SIGTRAP);
}

/* --- what handlers may use --- */

static s32 *errno_of_thread(void)
{
	return (s32 *)(dp_port_thread_self() + DP_FAKE_ERRNO);
}

static u64 spoil(u64 a, u64 b, u64 c)
{
	*errno_of_thread() = 13;
	__asm__ volatile("xorps %%xmm15, %%xmm15" : : : "xmm15");
	return a + b + c;
}

/* What xmm15 holds behind a handler that needs so much. */
static u64 left_of_xmm15(u8 needs, u64 *ret)
{
	struct dp_stack *stack = dp_stack_mine();
	u64 now = 0x1234567812345678;

	__asm__ volatile("movq %0, %%xmm15" : : "r"(now) : "xmm15");
	*ret = dp_call_handler(stack, 0, (u64)spoil, 30, 4, needs);
	__asm__ volatile("movq %%xmm15, %0" : "=r"(now) : :);
	return now;
}

static void what_they_use(void **state)
{
	u64 ret;

	kprobe(0);
	dp_arena.control.errno_offset = DP_FAKE_ERRNO;
	*errno_of_thread() = 2;
	assert_int_equal(left_of_xmm15(DP_STATE_SSE | DP_STATE_XMM16, &ret),
			 0x1234567812345678);
	assert_int_equal(ret, 34);
	assert_int_equal(*errno_of_thread(), 2);
	/* All of it, as far as control has found that there is. */
	dp_arena.control.vectors = DP_STATE_SSE | DP_STATE_XMM16;
	assert_int_equal(left_of_xmm15(DP_STATE_ALL, &ret), 0x1234567812345678);
	assert_int_equal(left_of_xmm15(DP_STATE_SSE, &ret), 0);
	assert_int_equal(*errno_of_thread(), 2);
	assert_int_equal(left_of_xmm15(DP_STATE_GENERAL, &ret), 0);
	assert_int_equal(ret, 34);
	assert_int_equal(*errno_of_thread(), 13);
	/* No library has told where errno is. */
	dp_arena.control.errno_offset = 0;
	*errno_of_thread() = 2;
	left_of_xmm15(DP_STATE_SSE, &ret);
	assert_int_equal(*errno_of_thread(), 13);
}

/* As a signal does: what the thread's registers are when it has been handled. */
static u64 fault(u64 a, u64 b)
{
	struct dp_mcontext *regs = dp_fake_regs();

	regs->rip = 0x1234;
	regs->rsp = (u64)__builtin_frame_address(0);
	dp_fake_raise(11, 1);
	if (regs->rip == (u64)dp_guard_up)
		__asm__ volatile("mov %0, %%rsp\n\tjmp *%1"
				 :
				 : "r"(regs->rsp), "r"(regs->rip));
	return 7;
}

static u64 vias;

static u64 via(u64 a, u64 b)
{
	vias++;
	return a + b;
}

static u32 run_faulting(void *arg)
{
	*(u64 *)arg = dp_call_handler(dp_stack_known(), 0, (u64)fault, 1, 2,
				      DP_STATE_GENERAL);
	return 0;
}

static void given_up(void **state)
{
	struct dp_probe_entry *p = kprobe(0);
	struct dp_stack *stack;
	u64 ret = 1;

	/* Here the world's own functions run on the stack where the signal comes. */
	dp_fake_altstack((u64)alternate, ALTERNATE);
	stack = dp_stack_mine();
	site->fast = (u64)p;
	stack->guard = 5;
	stack->probe = 6;
	dp_call_away(stack, 0, &ret, run_faulting);
	assert_int_equal(ret, 0);
	assert_int_equal(dp_probe_state(0)->status, DP_PROBE_FAULTED);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_FAULTED), 1);
	assert_int_equal(dp_arena.hit.news, 1);
	assert_int_equal(site->fast, 0);
	assert_int_equal(stack->guard, 5);
	assert_int_equal(stack->probe, 6);
	assert_int_equal(dp_stack_busy(stack), 0);
	assert_int_equal(dp_fake_seen.entered, 0);
	/* In another process nobody goes the short way, and the entry is not ours to write. */
	dp_arena.control.self_offset = 0;
	site->fast = 3;
	dp_call_give_up(0);
	assert_int_equal(site->fast, 3);
}

/* Modules want to be called by code of their own. */
static void called_by_others(void **state)
{
	struct dp_stack *stack = dp_stack_mine();

	kprobe(0);
	vias = 0;
	dp_arena.control.handler_after = (u64)via;
	assert_int_equal(
		dp_call_handler(stack, 0, (u64)spoil, 1, 2, DP_STATE_SSE), 3);
	assert_int_equal(vias, 0);
	stack->after = 1;
	dp_call_handler(stack, 0, (u64)spoil, 1, 2, DP_STATE_SSE);
	assert_int_equal(vias, 1);
	dp_call_handler(stack, 0, (u64)spoil, 1, 2, DP_STATE_GENERAL);
	assert_int_equal(vias, 1);
	stack->after = 0;
	dp_arena.control.handler_before = (u64)via;
	dp_call_handler(stack, 0, (u64)spoil, 1, 2, DP_STATE_SSE);
	assert_int_equal(vias, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(handlers_world, begin),
		cmocka_unit_test_setup(which_are_called, begin),
		cmocka_unit_test_setup(which_are_missed, begin),
		cmocka_unit_test_setup(no_stack, begin),
		cmocka_unit_test_setup(where_it_goes_on, begin),
		cmocka_unit_test_setup(from_the_alternate_stack, begin),
		cmocka_unit_test_setup(on_the_alternate_stack, begin),
		cmocka_unit_test_setup(left_hidden, begin),
		cmocka_unit_test_setup(of_others, begin),
		cmocka_unit_test_setup(of_a_system_call, begin),
		cmocka_unit_test_setup(afterwards, begin),
		cmocka_unit_test_setup(not_behind_a_jump, begin),
		cmocka_unit_test_setup(handlers_of_other_kinds, begin),
		cmocka_unit_test_setup(of_tracked_calls, begin),
		cmocka_unit_test_setup(in_the_functions_place, begin),
		cmocka_unit_test_setup(vectors_of_another_size, begin),
		cmocka_unit_test_setup(end_of_a_stack, begin),
		cmocka_unit_test_setup(after_a_jprobe, begin),
		cmocka_unit_test_setup(hits_in_a_jprobe, begin),
		cmocka_unit_test_setup(what_they_use, begin),
		cmocka_unit_test_setup(given_up, begin),
		cmocka_unit_test_setup(called_by_others, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
