// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * touch: the memory that the site's instruction is going to access is accessed ahead of it.
 *
 * A record may be made before its instruction has completed, if the instruction can fail for want
 * of memory alone, and the memory is there. A fault here leads to where the hit is left to the
 * interpreter, which makes the record behind the instruction.
 *
 * Another thread may unmap the memory in between: then there is a record of an instruction that
 * has failed.
 */
#include "arch/x86/native/body.h"

#define PAGE_SHIFT 12

/* rax: where the operand is, less its segment's base */
static void put_address(struct dp_body *b, const struct dp_operand_ref *m)
{
	if (m->base == DP_NO_REG && m->index == DP_NO_REG) {
		dp_x86_mov_imm(b->o, DP_RAX, (u64)m->disp);
		return;
	}
	dp_body_register(b, DP_RAX, m->index != DP_NO_REG ? m->index : m->base);
	if (m->index != DP_NO_REG && m->scale > 1)
		dp_x86_shift(b->o, DP_SHIFT_SHL, DP_RAX,
			     (u8)__builtin_ctz(m->scale));
	if (m->index != DP_NO_REG && m->base != DP_NO_REG) {
		dp_body_register(b, DP_RCX, m->base);
		dp_x86_alu(b->o, DP_ALU_ADD, DP_RAX, dp_x86_in(DP_RCX));
	}
	if (m->disp)
		dp_x86_lea(b->o, DP_RAX, dp_x86_at(DP_RAX, (s32)m->disp));
}

static void put_segment(struct dp_out *o, const struct dp_operand_ref *m)
{
	if (m->segment)
		DP_PUT(o, m->segment == DP_SEG_FS ? 0x64 : 0x65);
}

/* movzbl at(%rax), %ecx */
static void put_read(struct dp_out *o, const struct dp_insn_memory *m, u8 at)
{
	put_segment(o, &m->operand);
	DP_PUT(o, 0x0f, 0xb6, 0x48, at);
}

/* lock orb $0, at(%rax): no other thread's store is lost. */
static void put_write(struct dp_out *o, const struct dp_insn_memory *m, u8 at)
{
	put_segment(o, &m->operand);
	DP_PUT(o, 0xf0, 0x80, 0x48, at, 0);
}

/* Its last byte, if that is in another page: lea at(%rax), %ecx; xor %eax, %ecx; shr $12, %ecx; jz.
 * A segment's base may be anywhere in a page. */
static void put_write_last(struct dp_out *o, const struct dp_insn_memory *m)
{
	u8 at = (u8)(m->size - 1);
	unsigned int over = 0;

	if (!m->operand.segment) {
		DP_PUT(o, 0x8d, 0x48, at, 0x31, 0xc1, 0xc1, 0xe9, PAGE_SHIFT);
		DP_PUT(o, 0x74, 0);
		over = o->len - 1;
	}
	put_write(o, m, at);
	if (over)
		dp_put_aim(o, over);
}

static void touch_operand(struct dp_body *b, const struct dp_insn_memory *m)
{
	put_address(b, &m->operand);
	if (m->writes)
		put_write(b->o, m, 0);
	else
		put_read(b->o, m, 0);
	if (m->size > 1 && m->writes)
		put_write_last(b->o, m);
	else if (m->size > 1)
		put_read(b->o, m, (u8)(m->size - 1));
}

/* The instruction itself will do the same. */
void dp_body_touch(struct dp_body *b)
{
	s32 sp = dp_body_frame(b);

	switch (b->spec->stream.commits) {
	case DP_COMMITS_IF_PUSHED:
		dp_x86_mov(b->o, DP_RAX, dp_x86_at(DP_RSP, sp - 8));
		dp_x86_store(b->o, dp_x86_at(DP_RSP, sp - 8), DP_RAX);
		break;
	case DP_COMMITS_IF_POPPED:
		dp_x86_mov(b->o, DP_RAX, dp_x86_at(DP_RSP, sp));
		break;
	case DP_COMMITS_IF_TOUCHED:
		touch_operand(b, &b->spec->stream.memory);
		break;
	default:
		break;
	}
}
