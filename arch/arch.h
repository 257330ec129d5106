/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * arch: what the engine knows of the processor, and asks of it.
 *
 * The constants are those of one processor, chosen here: DP_INSN_MAX, DP_BREAKPOINT,
 * DP_NOP, DP_SYSCALL_SIZE, DP_JUMP_SIZE, DP_JUMP_REACH, DP_ENTRY_STUB, DP_TRACKED_DEPTH,
 * DP_STUB_SIZE, DP_STUB_BACK. So are the registers that programs name (regs.h), what is
 * saved around a handler (state.h), and for the hit half the registers of a
 * thread by the part that they play (roles.h), breakpoints, and branches that are made in
 * registers (simulate.h). These headers stand in arch/x86/, and are included by this one alone.
 *
 * Context of every function: any. Pure.
 */
#ifndef DP_ARCH_H
#define DP_ARCH_H

#include "port_types.h"
#include "arch/x86/arch_defs.h"
#include "arch/x86/bytes.h"
#include "arch/x86/flags.h"
#include "arch/x86/ptregs.h"
#include "arch/x86/regs.h"
#include "arch/x86/roles.h"
#include "arch/x86/sigframe.h"
#include "arch/x86/simulate.h"
#include "arch/x86/state.h"
#include "arch/x86/xstate.h"

struct insn_facts;
struct dp_operand_ref;

/** dp_emit_jmp() - write a jump to @target (DP_JUMP_SIZE bytes) for address @at.
 *  Return: its bytes, or 0 if @target is out of reach. */
unsigned int dp_emit_jmp(u8 *out, u64 at, u64 target);

/**
 * struct dp_jump_pattern - where a jump can lead that has certain bytes in it
 * @least: the lowest address that any jump reaches; below 0 for code down there
 * @mask, @value: it leads so far above @least that bits @mask of the distance,
 *                which has 32, are @value
 */
struct dp_jump_pattern {
	s64 least;
	u32 mask, value;
};

/**
 * dp_jump_pattern() - of a jump at @addr
 * @traps: a bit a byte of the jump: it is a breakpoint. Not the first one
 * @last: what the last byte is, if it is one of these
 */
struct dp_jump_pattern dp_jump_pattern(u64 addr, u8 traps, u8 last);

/**
 * dp_jump_upward() - breakpoints of another kind, for the last byte of a jump
 * @i: which one, from 0
 *
 * With DP_BREAKPOINT there a jump leads down, where there is nothing for a program at a
 * low address. With one of these it leads up; executed, it raises the second of the
 * signals in dp_caught().
 * Return: the byte; 0: there are fewer.
 */
u8 dp_jump_upward(u32 i);

/** dp_insn_refers() - the address in the text that an instruction names relative to
 *  itself, or else that of the next one. @addr: of the instruction */
u64 dp_insn_refers(const struct insn_facts *facts, u64 addr);

/** dp_insn_operand() - the operand of an indirect branch at @addr, which is then good
 *  for any address of the branch */
void dp_insn_operand(const struct insn_facts *facts, u64 addr,
		     struct dp_operand_ref *operand);

/** dp_insn_is_restorer() - does a signal's handler return through this code? By these
 *  very bytes unwinders and we know it. */
bool dp_insn_is_restorer(const u8 *code, size_t size);

/** dp_insn_is_x87() - may it use an x87 or MMX register? Says so of some others,
 *  too. */
bool dp_insn_is_x87(const u8 *code, const struct insn_facts *facts);

/** dp_insn_is_nop() - does it do nothing, in any of the forms of that? */
bool dp_insn_is_nop(const u8 *code, size_t len);

#endif
