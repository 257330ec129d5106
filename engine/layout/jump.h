/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jump: what a site's jump leads to. */
#ifndef DP_LAYOUT_JUMP_H
#define DP_LAYOUT_JUMP_H

#include "port_types.h"

#define DP_JUMP_INSNS 5

/**
 * struct dp_jump - where a site's jump goes, and what is there
 * @base: address of the detour, @len bytes
 * @landing: address of the jump that leads to it, where the site's own has to
 *           go somewhere else first; 0: there is none
 * @start: offset in the detour where the jump enters it
 * @at: offset in the detour of each instruction of the region, with what is
 *      told before it; behind the last one that of the way back
 * @insn: of the instruction itself
 * @offset: of each instruction from the site's address
 * @nr: instructions; @size: their bytes in the text
 * @atomic: a bit an instruction: in the detour it is one instruction, too
 * @traps: a bit a byte of the patch: it is a breakpoint
 * @stray: the code that it replaces can go at any time: it is looked at before each write
 * @follows: a call that begins here can go on through a stub
 */
struct dp_jump {
	u64 base, landing;
	u16 len, start;
	u16 at[DP_JUMP_INSNS + 1];
	u16 insn[DP_JUMP_INSNS];
	u8 offset[DP_JUMP_INSNS];
	u8 nr, size, atomic, traps;
	u8 stray, follows;
};

#endif
