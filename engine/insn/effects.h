/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* effects: what an instruction does with general registers and through them. */
#ifndef DP_INSN_EFFECTS_H
#define DP_INSN_EFFECTS_H

#include "port_types.h"

/** enum dp_effect - instructions whose result is known from their operands' */
enum dp_effect {
	DP_EFFECT_OTHER,
	DP_EFFECT_MOVE, /* a whole register to a whole register */
	DP_EFFECT_LOAD, /* a word of memory to a whole register */
	DP_EFFECT_STORE, /* a whole register to a word of memory */
	DP_EFFECT_ZERO, /* 0 to a register */
	DP_EFFECT_ADD, /* @disp to a whole register */
	DP_EFFECT_LEA, /* an address to a whole register */
	DP_EFFECT_PUSH, /* of the register @from; -1: of something else */
	DP_EFFECT_POP, /* to the register @to; -1: to something else */
	DP_EFFECT_LEAVE, /* the stack pointer from the frame pointer, and then pop of that */
};

/**
 * struct dp_insn_effects - what one instruction does; a bit for each general register, by number
 * @reads, @writes: registers that are operands; not those of an address
 * @keeps: of @writes: a part of the value may stay
 * @memory: it has an operand in memory, at @disp behind the registers @base and @index (-1: none),
 *          of @size bytes. @address: only the address is used. @segment: another base is added
 * @loads, @stores: it reads, and writes, that
 * @what: enum dp_effect; @to, @from: its registers, or -1
 */
struct dp_insn_effects {
	u16 reads, writes, keeps, size;
	bool memory, address, segment, loads, stores;
	u8 what;
	int base, index, to, from;
	s64 disp;
};

/**
 * dp_insn_effects() - what an instruction does (implemented by the port)
 *
 * Branches, calls and returns are told by dp_insn_facts().
 * Context: control half only. Thread-safe.
 * Return: false: it does something that this does not tell: uses other registers, depends on
 * flags that are not of a result, or changes them, enters the kernel.
 */
bool dp_insn_effects(const u8 *code, size_t size,
		     struct dp_insn_effects *effects);

#endif
