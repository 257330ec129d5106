// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * followed: a detour that calls a followed handler.
 *
 * The code of a followed handler shows which registers it touches. Only these are saved, where
 * they are in the handler's argument. The frame is that of dp_hit_entry: a hit that the detour
 * leaves to the agent finds the number there, and a fault in the handler does.
 *
 *     descriptor
 *   uncounted: note that it is not counted; jmp leave
 *   unknown: leave the handlers' stack
 *   counted: note the number
 *   leave: restore; call out; jmp insn
 *   abort: jmp again
 *   start: save
 *   again: count, or go to uncounted
 *     is the thread on its own stack, and in no handler? else go to counted
 *     to the handlers' stack; is it a handler that touches no more? else go to unknown
 *     call; back to the stack; restore
 *   insn:
 *
 * DF, AC and ID stay as they are: a followed handler neither reads nor changes them.
 */
#include "arch/x86/followed.h"
#include "arch/arch.h"
#include "arch/x86/offsets.h"
#include "arch/x86/sequence.h"
#include "engine/insn/callout.h"
#include "engine/insn/unwind.h"

/* Offsets in the frame, from the top of the stack */
#define FRAME (DP_O_FRAME_SIZE + DP_RED_ZONE_SIZE)
#define FLAGS DP_O_REGS_ORIG_AX /* of lahf and seto */

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

_Static_assert(DP_RED_ZONE_SIZE + 8 * (DP_UNWIND_FRAME - DP_DEPTH_SAVED) ==
		       FRAME,
	       "a depth");

/* What the detour itself uses */
#define OWN (1u << RAX | 1u << RCX | 1u << RSI | 1u << RDI)

/* For a jump with four bytes of displacement: where these are */
struct aims {
	unsigned int uncounted, unknown, counted, leave, again;
	unsigned int to_again, to_insn;
};

/* A move between a register and a place above the stack pointer */
static void put_frame(struct dp_out *o, u8 op, int reg, u8 at)
{
	DP_PUT(o, (u8)(0x48 | (reg & 8) >> 1), op, (u8)(0x44 | (reg & 7) << 3),
	       0x24, at);
}

static bool is_saved(u32 touches, int reg)
{
	return reg != RSP && (touches | OWN) >> reg & 1;
}

/* lea -FRAME(%rsp), %rsp; mov …; lahf; seto %al; mov %rax, flags(%rsp) */
static void put_save(struct dp_out *o, u32 touches)
{
	int reg;

	dp_put_move_stack(o, -FRAME);
	dp_put_frame(o, DP_UNWIND_UNSAVED);
	for (reg = 0; reg < DP_GPRS; reg++)
		if (is_saved(touches, reg))
			put_frame(o, 0x89, reg, dp_touches_slot((u32)reg));
	dp_put_frame(o, DP_UNWIND_FRAME);
	DP_PUT(o, 0x9f, 0x0f, 0x90, 0xc0);
	put_frame(o, 0x89, RAX, FLAGS);
}

/* mov flags(%rsp), %rax; add $0x7f, %al; sahf; mov … */
static void put_restore(struct dp_out *o, u32 touches)
{
	int reg;

	put_frame(o, 0x8b, RAX, FLAGS);
	DP_PUT(o, 0x04, 0x7f, 0x9e);
	for (reg = DP_GPRS - 1; reg >= 0; reg--)
		if (is_saved(touches, reg))
			put_frame(o, 0x8b, reg, dp_touches_slot((u32)reg));
}

/* movq $number, number(%rsp) */
static void put_number(struct dp_out *o, u32 number)
{
	DP_PUT(o, 0x48, 0xc7, 0x84, 0x24);
	dp_put32(o, DP_O_NUMBER);
	dp_put32(o, number);
}

/* Four bytes of a jump to what stands before it */
static void put_back_to(struct dp_out *o, unsigned int to)
{
	dp_put32(o, to - (o->len + 4));
}

/* j… to */
static void put_jcc(struct dp_out *o, u8 cc, unsigned int to)
{
	DP_PUT(o, 0x0f, (u8)(0x80 | cc));
	put_back_to(o, to);
}

enum { BELOW = 2, NOT_BELOW = 3, EQUAL = 4, NOT_EQUAL = 5 };

/* mov $value, %reg */
static void put_value(struct dp_out *o, int reg, u64 value)
{
	DP_PUT(o, 0x48, (u8)(0xb8 | reg));
	dp_put64(o, value);
}

/* @code, and its displacement from rax or rdi */
#define PUT_FIELD(o, field, ...)                         \
	do {                                             \
		_Static_assert((field) < 128, "a byte"); \
		DP_PUT(o, __VA_ARGS__, (u8)(field));     \
	} while (0)

static unsigned int put_jmp_later(struct dp_out *o)
{
	DP_PUT(o, 0xe9);
	dp_put32(o, 0);
	return o->len - 4;
}

/* The thread's handlers' stack is not busy any more:
 * mov busy(%rsp), %rcx; mov $-1, %cl; inc %rcx; mov %rcx, busy(%rsp) */
static void put_rest(struct dp_out *o)
{
	PUT_FIELD(o, DP_O_STACK_BUSY, 0x48, 0x8b, 0x4c, 0x24);
	DP_PUT(o, 0xb1, 0xff, 0x48, 0xff, 0xc1);
	PUT_FIELD(o, DP_O_STACK_BUSY, 0x48, 0x89, 0x4c, 0x24);
}

static void put_cold(struct dp_out *o, const struct dp_detour_spec *s,
		     struct aims *a)
{
	u32 number = s->before[0] - 1;
	unsigned int to_leave;

	a->uncounted = o->len;
	dp_sequence_forget(o, s->rseq);
	put_number(o, number | DP_CALLOUT_UNCOUNTED);
	to_leave = put_jmp_later(o);
	a->unknown = o->len;
	dp_put_frame(o, DP_UNWIND_IN_ARGUMENT);
	put_rest(o);
	DP_PUT(o, 0x48, 0x89, 0xf4); /* mov %rsi, %rsp */
	dp_put_frame(o, DP_UNWIND_FRAME);
	a->counted = o->len;
	put_number(o, number);
	dp_put_aim_far(o, to_leave, 0);
	put_restore(o, s->followed->touches);
	dp_put_move_stack(o, DP_O_NUMBER);
	/* What is left of the frame has no registers. */
	dp_put_at(o, FRAME - DP_O_NUMBER, 0);
	DP_PUT(o, 0xe8); /* call entry */
	dp_put_rel32(o, s->entry);
	dp_put_move_stack(o, FRAME - DP_O_NUMBER);
	a->to_insn = put_jmp_later(o);
}

static void put_abort(struct dp_out *o, const struct dp_detour_spec *s,
		      struct aims *a, struct dp_sequence *q)
{
	dp_sequence_sign(o, s->rseq);
	q->abort = o->len;
	a->to_again = put_jmp_later(o);
}

static void put_count(struct dp_out *o, const struct aims *a,
		      struct dp_sequence *q)
{
	dp_put_aim_far(o, a->to_again, 0);
	dp_sequence_begin(o, q);
	DP_PUT(o, 0x48, 0x85, 0xc9); /* test %rcx, %rcx */
	put_jcc(o, EQUAL, a->uncounted);
	DP_PUT(o, 0x48, 0xff, 0x81); /* incq counter(%rcx) */
	dp_put32(o, q->counter);
	dp_sequence_commit(o, q);
}

/* rax: the thread's struct dp_stack. Then rcx is the thread's stack pointer. */
static void put_checks(struct dp_out *o, const struct dp_detour_spec *s,
		       const struct aims *a)
{
	/* mov %fs:self, %rax; test %rax, %rax */
	DP_PUT(o, 0x64, 0x48, 0x8b, 0x04, 0x25);
	dp_put32(o, (u32)s->self);
	DP_PUT(o, 0x48, 0x85, 0xc0);
	put_jcc(o, EQUAL, a->counted);
	put_value(o, RCX, s->followed->vm_children);
	DP_PUT(o, 0x83, 0x39, 0x00); /* cmpl $0, (%rcx) */
	put_jcc(o, NOT_EQUAL, a->counted);
	PUT_FIELD(o, DP_O_STACK_BUSY, 0x80, 0x78); /* cmpb $0, busy(%rax) */
	DP_PUT(o, 0x00);
	put_jcc(o, NOT_EQUAL, a->counted);
	DP_PUT(o, 0x48, 0x8d, 0x8c, 0x24); /* lea FRAME(%rsp), %rcx */
	dp_put32(o, FRAME);
	/* On the handlers' stack? mov %rcx, %rsi; sub %rax, %rsi; cmp $-size, %rsi */
	DP_PUT(o, 0x48, 0x89, 0xce, 0x48, 0x29, 0xc6, 0x48, 0x81, 0xfe);
	dp_put32(o, (u32)-DP_STACK_BYTES);
	put_jcc(o, NOT_BELOW, a->counted);
	/* On the alternate one? mov %rcx, %rsi; sub alt_sp(%rax), %rsi;
	 * cmp alt_size(%rax), %rsi */
	DP_PUT(o, 0x48, 0x89, 0xce);
	PUT_FIELD(o, DP_O_STACK_ALT_SP, 0x48, 0x2b, 0x70);
	PUT_FIELD(o, DP_O_STACK_ALT_SIZE, 0x48, 0x3b, 0x70);
	put_jcc(o, BELOW, a->counted);
}

/* What the handler reads of its argument that is in no register */
static void put_others(struct dp_out *o, const struct dp_detour_spec *s)
{
	u32 touches = s->followed->touches;

	if (touches & DP_TOUCHES_SP) {
		DP_PUT(o, 0x48, 0x89, 0x8c, 0x24); /* mov %rcx, sp(%rsp) */
		dp_put32(o, DP_O_REGS_SP);
	}
	if (touches & DP_TOUCHES_IP) {
		put_value(o, RSI, s->from + DP_BREAKPOINT_BEHIND);
		DP_PUT(o, 0x48, 0x89, 0xb4, 0x24); /* mov %rsi, ip(%rsp) */
		dp_put32(o, DP_O_REGS_IP);
	}
	put_number(o, s->before[0] - 1);
}

/* The stack pointer changes before @busy does, and the handler is looked up after that: as in
 * entry.S. */
static void put_switch(struct dp_out *o)
{
	/* mov %rsp, %rsi; mov %rax, %rsp; addq $followed, busy(%rax) */
	DP_PUT(o, 0x48, 0x89, 0xe6, 0x48, 0x89, 0xc4);
	dp_put_frame(o, DP_UNWIND_IN_ARGUMENT);
	PUT_FIELD(o, DP_O_STACK_BUSY, 0x48, 0x83, 0x40);
	DP_PUT(o, DP_O_BUSY_FOLLOWED);
	/* mov %rsi, regs(%rax) */
	PUT_FIELD(o, DP_O_STACK_REGS, 0x48, 0x89, 0x70);
	dp_put_frame(o, DP_UNWIND_IN_STACK);
}

static void put_call(struct dp_out *o, const struct dp_detour_spec *s,
		     const struct aims *a)
{
	put_value(o, RCX, s->followed->fast);
	DP_PUT(o, 0x48, 0x8b, 0x39); /* mov (%rcx), %rdi */
	DP_PUT(o, 0x48, 0x85, 0xff); /* test %rdi, %rdi */
	put_jcc(o, EQUAL, a->unknown);
	DP_PUT(o, 0xf7, 0x87); /* testl $others, touches(%rdi) */
	dp_put32(o, DP_O_PROBE_TOUCHES);
	dp_put32(o, ~s->followed->touches);
	put_jcc(o, NOT_EQUAL, a->unknown);
	/* mov pre(%rdi), %rcx; mov user(%rdi), %rdi; call *%rcx */
	PUT_FIELD(o, DP_O_PROBE_PRE, 0x48, 0x8b, 0x4f);
	PUT_FIELD(o, DP_O_PROBE_USER, 0x48, 0x8b, 0x7f);
	DP_PUT(o, 0xff, 0xd1);
	/* A signal's handler may take the stack as soon as it is not busy:
	 * mov regs(%rsp), %rsi; …; mov %rsi, %rsp */
	PUT_FIELD(o, DP_O_STACK_REGS, 0x48, 0x8b, 0x74, 0x24);
	dp_put_frame(o, DP_UNWIND_IN_ARGUMENT);
	put_rest(o);
	DP_PUT(o, 0x48, 0x89, 0xf4);
	dp_put_frame(o, DP_UNWIND_FRAME);
}

/* For unwinders */
static void note_slots(struct dp_detour *d, u32 touches)
{
	u32 reg;

	for (reg = 0; reg < DP_GPRS; reg++)
		d->unwind.slot[reg] =
			is_saved(touches, (int)reg) ?
				(u8)((DP_O_FRAME_SIZE - dp_touches_slot(reg)) /
				     8) :
				0;
}

void dp_followed_head(struct dp_out *o, const struct dp_detour_spec *s,
		      struct dp_detour *d)
{
	struct dp_sequence q = { .rseq = s->rseq,
				 .table = s->table,
				 .counter = s->counter };
	struct aims a = { 0 };

	note_slots(d, s->followed->touches);
	o->len = DP_SEQUENCE_DESCRIPTOR + s->pad;
	dp_put_at(o, FRAME, 0);
	dp_put_saved(o);
	put_cold(o, s, &a);
	dp_put_at(o, FRAME, 0);
	dp_put_saved(o);
	put_abort(o, s, &a, &q);
	d->start = (u16)o->len;
	dp_put_at(o, 0, 0);
	put_save(o, s->followed->touches);
	put_count(o, &a, &q);
	put_checks(o, s, &a);
	put_others(o, s);
	put_switch(o);
	put_call(o, s, &a);
	put_restore(o, s->followed->touches);
	dp_put_move_stack(o, FRAME);
	dp_put_aim_far(o, a.to_insn, 0);
	dp_sequence_describe(o, &q);
}
