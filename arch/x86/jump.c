// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* jump: "jmp rel32", and what its bytes can be. */
#include "arch/arch.h"
#include "arch/x86/emit.h"

unsigned int dp_emit_jmp(u8 *code, u64 at, u64 target)
{
	struct dp_out o = { .code = code, .at = at };

	dp_put_jmp(&o, target);
	return o.far ? 0 : o.len;
}

/* The displacement begins with the second byte, and is signed. */
struct dp_jump_pattern dp_jump_pattern(u64 addr, u8 traps, u8 last)
{
	struct dp_jump_pattern p = {
		.least = (s64)(addr + DP_JUMP_SIZE) - (s64)DP_JUMP_REACH,
	};
	int b;

	for (b = 1; b < DP_JUMP_SIZE; b++)
		if (traps >> b & 1) {
			p.mask |= 0xffu << 8 * (b - 1);
			p.value |= (u32)(b == DP_JUMP_SIZE - 1 ? last :
								 DP_BREAKPOINT)
				   << 8 * (b - 1);
		}
	p.value ^= 0x80000000u & p.mask;
	return p;
}

/*
 * The fifth byte of a jump is the high byte of the displacement: int3 there leads some
 * 800 MB down. These instructions raise SIGILL and lead up. Measured on AMD; Intel SDM
 * vol. 2, table A-2: invalid in 64-bit mode.
 */
u8 dp_jump_upward(u32 i)
{
	static const u8 upward[] = { 0x61, 0x60, 0x3f, 0x37, 0x2f, 0x27, 0x1f,
				     0x1e, 0x17, 0x16, 0x0e, 0x07, 0x06 };

	return i < sizeof(upward) ? upward[i] : 0;
}
