/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * insn: facts about one instruction, and its relocation to another address.
 *
 * Pure functions over bytes. The port has the decoder (dp_insn_facts()). What follows
 * from the facts is decided here, the same way for every target.
 */
#ifndef DP_INSN_H
#define DP_INSN_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/insn/class.h"
#include "engine/insn/faults.h"

/* Room for any relocated instruction with its jump onward */
#define DP_COPY_MAX 64

/**
 * struct insn_facts - what a decoder found out about one instruction
 * @len: length in bytes, 1..DP_INSN_MAX
 * @class: enum dp_insn_class
 * @rip_relative: has a memory operand relative to the next instruction
 * @modrm_off: offset of the ModRM byte, 0 if there is none
 * @disp_off: offset of the displacement, 0 if none
 * @disp_size: its size in bytes, 0 if none
 * @imm_off: offset of the (first) immediate or relative operand, 0 if none
 * @imm_size: its size in bytes
 * @opcode_off: offset of the last opcode byte (before ModRM)
 * @cc: condition code 0..15 for DP_INSN_JCC
 * @faults: enum dp_insn_faults
 * @target: displacement from the *end* of the instruction, to a direct branch's target
 *         or to a @rip_relative memory operand
 * @operand: of an indirect branch; a rip-relative displacement counts from the end of
 *         the instruction
 * @refusal: for DP_INSN_REFUSED, a static phrase: "hlt is privileged"
 */
struct insn_facts {
	u8 len;
	u8 class;
	bool rip_relative;
	u8 modrm_off;
	u8 disp_off;
	u8 disp_size;
	u8 imm_off;
	u8 imm_size;
	u8 opcode_off;
	u8 cc;
	u8 faults;
	s32 target;
	struct dp_operand_ref operand;
	const char *refusal;
};

/**
 * dp_insn_facts() - decode one instruction (implemented by the port)
 * @code: its bytes
 * @size: how many may be read; a longer instruction is undecodable
 * @facts: filled in on success
 *
 * Context: control half only; never on a hit. Thread-safe.
 * Return: 0; -EILSEQ when the bytes are no instruction of this machine.
 */
int dp_insn_facts(const u8 *code, size_t size, struct insn_facts *facts);

/**
 * dp_insn_state() - which registers an instruction can change (implemented by the port)
 * @xmms: how many of the xmm registers, from xmm0 on
 *
 * Context: as dp_insn_facts().
 * Return: DP_STATE_ALL also where it is not known.
 */
enum dp_insn_state dp_insn_state(const u8 *code, size_t size, u8 *xmms);

/**
 * struct dp_insn_memory - what an instruction accesses
 * @operand: where, as that of an indirect branch
 * @size: bytes, 1 to 64
 * @writes: it may write there
 */
struct dp_insn_memory {
	struct dp_operand_ref operand;
	u8 size;
	bool writes;
};

/**
 * dp_insn_memory() - the one piece of memory that an instruction accesses, if it completes
 *                    whenever that can be accessed (implemented by the port)
 *
 * Context: as dp_insn_facts().
 * Return: false if it accesses none or more, or can fail otherwise.
 */
bool dp_insn_memory(const u8 *code, size_t size, struct dp_insn_memory *memory);

/**
 * struct dp_copy - one relocated instruction
 * @code: bytes that do at their address what the original does at its own
 * @len: bytes used, the jump onward included
 * @body_len: offset of that jump, and of a system call's additional code. A thread
 *         whose pc is there has completed the original instruction. Equal to @len
 *         without a jump: an unconditional transfer never gets there.
 * @atomic: the first @body_len bytes are one instruction. A pc inside the copy is at
 *         the start (not executed yet) or at @body_len (done).
 */
struct dp_copy {
	u8 code[DP_COPY_MAX];
	u8 len;
	u8 body_len;
	bool atomic;
};

/**
 * dp_insn_relocate() - make the copy of an instruction
 * @code: original bytes, @facts->len of them
 * @facts: from dp_insn_facts()
 * @from: address of the original in the target
 * @to: address of the copy in the target
 * @copy: filled in on success
 * @why: on failure, if not NULL, a static phrase with the reason
 *
 * The copy uses no register and no flag that the original does not use. Below the stack
 * pointer it writes only what the original would have overwritten. (A call may use the
 * bytes where its callee's frame begins.) It pushes original return addresses. It ends
 * with a jump to @from + len unless control never gets there. Nothing is ever
 * single-stepped.
 *
 * Context: any. Pure.
 * Return: 0; -EINVAL refused (privileged, a breakpoint, a transaction …); -ENOMEM when
 * a displacement does not reach from @to: choose a nearer address.
 * Source: seed 001/002 1.4 "out of line"; Intel SDM vol. 2.
 */
int dp_insn_relocate(const u8 *code, const struct insn_facts *facts, u64 from,
		     u64 to, struct dp_copy *copy, const char **why);

#endif
