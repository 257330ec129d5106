// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* math: arithmetic and logic on 64-bit elements. */
#include "engine/vm/machine.h"

#define WIDTH 64

static u64 shift(u64 x, u64 n, bool left)
{
	if (n >= WIDTH)
		return 0;
	return left ? x << n : x >> n;
}

static u64 rotate_left(u64 x, u64 n)
{
	n %= WIDTH;
	return n ? x << n | x >> (WIDTH - n) : x;
}

/* Bits count from 1. */
static u64 propagate(u8 op, u64 x, u64 n)
{
	u64 bit = 1ull << (n - 1), below = bit - 1, above = ~(below | bit);

	switch (op) {
	case DP_OPCODE_PBL:
	case DP_OPCODE_PBL_I:
		return x & bit ? x | above : x & ~above;
	case DP_OPCODE_PBR:
	case DP_OPCODE_PBR_I:
		return x & bit ? x | below : x & ~below;
	case DP_OPCODE_PZL:
	case DP_OPCODE_PZL_I:
		return x & ~above;
	default:
		return x & ~below;
	}
}

static void bits(struct dp_vm *vm, u8 op, u64 n)
{
	u64 x = dp_vm_pop(vm);

	if (!n || n > WIDTH)
		dp_vm_raise(vm, DP_EX_INVALID_OPERAND, DP_VM_OPERAND_BIT, n);
	else
		dp_vm_push(vm, propagate(op, x, n));
}

static void divide(struct dp_vm *vm, bool with_sign)
{
	u64 d = dp_vm_pop(vm), n = dp_vm_pop(vm);

	if (!d || (with_sign && n == 1ull << (WIDTH - 1) && d == ~0ull)) {
		dp_vm_raise(vm, DP_EX_DIV_BY_ZERO, 0, 0);
		return;
	}
	dp_vm_push(vm, with_sign ? (u64)((s64)n % (s64)d) : n % d);
	dp_vm_push(vm, with_sign ? (u64)((s64)n / (s64)d) : n / d);
}

/* Exponents are 127 and 1023 above those of the numbers. A float below all normal ones has bits
 * to be moved up. */
#define BIAS (1023 - 127)
#define FRACTION 23
#define WIDER (52 - FRACTION)

static u64 widened(u64 x)
{
	u64 sign = x >> 31 & 1, exponent = x >> FRACTION & 0xff;
	u64 fraction = x & ((1u << FRACTION) - 1);

	if (exponent == 0xff)
		exponent = 0x7ff;
	else if (exponent)
		exponent += BIAS;
	else if (fraction) {
		for (exponent = BIAS + 1; !(fraction >> FRACTION); exponent--)
			fraction <<= 1;
		fraction &= (1u << FRACTION) - 1;
	}
	return sign << 63 | exponent << 52 | fraction << WIDER;
}

static u64 two(u8 op, u64 top, u64 next)
{
	switch (op) {
	case DP_OPCODE_ADD:
		return top + next;
	case DP_OPCODE_SUB:
		return top - next;
	case DP_OPCODE_RSUB:
		return next - top;
	case DP_OPCODE_MUL:
		return top * next;
	case DP_OPCODE_AND:
		return top & next;
	case DP_OPCODE_OR:
		return top | next;
	case DP_OPCODE_XOR:
		return top ^ next;
	case DP_OPCODE_EQ:
		return next == top;
	case DP_OPCODE_LTU:
		return next < top;
	case DP_OPCODE_LTS:
		return (s64)next < (s64)top;
	case DP_OPCODE_ROL:
	case DP_OPCODE_ROL_I:
		return rotate_left(top, next);
	case DP_OPCODE_ROR:
	case DP_OPCODE_ROR_I:
		return rotate_left(top, WIDTH - next % WIDTH);
	default:
		return shift(top, next,
			     op == DP_OPCODE_SHL || op == DP_OPCODE_SHL_I);
	}
}

void dp_vm_math(struct dp_vm *vm, u8 op, u64 arg)
{
	u64 top;

	switch (op) {
	case DP_OPCODE_DIV:
	case DP_OPCODE_IDIV:
		divide(vm, op == DP_OPCODE_IDIV);
		break;
	case DP_OPCODE_NEG:
		dp_vm_poke(vm, vm->tos, ~dp_vm_peek(vm, vm->tos));
		break;
	case DP_OPCODE_F64:
		dp_vm_poke(vm, vm->tos, widened(dp_vm_peek(vm, vm->tos)));
		break;
	case DP_OPCODE_PBL:
	case DP_OPCODE_PBR:
	case DP_OPCODE_PZL:
	case DP_OPCODE_PZR:
		arg = dp_vm_pop(vm);
		__attribute__((__fallthrough__));
	case DP_OPCODE_PBL_I:
	case DP_OPCODE_PBR_I:
	case DP_OPCODE_PZL_I:
	case DP_OPCODE_PZR_I:
		bits(vm, op, arg);
		break;
	case DP_OPCODE_ROL_I:
	case DP_OPCODE_ROR_I:
	case DP_OPCODE_SHL_I:
	case DP_OPCODE_SHR_I:
		dp_vm_poke(vm, vm->tos, two(op, dp_vm_peek(vm, vm->tos), arg));
		break;
	default:
		top = dp_vm_pop(vm);
		dp_vm_push(vm, two(op, top, dp_vm_pop(vm)));
		break;
	}
}
