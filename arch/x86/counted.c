// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* counted: the beginning, or the end, of a call, counted by the detour itself: see counted.h. */
#include "arch/x86/counted.h"
#include "arch/x86/offsets.h"
#include "arch/x86/sequence.h"
#include "engine/layout/block.h"
#include "engine/layout/instance.h"

#define RSEQ_CPU_ID DP_RSEQ_CPU_ID
#define RSEQ_CS DP_RSEQ_CS
/* rax, rcx, rdx, rsi and the flags, below the red zone */
#define SAVED 40
#define SAVED_DEPTH (DP_RED_ZONE_SIZE + SAVED)
/* Of struct dp_exit_instance, in a byte */
#define STATE 4
#define RET 8
#define SERIAL 16
/* Of a struct dp_call_entry's counter */
#define OFFSET (~((1u << DP_CALL_SHIFT) - 1))

static void push(struct dp_out *o, u8 op)
{
	DP_PUT(o, op);
	dp_put_deeper(o, 8);
}

static void pop(struct dp_out *o, u8 op)
{
	DP_PUT(o, op);
	dp_put_deeper(o, -8);
}

static void save(struct dp_out *o)
{
	dp_put_move_stack(o, -DP_RED_ZONE_SIZE);
	dp_put_saved(o);
	push(o, 0x50); /* push %rax */
	push(o, 0x51); /* push %rcx */
	push(o, 0x52); /* push %rdx */
	push(o, 0x56); /* push %rsi */
	DP_PUT(o, 0x9f); /* lahf */
	DP_PUT(o, 0x0f, 0x90, 0xc0); /* seto %al */
	push(o, 0x50);
}

/* Except for the red zone */
static void restore(struct dp_out *o)
{
	pop(o, 0x58); /* pop %rax */
	DP_PUT(o, 0x04, 0x7f); /* add $0x7f, %al */
	DP_PUT(o, 0x9e); /* sahf */
	pop(o, 0x5e); /* pop %rsi */
	pop(o, 0x5a); /* pop %rdx */
	pop(o, 0x59); /* pop %rcx */
	pop(o, 0x58);
}

/* Four bytes of a displacement, for dp_put_aim_far() or a literal */
static unsigned int put_gap(struct dp_out *o)
{
	dp_put32(o, 0);
	return o->len - 4;
}

static void jump_to_other(struct dp_out *o, struct dp_counted *c, u8 condition)
{
	DP_PUT(o, 0x0f, condition);
	c->other[c->others++] = put_gap(o);
}

#define JNE 0x85
#define JE 0x84

/* No fork child has blocks. */
static void leave_children(struct dp_out *o, struct dp_counted *c)
{
	DP_PUT(o, 0x48, 0x8b, 0x15); /* mov wipe(%rip), %rdx */
	c->wipe = put_gap(o);
	DP_PUT(o, 0x83, 0x3a, 0x00); /* cmpl $0, (%rdx) */
	jump_to_other(o, c, JE);
}

/* From the slot, in rax, to the instance. In between, rax is an address that can be read. */
static void find(struct dp_out *o, const struct dp_detour_spec *s,
		 struct dp_counted *c)
{
	DP_PUT(o, 0x48, 0x89, 0xc2); /* mov %rax, %rdx */
	DP_PUT(o, 0x48, 0x81,
	       0xe2); /* and $.., %rdx: a slot that is not aligned has no block */
	dp_put32(o, -DP_BLOCK_BYTES | 7);
	DP_PUT(o, 0x48, 0x69, 0xca); /* imul $.., %rdx, %rcx */
	dp_put32(o, DP_BLOCK_FACTOR);
	DP_PUT(o, 0x48, 0xc1, 0xe9, DP_BLOCK_FACTOR_SHIFT - 4); /* shr, %rcx */
	DP_PUT(o, 0x81, 0xe1); /* and $.., %ecx */
	dp_put32(o, s->calls.block_bits);
	DP_PUT(o, 0x48, 0x03, 0x0d); /* add blocks(%rip), %rcx */
	c->blocks = put_gap(o);
	DP_PUT(o, 0x48, 0x39, 0x11); /* cmp %rdx, (%rcx) */
	jump_to_other(o, c, JNE);
	DP_PUT(o, 0x89, 0xc2); /* mov %eax, %edx */
	DP_PUT(o, 0x81, 0xe2); /* and $.., %edx */
	dp_put32(o, DP_BLOCK_BYTES - 8);
	DP_PUT(o, 0x69, 0xd2); /* imul $.., %edx, %edx */
	dp_put32(o, s->calls.instance_words);
	DP_PUT(o, 0x48, 0x03, 0x51, 0x08); /* add 8(%rcx), %rdx */
	DP_PUT(o, 0x48, 0x89, 0xd0); /* mov %rdx, %rax */
}

/* The sequence has the search in it: a stopped thread has no block in hand, which might be given back. */
static void start(struct dp_out *o, const struct dp_detour_spec *s,
		  struct dp_counted *c)
{
	c->again = o->len;
	DP_PUT(o, 0x48, 0x8d, 0x84, 0x24); /* lea slot(%rsp), %rax */
	dp_put32(o, SAVED_DEPTH);
	DP_PUT(o, 0x48, 0x8b, 0x35); /* mov entry(%rip), %rsi */
	c->entry = put_gap(o);
	DP_PUT(o, 0x48, 0x8d, 0x15); /* lea descriptor(%rip), %rdx */
	c->descriptor = put_gap(o);
	DP_PUT(o, 0x64, 0x48, 0x89, 0x14, 0x25); /* mov %rdx, %fs:rseq_cs */
	dp_put32(o, (u32)s->inner_rseq->offset + RSEQ_CS);
	c->first = o->len;
}

/* This CPU's counters, in rcx, if what is to be done is still there, in rdx then */
static void look_up(struct dp_out *o, const struct dp_detour_spec *s,
		    struct dp_counted *c)
{
	DP_PUT(o, 0x64, 0x0f, 0xb7, 0x0c, 0x25); /* movzwl %fs:cpu_id, %ecx */
	dp_put32(o, (u32)s->inner_rseq->offset + RSEQ_CPU_ID);
	DP_PUT(o, 0x48, 0x8b, 0x15); /* mov table(%rip), %rdx */
	c->table = put_gap(o);
	DP_PUT(o, 0x48, 0x8b, 0x0c, 0xca); /* mov (%rdx,%rcx,8), %rcx */
	DP_PUT(o, 0x48, 0x85, 0xc9); /* test %rcx, %rcx */
	jump_to_other(o, c, JE);
	DP_PUT(o, 0x48, 0x8b, 0x15); /* mov value(%rip), %rdx */
	c->value = put_gap(o);
	DP_PUT(o, 0x48, 0x39, 0x16); /* cmp %rdx, (%rsi) */
	jump_to_other(o, c, JNE);
}

static void count(struct dp_out *o, const struct dp_detour_spec *s, u32 counter,
		  struct dp_counted *c)
{
	DP_PUT(o, 0x48, 0xff, 0x81); /* incq counter(%rcx) */
	dp_put32(o, counter);
	c->committed = o->len;
	dp_sequence_forget(o, s->inner_rseq);
}

/* What is in doubt has rsi for its word. */
static void put_word(struct dp_out *o, u32 group)
{
	DP_PUT(o, 0xbe); /* mov $group, %esi */
	dp_put32(o, group);
}

static void put_state(struct dp_out *o, u32 state)
{
	DP_PUT(o, 0xc7, 0x40, STATE); /* movl $state, 4(%rax) */
	dp_put32(o, state);
}

/* Nothing but the return address has to be there before the instance is in doubt. */
static void enter(struct dp_out *o, const struct dp_detour_spec *s,
		  struct dp_call_entry value, struct dp_counted *c)
{
	DP_PUT(o, 0x48, 0x83, 0x38, 0x00); /* cmpq $0, (%rax) */
	jump_to_other(o, c, JNE);
	DP_PUT(o, 0x48, 0x8b, 0x94, 0x24); /* mov slot(%rsp), %rdx */
	dp_put32(o, SAVED_DEPTH);
	DP_PUT(o, 0x48, 0x89, 0x50, RET); /* mov %rdx, 8(%rax) */
	DP_PUT(o, 0xff, 0x40, SERIAL); /* incl 16(%rax) */
	look_up(o, s, c);
	put_word(o, value.group);
	DP_PUT(o, 0x48, 0x89, 0x30); /* mov %rsi, (%rax) */
	count(o, s, value.counter & OFFSET, c);
	put_state(o, DP_INSTANCE_LIVE);
}

/* An exit of several functions ends only the call with the return address. */
static void leave(struct dp_out *o, const struct dp_detour_spec *s,
		  struct dp_call_entry value, struct dp_counted *c)
{
	look_up(o, s, c);
	DP_PUT(o, 0x39, 0x10); /* cmp %edx, (%rax) */
	jump_to_other(o, c, JNE);
	DP_PUT(o, 0x83, 0x78, STATE, DP_INSTANCE_LIVE); /* cmpl $1, 4(%rax) */
	jump_to_other(o, c, JNE);
	if (value.counter & DP_CALL_SHARED) {
		DP_PUT(o, 0x48, 0x8b, 0x94, 0x24); /* mov slot(%rsp), %rdx */
		dp_put32(o, SAVED_DEPTH);
		DP_PUT(o, 0x48, 0x39, 0x50, RET); /* cmp %rdx, 8(%rax) */
		jump_to_other(o, c, JNE);
	}
	put_word(o, value.group);
	put_state(o, DP_INSTANCE_DOUBT);
	count(o, s, value.counter & OFFSET, c);
	DP_PUT(o, 0x48, 0xc7, 0x00); /* movq $0, (%rax) */
	dp_put32(o, 0);
}

static struct dp_call_entry value_of(const struct dp_detour_spec *s, int i)
{
	return (struct dp_call_entry){ (u32)s->call_value[i],
				       (u32)(s->call_value[i] >> 32) };
}

static bool begins(struct dp_call_entry value)
{
	return value.counter & DP_CALL_ENTER;
}

void dp_counted_put(struct dp_out *o, const struct dp_detour_spec *s, int i,
		    struct dp_counted *c)
{
	struct dp_call_entry value = value_of(s, i);

	*c = (struct dp_counted){ 0 };
	save(o);
	leave_children(o, c);
	start(o, s, c);
	find(o, s, c);
	if (begins(value))
		enter(o, s, value, c);
	else
		leave(o, s, value, c);
	restore(o);
	dp_put_move_stack(o, DP_RED_ZONE_SIZE);
	c->end = o->len;
}

static void aim_back(struct dp_out *o, unsigned int to)
{
	dp_put_rel32(o, o->at + to);
}

/* The displacement at @gap leads to what is written next. */
static void put_literal(struct dp_out *o, unsigned int gap, u64 value)
{
	dp_put_aim_far(o, gap, 0);
	dp_put64(o, value);
}

/* The shared code looks farther, and leaves to the agent what is not simple. */
static void put_other(struct dp_out *o, const struct dp_detour_spec *s, int i,
		      const struct dp_counted *c)
{
	unsigned int k;

	for (k = 0; k < c->others; k++)
		dp_put_aim_far(o, c->other[k], 0);
	dp_sequence_forget(o, s->inner_rseq);
	restore(o);
	dp_put_callout_by(o, s->by[i], s->before[i] - 1);
	DP_PUT(o, 0xe9);
	aim_back(o, c->end);
}

static void put_data(struct dp_out *o, const struct dp_detour_spec *s, int i,
		     const struct dp_counted *c, unsigned int abort)
{
	while (o->len % DP_SEQUENCE_DESCRIPTOR)
		DP_PUT(o, DP_BREAKPOINT);
	dp_put_aim_far(o, c->descriptor, 0);
	dp_put64(o, 0); /* version, flags */
	dp_put64(o, o->at + c->first);
	dp_put64(o, c->committed - c->first);
	dp_put64(o, o->at + abort);
	put_literal(o, c->wipe, s->calls.wipe);
	put_literal(o, c->table, s->table);
	put_literal(o, c->blocks, s->calls.blocks);
	put_literal(o, c->entry, s->call_at[i]);
	put_literal(o, c->value, s->call_value[i]);
}

/* Take back what the thread has done to the instance, and start again. */
static void put_abort(struct dp_out *o, const struct dp_detour_spec *s, int i,
		      const struct dp_counted *c)
{
	unsigned int to_again;

	DP_PUT(o, 0x48, 0x39, 0x30); /* cmp %rsi, (%rax) */
	DP_PUT(o, 0x75, 0); /* jne 1f */
	to_again = o->len - 1;
	if (begins(value_of(s, i))) {
		DP_PUT(o, 0x48, 0xc7, 0x00); /* movq $0, (%rax) */
		dp_put32(o, 0);
	} else {
		put_state(o, DP_INSTANCE_LIVE);
	}
	dp_put_aim(o, to_again);
	DP_PUT(o, 0xe9);
	aim_back(o, c->again);
}

void dp_counted_cold(struct dp_out *o, const struct dp_detour_spec *s, int i,
		     const struct dp_counted *c)
{
	unsigned int abort;

	dp_put_at(o, SAVED_DEPTH, (u8)i);
	dp_put_saved(o);
	put_other(o, s, i, c);
	dp_sequence_sign(o, s->inner_rseq);
	dp_put_at(o, SAVED_DEPTH, (u8)i);
	dp_put_saved(o);
	abort = o->len;
	put_abort(o, s, i, c);
	put_data(o, s, i, c, abort);
}
