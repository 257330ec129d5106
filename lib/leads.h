/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* leads: where an instruction leads, for those who look through handlers. */
#ifndef DP_LIB_LEADS_H
#define DP_LIB_LEADS_H

#include "engine/insn/insn.h"

/**
 * dp_leads() - where control may be after an instruction, as far as it says so itself
 * @next: address behind it
 * @to: at most two addresses
 * Return: how many.
 */
static inline u32 dp_leads(u64 next, const struct insn_facts *f, u64 *to)
{
	switch (f->class) {
	case DP_INSN_JCC:
	case DP_INSN_LOOP:
	case DP_INSN_CALL:
		to[0] = next;
		to[1] = next + (u64)f->target;
		return 2;
	case DP_INSN_JMP:
		to[0] = next + (u64)f->target;
		return 1;
	case DP_INSN_PLAIN:
	case DP_INSN_SYSCALL:
	case DP_INSN_CALL_IND:
		to[0] = next;
		return 1;
	default:
		return 0;
	}
}

#endif
