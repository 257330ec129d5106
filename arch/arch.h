/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * arch: what the engine knows of the processor, and asks of it.
 *
 * This header chooses the processor. Its headers, in arch/x86/, define:
 *
 *   arch_defs.h    DP_INSN_MAX, DP_BREAKPOINT, DP_NOP, DP_SYSCALL_SIZE, DP_JUMP_SIZE,
 *                  DP_JUMP_REACH, DP_ENTRY_STUB, DP_TRACKED_DEPTH, DP_STUB_SIZE, DP_STUB_BACK
 *   regs.h         the registers that programs name
 *   state.h        what is saved around a handler
 *   roles.h        a thread's registers by the part that they play, for the hit half
 *   simulate.h     branches executed in registers
 *   touches.h      registers that a handler touches
 *   stream.h       records, put into memory that each CPU has for itself
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
#include "arch/x86/row.h"
#include "arch/x86/rule.h"
#include "arch/x86/stream.h"
#include "arch/x86/touches.h"
#include "arch/x86/xstate.h"

struct insn_facts;
struct dp_operand_ref;

/** dp_emit_jmp() - write a jump to @target (DP_JUMP_SIZE bytes) for address @at.
 *  Return: its bytes, or 0 if @target is out of reach. */
unsigned int dp_emit_jmp(u8 *out, u64 at, u64 target);

/**
 * struct dp_jump_pattern - where a jump with certain bytes in it can lead
 * @least: the lowest address that any jump reaches; below 0 for code at low addresses
 * @mask, @value: the 32-bit distance from @least to the jump's target has the bits
 *                @value under @mask
 */
struct dp_jump_pattern {
	s64 least;
	u32 mask, value;
};

/**
 * dp_jump_pattern() - the pattern of a jump at @addr
 * @traps: bit b: byte b of the jump is a breakpoint. The first byte cannot be
 * @last: value of the last byte, if @traps has its bit
 */
struct dp_jump_pattern dp_jump_pattern(u64 addr, u8 traps, u8 last);

/**
 * dp_jump_upward() - breakpoints of another kind, for the last byte of a jump
 * @i: index, from 0
 *
 * A jump whose last byte is DP_BREAKPOINT leads down, below address 0 for a program at low
 * addresses. With one of these bytes the jump leads up. The byte, executed, raises the
 * second of the signals in dp_caught().
 * Return: the byte; 0: @i is too large.
 */
u8 dp_jump_upward(u32 i);

#define DP_CALL_SEQUENCES 4

/** struct dp_agent_sequence - a restartable sequence of the agent: addresses of its first
 *  instruction, of that behind its last one, and of where an interruption leads */
struct dp_agent_sequence {
	u64 first, committed, abort;
};

/**
 * struct dp_agent_entries - where detours enter the agent: addresses of its entries
 * @hit: for probes
 * @handler: for handlers, where the detour has not counted
 * @tracked: for the first probe of a call that may be tracked; @pair: for its only one, where the
 *         detour has not counted
 * @observe: for intercepted calls that are made in the detour
 * @enter, @exit: for sites where calls begin, and end, that may only have to be counted;
 *         @enter_timed, @exit_timed: counted and timed; the sequences of these: @counts
 * @keep, @keep_texts: for code that has the words of a table's hit on the stack: see dp_keep_entry. @keeps: its sequence
 */
struct dp_agent_entries {
	u64 hit, handler, tracked, pair, observe, enter, exit, enter_timed,
		exit_timed, keep, keep_texts;
	struct dp_agent_sequence counts[DP_CALL_SEQUENCES], keeps;
};

/* Where the stubs for them are in each pool: at its start */
#define DP_STUB_HIT 0
#define DP_STUB_TRACKED DP_ENTRY_STUB
#define DP_STUB_OBSERVE (2 * DP_ENTRY_STUB)
#define DP_STUB_ENTER (3 * DP_ENTRY_STUB)
#define DP_STUB_EXIT (4 * DP_ENTRY_STUB)
#define DP_STUB_ENTER_TIMED (5 * DP_ENTRY_STUB)
#define DP_STUB_EXIT_TIMED (6 * DP_ENTRY_STUB)
#define DP_STUB_HANDLER (7 * DP_ENTRY_STUB)
#define DP_STUB_PAIR (8 * DP_ENTRY_STUB)
#define DP_STUB_KEEP (9 * DP_ENTRY_STUB)
#define DP_STUB_KEEP_TEXTS (10 * DP_ENTRY_STUB)
#define DP_STUBS (11 * DP_ENTRY_STUB)

/* Where a stub has the address that it jumps to */
#define DP_STUB_WORD 6
/** dp_detour_stubs() - encode the stubs of a pool, DP_STUBS bytes */
void dp_detour_stubs(u8 *code, const struct dp_agent_entries *entries);

/** dp_insn_refers() - the address that an instruction at @addr names relative to itself, or
 *  else the address of the next instruction */
u64 dp_insn_refers(const struct insn_facts *facts, u64 addr);

/** dp_insn_operand() - the operand of an indirect branch at @addr, made independent of the
 *  branch's address */
void dp_insn_operand(const struct insn_facts *facts, u64 addr,
		     struct dp_operand_ref *operand);

/** dp_insn_is_restorer() - is @code what signal handlers return to? Unwinders, too, know
 *  the restorer by exactly these bytes. */
bool dp_insn_is_restorer(const u8 *code, size_t size);
/** dp_insn_is_syscall() - is @code a system call, as a restorer's last instruction is? */
bool dp_insn_is_syscall(const u8 *code, size_t size);

/** dp_insn_is_x87() - may an instruction use an x87 or MMX register? True of some others,
 *  too. */
bool dp_insn_is_x87(const u8 *code, const struct insn_facts *facts);

/** dp_insn_is_nop() - is it a nop, in any form? */
bool dp_insn_is_nop(const u8 *code, size_t len);

#endif
