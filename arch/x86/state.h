/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* state: which registers code uses, or a handler may change. */
#ifndef DP_ARCH_STATE_H
#define DP_ARCH_STATE_H

#include "engine/insn/insn.h"

/**
 * enum dp_insn_state - each state contains the ones above
 * @DP_STATE_GENERAL: general registers and flags
 * @DP_STATE_SSE: and xmm0 to xmm15, moved only
 * @DP_STATE_SSE_MATH: and MXCSR
 * @DP_STATE_ALL: and all vector registers and x87
 */
enum dp_insn_state {
	DP_STATE_GENERAL,
	DP_STATE_SSE,
	DP_STATE_SSE_MATH,
	DP_STATE_ALL,
};

/* Added to a state below DP_STATE_ALL: the first eight or sixteen xmm registers, not four. */
#define DP_STATE_XMM8 8
#define DP_STATE_XMM16 16

/* What vectors.S can save: enum dp_insn_state, and for DP_STATE_ALL one of these */
#define DP_SAVE_ALL_SSE (3 | DP_STATE_XMM16)
#define DP_SAVE_ALL_AVX 4
#define DP_SAVE_ALL_AVX512 5

/* 32 registers of 64 bytes, eight of eight bytes, and the rest of the area of vectors.S */
#define DP_VECTORS_SIZE 2304

#endif
