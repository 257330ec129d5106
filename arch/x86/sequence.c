// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* sequence: count on this CPU, in a restartable sequence. */
#include "arch/x86/sequence.h"

#define RSEQ_CPU_ID 4
#define RSEQ_CS 8

void dp_sequence_forget(struct dp_out *o, const struct dp_rseq *rseq)
{
	DP_PUT(o, 0x64, 0x48, 0xc7, 0x04, 0x25); /* movq $0, %fs:rseq_cs */
	dp_put32(o, (u32)rseq->offset + RSEQ_CS);
	dp_put32(o, 0);
}

void dp_sequence_sign(struct dp_out *o, const struct dp_rseq *rseq)
{
	DP_PUT(o, 0x0f, 0xb9, 0x3d); /* ud1: the signature is its operand */
	dp_put32(o, rseq->signature);
}

void dp_sequence_begin(struct dp_out *o, struct dp_sequence *q)
{
	u32 area = (u32)q->rseq->offset;

	DP_PUT(o, 0x48, 0x8d, 0x05); /* lea descriptor(%rip), %rax */
	dp_put_rel32(o, o->at + q->descriptor);
	DP_PUT(o, 0x64, 0x48, 0x89, 0x04, 0x25); /* mov %rax, %fs:rseq_cs */
	dp_put32(o, area + RSEQ_CS);
	q->first = o->len;
	/* The table has an entry for each value of 16 bits. */
	DP_PUT(o, 0x64, 0x0f, 0xb7, 0x04, 0x25); /* movzwl %fs:cpu_id, %eax */
	dp_put32(o, area + RSEQ_CPU_ID);
	DP_PUT(o, 0x48, 0xb9); /* mov $table, %rcx */
	dp_put64(o, q->table);
	DP_PUT(o, 0x48, 0x8b, 0x0c, 0xc1); /* mov (%rcx,%rax,8), %rcx */
}

void dp_sequence_commit(struct dp_out *o, struct dp_sequence *q)
{
	q->committed = o->len;
	dp_sequence_forget(o, q->rseq);
}

/* A move between rax and @disp(%rcx), as short as it can be */
static void put_move(struct dp_out *o, u8 op, u32 disp)
{
	if (!disp) {
		DP_PUT(o, 0x48, op, 0x01);
	} else if (disp < 0x80) {
		DP_PUT(o, 0x48, op, 0x41, (u8)disp);
	} else {
		DP_PUT(o, 0x48, op, 0x81);
		dp_put32(o, disp);
	}
}

void dp_sequence_put(struct dp_out *o, struct dp_sequence *q)
{
	dp_sequence_begin(o, q);
	DP_PUT(o, 0xe3, 0); /* jrcxz slow */
	q->to_slow = o->len - 1;
	put_move(o, 0x8b, q->counter);
	DP_PUT(o, 0x48, 0x8d, 0x40, 0x01); /* lea 1(%rax), %rax */
	put_move(o, 0x89, q->counter);
	dp_sequence_commit(o, q);
}

void dp_sequence_describe(const struct dp_out *o, const struct dp_sequence *q)
{
	struct dp_out to = *o;

	to.len = q->descriptor;
	dp_put64(&to, 0); /* version, flags */
	dp_put64(&to, o->at + q->first);
	dp_put64(&to, q->committed - q->first);
	dp_put64(&to, o->at + q->abort);
}
