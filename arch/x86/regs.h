/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * regs: the registers that a probe program can name, and their numbers.
 *
 * 0x00 to 0x0f are the numbers of DProbes for the i386. A 32-bit register stands for the
 * low half of the 64-bit register; writing it clears the other half, as the processor does.
 * From 0x60 on: the registers of x86-64; from 0x80 on, its vector registers.
 */
#ifndef DP_ARCH_REGS_H
#define DP_ARCH_REGS_H

/* DP_REGS(X): X(number, name, field of struct dp_regs, 32 bits, writable) */
#define DP_REGS(X)                   \
	X(0x06, eax, ax, 1, 1)       \
	X(0x07, ebx, bx, 1, 1)       \
	X(0x08, ecx, cx, 1, 1)       \
	X(0x09, edx, dx, 1, 1)       \
	X(0x0a, edi, di, 1, 1)       \
	X(0x0b, esi, si, 1, 1)       \
	X(0x0c, eflags, flags, 1, 0) \
	X(0x0d, eip, ip, 1, 0)       \
	X(0x0e, esp, sp, 1, 0)       \
	X(0x0f, ebp, bp, 1, 1)       \
	X(0x60, rax, ax, 0, 1)       \
	X(0x61, rbx, bx, 0, 1)       \
	X(0x62, rcx, cx, 0, 1)       \
	X(0x63, rdx, dx, 0, 1)       \
	X(0x64, rdi, di, 0, 1)       \
	X(0x65, rsi, si, 0, 1)       \
	X(0x66, rbp, bp, 0, 1)       \
	X(0x67, rsp, sp, 0, 0)       \
	X(0x68, r8, r8, 0, 1)        \
	X(0x69, r9, r9, 0, 1)        \
	X(0x6a, r10, r10, 0, 1)      \
	X(0x6b, r11, r11, 0, 1)      \
	X(0x6c, r12, r12, 0, 1)      \
	X(0x6d, r13, r13, 0, 1)      \
	X(0x6e, r14, r14, 0, 1)      \
	X(0x6f, r15, r15, 0, 1)      \
	X(0x70, rip, ip, 0, 0)       \
	X(0x71, rflags, flags, 0, 0)

/* Registers that are not in the saved general registers. */
enum dp_special_reg {
	DP_REG_CS = 0x00,
	DP_REG_SS = 0x05,
	DP_REG_FS_BASE = 0x72,
	DP_REG_GS_BASE = 0x73,
	DP_REG_ORIG_RAX = 0x74,
};

/* DP_SPECIAL_REGS(X): X(number, name); all of them can only be read. */
#define DP_SPECIAL_REGS(X)         \
	X(DP_REG_CS, cs)           \
	X(DP_REG_SS, ss)           \
	X(DP_REG_FS_BASE, fs_base) \
	X(DP_REG_GS_BASE, gs_base) \
	X(DP_REG_ORIG_RAX, orig_rax)

/* The first of DP_NR_XMM vector registers; DProbes has numbers for whole ones. */
#define DP_REG_XMM 0x80
#define DP_NR_XMM 16

/* DP_VECTOR_REGS(X): X(number, name); of each, the low 64 bits; they can only be read. */
#define DP_VECTOR_REGS(X) \
	X(0x80, xmm0)     \
	X(0x81, xmm1)     \
	X(0x82, xmm2)     \
	X(0x83, xmm3)     \
	X(0x84, xmm4)     \
	X(0x85, xmm5)     \
	X(0x86, xmm6)     \
	X(0x87, xmm7)     \
	X(0x88, xmm8)     \
	X(0x89, xmm9)     \
	X(0x8a, xmm10)    \
	X(0x8b, xmm11)    \
	X(0x8c, xmm12)    \
	X(0x8d, xmm13)    \
	X(0x8e, xmm14)    \
	X(0x8f, xmm15)

#endif
