/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* class: what an instruction does with the instruction pointer. */
#ifndef DP_INSN_CLASS_H
#define DP_INSN_CLASS_H

/**
 * enum dp_insn_class - what an instruction does with the instruction pointer
 * @DP_INSN_PLAIN: falls through to the next instruction, whatever its address
 * @DP_INSN_JMP: direct jump to @target
 * @DP_INSN_JCC: direct conditional jump
 * @DP_INSN_LOOP: direct conditional jump by a counter, of short reach only
 * @DP_INSN_CALL: direct call
 * @DP_INSN_JMP_IND: near indirect jump
 * @DP_INSN_CALL_IND: near indirect call
 * @DP_INSN_RET: near return, with or without immediate
 * @DP_INSN_SYSCALL: enters the kernel: falls through, may sleep
 * @DP_INSN_REFUSED: cannot run anywhere but in place; @refusal says why
 */
enum dp_insn_class {
	DP_INSN_PLAIN,
	DP_INSN_JMP,
	DP_INSN_JCC,
	DP_INSN_LOOP,
	DP_INSN_CALL,
	DP_INSN_JMP_IND,
	DP_INSN_CALL_IND,
	DP_INSN_RET,
	DP_INSN_SYSCALL,
	DP_INSN_REFUSED,
};

#endif
