/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* native: functions that have native programs; shared with native.S. */
#ifndef DP_KERNEL_NATIVE_H
#define DP_KERNEL_NATIVE_H

/* Functions, of so many bytes each */
#define DPNATIVE_VICTIMS 48
#define DPNATIVE_BYTES 16

#ifndef __ASSEMBLY__

#include "port_types.h"
#include "tests/kernel/assemble.h"

/** struct dpnative_registers - rax, rcx, rdx, rbx, rbp, rsi, rdi, r8 to r15, and the flags */
struct dpnative_registers {
	u64 word[16];
};

/* By their places there */
enum {
	DPNATIVE_RDX = 2,
	DPNATIVE_RSI = 5,
	DPNATIVE_RDI = 6,
	DPNATIVE_R12 = 11,
	DPNATIVE_FLAGS = 15
};

extern const u8 dpnative_victims[DPNATIVE_VICTIMS][DPNATIVE_BYTES];

/** dpnative_call() - call a function with these registers; they become what they are afterwards */
void dpnative_call(const u8 *function, struct dpnative_registers *registers);

/** dpnative_random() - a number of 64 bits */
u64 dpnative_random(void);
/** dpnative_write() - a random program of what detours can run, with a little of all else: it reads memory where r12 to
 *  r15 say, and has two variables */
void dpnative_write(struct dp_asm *code);

#endif
#endif
