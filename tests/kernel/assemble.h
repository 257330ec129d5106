/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* assemble: programs of DProbes as tests write them, for modules and for the guest's first program. */
#ifndef DP_KERNEL_ASSEMBLE_H
#define DP_KERNEL_ASSEMBLE_H

#include "engine/vm/ops.h"

/* Registers, by their numbers */
#define DP_ASM_RAX 0x60
#define DP_ASM_RDX 0x63
#define DP_ASM_RDI 0x64
#define DP_ASM_RSI 0x65
#define DP_ASM_RSP 0x67

/** struct dp_asm - a program that is written: @n of the @bytes */
struct dp_asm {
	unsigned char bytes[768];
	unsigned int n;
};

/** dp_asm_put() - @size bytes of a number, the lowest first; what there is no room for is left out */
static inline void dp_asm_put(struct dp_asm *c, unsigned long long value,
			      unsigned int size)
{
	for (; size && c->n < sizeof(c->bytes); size--, value >>= 8)
		c->bytes[c->n++] = (unsigned char)value;
}

/** dp_asm_op() - an instruction without an operand; dp_asm_op8(), … - with one of so many bits */
static inline void dp_asm_op(struct dp_asm *c, unsigned char op)
{
	dp_asm_put(c, op, 1);
}

static inline void dp_asm_op8(struct dp_asm *c, unsigned char op,
			      unsigned char operand)
{
	dp_asm_op(c, op);
	dp_asm_put(c, operand, 1);
}

static inline void dp_asm_op16(struct dp_asm *c, unsigned char op,
			       unsigned short operand)
{
	dp_asm_op(c, op);
	dp_asm_put(c, operand, 2);
}

static inline void dp_asm_op64(struct dp_asm *c, unsigned char op,
			       unsigned long long operand)
{
	dp_asm_op(c, op);
	dp_asm_put(c, operand, 8);
}

/** dp_asm_read() - the eight bytes @offset behind where a register points to */
static inline void dp_asm_read(struct dp_asm *c, unsigned short reg,
			       unsigned long long offset)
{
	dp_asm_op16(c, DP_OPCODE_PUSH_R, reg);
	if (offset) {
		dp_asm_op64(c, DP_OPCODE_PUSH, offset);
		dp_asm_op(c, DP_OPCODE_ADD);
	}
	dp_asm_op(c, DP_OPCODE_PUSH_MEM_U64);
}

/** dp_asm_log() - log a number */
static inline void dp_asm_log(struct dp_asm *c, unsigned long long value)
{
	dp_asm_op64(c, DP_OPCODE_PUSH, value);
	dp_asm_op16(c, DP_OPCODE_LOG_I, 1);
}

#endif
