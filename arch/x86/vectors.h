/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* vectors: what is saved of the vector registers around a handler. */
#ifndef DP_ARCH_VECTORS_H
#define DP_ARCH_VECTORS_H

#include "port_types.h"
#include "arch/x86/state.h"

/* What vectors.S can save: enum dp_insn_state, and for the last of these */
#define DP_SAVE_ALL_SSE (3 | DP_STATE_XMM16)
#define DP_SAVE_ALL_AVX 4
#define DP_SAVE_ALL_AVX512 5

/* 32 registers of 64 bytes, eight of eight, and what vectors.S has besides */
#define DP_VECTORS_SIZE 2304

#endif
