// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * record: the sequence that claims room in this CPU's stream, fills it, and publishes it.
 *
 * It may begin anew at any instruction, so it changes nothing but rax, rcx and rdx, and memory that
 * is not published yet. Values have been computed before, and stay where they are.
 */
#include "arch/x86/native/body.h"
#include "arch/x86/sequence.h"
#include "engine/layout/aggregate.h"
#include "engine/layout/ring.h"

/* Bytes of code at most: of touching memory and a sequence without values, of each value */
#define SEQUENCE 288
#define VALUE 24

#define DATA ((s32)sizeof(struct dp_stream))
#define IN_STREAM(field) ((s32) __builtin_offsetof(struct dp_stream, field))
#define IN_RECORD(field) \
	(DATA + (s32) __builtin_offsetof(struct dp_stream_record, field))

/* rcx: this CPU's stream, by its number in rax; then rax: the time */
static void put_stream(struct dp_body *b, const struct dp_detour_stream *s)
{
	struct dp_out *o = b->o;

	DP_PUT(o, 0x48, 0x69, 0xc8); /* imul $stride, %rax, %rcx */
	dp_put32(o, s->stride);
	DP_PUT(o, 0x48, 0xb8); /* mov $base, %rax */
	dp_put64(o, s->base);
	dp_x86_alu(o, DP_ALU_ADD, DP_RCX, dp_x86_in(DP_RAX));
	if (s->coarse)
		return;
	DP_PUT(o, 0x0f, 0x31); /* rdtsc */
	dp_x86_shift(o, DP_SHIFT_SHL, DP_RDX, 32);
	dp_x86_alu(o, DP_ALU_OR, DP_RAX, dp_x86_in(DP_RDX));
}

/* rdx: where the record goes, less DATA */
static void put_claim(struct dp_body *b, const struct dp_detour_stream *s)
{
	struct dp_out *o = b->o;

	dp_x86_mov(o, DP_RDX, dp_x86_at(DP_RCX, IN_STREAM(head)));
	dp_x86_alu(o, DP_ALU_CMP, DP_RDX, dp_x86_at(DP_RCX, IN_STREAM(limit)));
	dp_body_jump(b, DP_CC_B ^ DP_CC_NOT, DP_LABEL_LEAVE);
	DP_PUT(o, 0x81, 0xe2); /* and $mask, %edx */
	dp_put32(o, s->mask);
	dp_x86_alu(o, DP_ALU_ADD, DP_RDX, dp_x86_in(DP_RCX));
}

static void put_head(struct dp_body *b, const struct dp_detour_stream *s,
		     u32 what)
{
	struct dp_out *o = b->o;

	if (!s->coarse)
		dp_x86_store(o, dp_x86_at(DP_RDX, IN_RECORD(ticks)), DP_RAX);
	DP_PUT(o, 0xc7, 0x82); /* movl $what, what(%rdx) */
	dp_put32(o, IN_RECORD(what));
	dp_put32(o, what);
	DP_PUT(o, 0x64, 0x8b, 0x04, 0x25); /* mov %fs:tid, %eax */
	dp_put32(o, s->tid_offset);
	DP_PUT(o, 0x89, 0x82); /* mov %eax, tid(%rdx) */
	dp_put32(o, IN_RECORD(tid));
}

static void put_value(struct dp_body *b, s32 at,
		      const struct dp_body_operand *x)
{
	if (x->constant) {
		DP_PUT(b->o, 0x48, 0xc7, 0x82); /* movq $imm, at(%rdx) */
		dp_put32(b->o, (u32)at);
		dp_put32(b->o, (u32)x->imm);
	} else if (x->rm.memory) {
		dp_x86_mov(b->o, DP_RAX, x->rm);
		dp_x86_store(b->o, dp_x86_at(DP_RDX, at), DP_RAX);
	} else {
		dp_x86_store(b->o, dp_x86_at(DP_RDX, at), x->rm.reg);
	}
}

static void put_publish(struct dp_body *b, u32 bytes)
{
	dp_x86_mov(b->o, DP_RAX, dp_x86_at(DP_RCX, IN_STREAM(head)));
	dp_x86_lea(b->o, DP_RAX, dp_x86_at(DP_RAX, (s32)bytes));
	dp_x86_store(b->o, dp_x86_at(DP_RCX, IN_STREAM(head)), DP_RAX);
}

static void put_sequence(struct dp_body *b, u8 i,
			 const struct dp_body_operand *values, u8 n)
{
	const struct dp_detour_spec *s = b->spec;
	struct dp_sequence q = {
		.rseq = s->rseq,
		.table = s->table,
		.descriptor = i * (unsigned int)DP_SEQUENCE_DESCRIPTOR,
		.abort = b->abort[i],
	};
	u8 k;

	dp_body_bind(b, (u8)(DP_LABEL_RECORD + i));
	dp_sequence_begin(b->o, &q);
	dp_x86_test(b->o, DP_RCX);
	dp_body_jump(b, DP_CC_E, DP_LABEL_LEAVE);
	put_stream(b, &s->stream);
	put_claim(b, &s->stream);
	put_head(b, &s->stream, dp_stream_what(s->stream.probe, i, n));
	for (k = 0; k < n; k++)
		put_value(b, IN_RECORD(value) + 8 * k, &values[k]);
	put_publish(b, (u32)sizeof(struct dp_stream_record) + 8u * n);
	dp_sequence_commit(b->o, &q);
	dp_sequence_describe(b->o, &q);
}

/* The hit is counted, and only then kept: the code leaves before it has done anything. */
static void put_hit(struct dp_body *b, u8 i)
{
	const struct dp_detour_spec *s = b->spec;
	struct dp_sequence q = {
		.rseq = s->rseq,
		.table = s->table,
		.descriptor = i * (unsigned int)DP_SEQUENCE_DESCRIPTOR,
		.abort = b->abort[i],
	};

	dp_body_bind(b, (u8)(DP_LABEL_RECORD + i));
	dp_sequence_begin(b->o, &q);
	dp_x86_test(b->o, DP_RCX);
	dp_body_jump(b, DP_CC_E, DP_LABEL_LEAVE);
	DP_PUT(b->o, 0x48, 0xff, 0x81); /* incq counter(%rcx) */
	dp_put32(b->o, s->counter);
	dp_sequence_commit(b->o, &q);
	dp_sequence_describe(b->o, &q);
}

/* Below the stack pointer, where no signal's frame comes */
static void put_word(struct dp_body *b, s32 at, const struct dp_body_operand *x)
{
	if (x->constant) {
		DP_PUT(b->o, 0x48, 0xc7, 0x84, 0x24); /* movq $imm, at(%rsp) */
		dp_put32(b->o, (u32)at);
		dp_put32(b->o, (u32)x->imm);
	} else if (x->rm.memory) {
		dp_x86_mov(b->o, DP_RAX, x->rm);
		dp_x86_store(b->o, dp_x86_at(DP_RSP, at), DP_RAX);
	} else {
		dp_x86_store(b->o, dp_x86_at(DP_RSP, at), x->rm.reg);
	}
}

static void move_stack(struct dp_body *b, s32 by)
{
	if (!by)
		return;
	dp_x86_lea(b->o, DP_RSP, dp_x86_at(DP_RSP, by));
	dp_put_deeper(b->o, -by);
}

/* The words, of which the last one is on top, and in rax the table */
static void put_keep(struct dp_body *b, u8 i,
		     const struct dp_body_operand *values,
		     const struct dp_native_record *r)
{
	s32 bytes = 8 * r->nr_values;
	u8 k;

	put_hit(b, i);
	for (k = 0; k < r->nr_values; k++)
		if (b->n->values[r->values[k]].op != DP_NATIVE_REST)
			put_word(b, -8 * (k + 1), &values[k]);
	move_stack(b, -bytes);
	if (r->texts) {
		DP_PUT(b->o, 0x48, 0xba); /* mov $texts, %rdx */
		dp_put64(b->o, r->texts);
	}
	DP_PUT(b->o, 0x48, 0xb8); /* mov $table, %rax */
	dp_put64(b->o,
		 b->spec->tables +
			 (r->table - 1) * sizeof(struct dp_aggregate_entry));
	DP_PUT(b->o, 0xff, 0x15); /* call *keep(%rip) */
	dp_put_rel32(b->o, (r->texts ? b->spec->keep_texts : b->spec->keep) +
				   DP_STUB_WORD);
	move_stack(b, bytes);
}

/* Of a string, its address is put there, in place of its first word. */
static struct dp_body_operand stay(struct dp_body *b, u8 value)
{
	const struct dp_native_value *v = &b->n->values[value];

	if (v->op == DP_NATIVE_REST)
		return (struct dp_body_operand){ .constant = true };
	return dp_body_stay(b, v->op == DP_NATIVE_TEXT ? v->a : value);
}

void dp_body_record(struct dp_body *b, const struct dp_native_block *block,
		    bool last)
{
	const struct dp_native_record *r = &b->n->records[block->record];
	struct dp_body_operand values[DP_NATIVE_ELEMENTS];
	u8 homes = b->nr_homes, i;

	for (i = 0; i < r->nr_values; i++)
		values[i] = stay(b, r->values[i]);
	if (b->o->len + SEQUENCE + VALUE * r->nr_values > b->most) {
		b->fails = true;
		return;
	}
	if (r->table) {
		put_keep(b, block->record, values, r);
	} else {
		dp_body_touch(b);
		put_sequence(b, block->record, values, r->nr_values);
	}
	for (i = 0; i < r->nr_values; i++)
		dp_body_drop(b, &values[i]);
	b->nr_homes = homes;
	if (!last)
		dp_body_jump(b, DP_CC_ALWAYS, DP_LABEL_OUT);
}
