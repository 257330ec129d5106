/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* decode: functions that the files of the decoder share. */
#ifndef DP_PORT_DECODE_H
#define DP_PORT_DECODE_H

#include "engine/insn/insn.h"
#include <Zydis/Zydis.h>

/** dp_decode_full() - decode an instruction and its operands. Return: false: it is not an
 *  instruction. */
bool dp_decode_full(const u8 *code, size_t size, ZydisDecodedInstruction *in,
		    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT]);

#endif
