/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* decode: instructions of a program, for control. The machine has its own way. */
#ifndef DP_VM_DECODE_H
#define DP_VM_DECODE_H

#include "port_types.h"
#include "engine/vm/ops.h"

/** dp_op_operand() - enum dp_operand of a code byte; dp_op_size() - its bytes */
u8 dp_op_operand(u8 op);
u8 dp_op_size(u8 op);

/**
 * dp_op_decode() - one instruction
 * @code: verified; @at: where it begins
 * @arg: its operand; of a jump, where it leads
 * Return: where the next one begins.
 */
u32 dp_op_decode(const u8 *code, u32 at, u64 *arg);

#endif
