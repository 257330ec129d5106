/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* value: the values of a program that is walked. */
#ifndef DP_VM_NATIVE_VALUE_H
#define DP_VM_NATIVE_VALUE_H

#include "engine/vm/native/native.h"

/* There is no such value: the program has to be left. */
#define DP_NATIVE_NO_VALUE 0xff

/** dp_value_const() - and so on: the number of a value; DP_NATIVE_NO_VALUE: there is no room for
 *  it, or an operand is none. Equal ones are one, but for loads. */
u8 dp_value_const(struct dp_native *n, u64 imm);
u8 dp_value_reg(struct dp_native *n, u16 reg);
u8 dp_value_load(struct dp_native *n, u8 addr, u8 size);
u8 dp_value_text(struct dp_native *n, u8 addr, u8 words);
u8 dp_value_rest(struct dp_native *n, u8 word);
u8 dp_value_one(struct dp_native *n, enum dp_native_op op, u8 a, u64 imm);
u8 dp_value_two(struct dp_native *n, enum dp_native_op op, u8 a, u8 b);

/** dp_value_is_const() - is it one value in any case? */
static inline bool dp_value_is_const(const struct dp_native *n, u8 v, u64 *imm)
{
	if (v == DP_NATIVE_NO_VALUE || n->values[v].op != DP_NATIVE_CONST)
		return false;
	*imm = n->values[v].imm;
	return true;
}

#endif
