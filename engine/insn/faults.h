/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* faults: how an instruction can fail to complete. */
#ifndef DP_INSN_FAULTS_H
#define DP_INSN_FAULTS_H

#include "port_types.h"

/**
 * enum dp_insn_faults - what the answer depends on: will the instruction complete?
 * @DP_FAULTS_NEVER: nothing: registers and constants only
 * @DP_FAULTS_OTHER: it must have completed: it accesses memory, divides, or the like
 * @DP_FAULTS_PUSH: the word below the stack pointer can be written
 * @DP_FAULTS_POP: the word at the stack pointer can be read
 * @DP_FAULTS_CALL: as PUSH; the instruction does not fall through
 * @DP_FAULTS_RET: as POP, and the word is an address
 * @DP_FAULTS_BRANCH: its operand can be read and is an address
 * @DP_FAULTS_BRANCH_CALL: as BRANCH and PUSH
 */
enum dp_insn_faults {
	DP_FAULTS_NEVER,
	DP_FAULTS_OTHER,
	DP_FAULTS_PUSH,
	DP_FAULTS_POP,
	DP_FAULTS_CALL,
	DP_FAULTS_RET,
	DP_FAULTS_BRANCH,
	DP_FAULTS_BRANCH_CALL,
};

#define DP_NO_REG 0xff
#define DP_SEG_FS 1
#define DP_SEG_GS 2

/**
 * struct dp_operand_ref - operand of an indirect branch
 * @disp: added to the rest; the whole address of a rip-relative operand
 * @base, @index: register numbers of the machine's encoding, or DP_NO_REG
 * @memory: a memory operand; else the register @base itself
 */
struct dp_operand_ref {
	s64 disp;
	u8 base, index, scale;
	u8 segment;
	u8 memory;
	u8 pad[3];
};

#endif
