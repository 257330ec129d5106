/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * regs: the registers that a probe program can name, and their numbers.
 *
 * 0x00 to 0x0f are the numbers of DProbes for the i386. A 32-bit register stands for the
 * low half of the 64-bit register; writing it clears the other half, as the processor does.
 * But eip and esp are addresses, which no half of them would be.
 * From 0x60 on: the registers of x86-64; from 0x80 on, the low halves of its vector registers;
 * from 0x98 on, the whole ones that the i386 has not.
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
	X(0x0d, eip, ip, 0, 0)       \
	X(0x0e, esp, sp, 0, 0)       \
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
	DP_REG_DS = 0x01,
	DP_REG_ES = 0x02,
	DP_REG_FS = 0x03,
	DP_REG_GS = 0x04,
	DP_REG_SS = 0x05,
	DP_REG_FS_BASE = 0x72,
	DP_REG_GS_BASE = 0x73,
	DP_REG_ORIG_RAX = 0x74,
};

/* DP_SPECIAL_REGS(X): X(number, name); all of them can only be read. */
#define DP_SPECIAL_REGS(X)         \
	X(DP_REG_CS, cs)           \
	X(DP_REG_DS, ds)           \
	X(DP_REG_ES, es)           \
	X(DP_REG_FS, fs)           \
	X(DP_REG_GS, gs)           \
	X(DP_REG_SS, ss)           \
	X(DP_REG_FS_BASE, fs_base) \
	X(DP_REG_GS_BASE, gs_base) \
	X(DP_REG_ORIG_RAX, orig_rax)

/* The first of DP_NR_XMM low halves of vector registers */
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

/* Registers of the floating-point units, which are read only where a program asks for them */
enum dp_wide_reg {
	DP_REG_CPUID = 0x3c,
	DP_REG_FR0 = 0x3e,
	DP_REG_FCW = 0x46,
	DP_REG_FSW = 0x47,
	DP_REG_FTW = 0x48,
	DP_REG_FIP = 0x49,
	DP_REG_FCS = 0x4a,
	DP_REG_FDP = 0x4b,
	DP_REG_FDS = 0x4c,
	DP_REG_WHOLE_XMM0 = 0x4d,
	DP_REG_MXCSR = 0x55,
	DP_REG_WHOLE_XMM8 = 0x98,
};
#define DP_NR_FR 8

/*
 * DP_WIDE_REGS(X): X(number, name); they can only be read. Vector registers, and those of the x87,
 * are two elements, the low one on top. cpuid takes the leaf, and gives edx, ecx, ebx and eax.
 */
#define DP_WIDE_REGS(X)        \
	X(DP_REG_CPUID, cpuid) \
	X(0x3e, fr0)           \
	X(0x3f, fr1)           \
	X(0x40, fr2)           \
	X(0x41, fr3)           \
	X(0x42, fr4)           \
	X(0x43, fr5)           \
	X(0x44, fr6)           \
	X(0x45, fr7)           \
	X(DP_REG_FCW, fcw)     \
	X(DP_REG_FSW, fsw)     \
	X(DP_REG_FTW, ftw)     \
	X(DP_REG_FIP, fip)     \
	X(DP_REG_FCS, fcs)     \
	X(DP_REG_FDP, fdp)     \
	X(DP_REG_FDS, fds)     \
	X(0x4d, xmm0)          \
	X(0x4e, xmm1)          \
	X(0x4f, xmm2)          \
	X(0x50, xmm3)          \
	X(0x51, xmm4)          \
	X(0x52, xmm5)          \
	X(0x53, xmm6)          \
	X(0x54, xmm7)          \
	X(DP_REG_MXCSR, mxcsr) \
	X(0x98, xmm8)          \
	X(0x99, xmm9)          \
	X(0x9a, xmm10)         \
	X(0x9b, xmm11)         \
	X(0x9c, xmm12)         \
	X(0x9d, xmm13)         \
	X(0x9e, xmm14)         \
	X(0x9f, xmm15)

/* DP_KERNEL_REGS(X): X(name), of registers that only the kernel can read */
/* clang-format off */
#define DP_KERNEL_REGS(X)                                                 \
	X(tr) X(ldtr) X(gdtr) X(idtr) X(cr0) X(cr2) X(cr3) X(cr4) X(msr)  \
	X(dr0) X(dr1) X(dr2) X(dr3) X(dr6) X(dr7)
/* clang-format on */

#endif
