/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* leaves: arch/leaves.h for x86-64. */
#ifndef DP_ARCH_X86_LEAVES_H
#define DP_ARCH_X86_LEAVES_H

/* mov %rcx, %rsp; pop %rcx; jmp *%rcx */
#define DP_CODE_MOVES_STACK      \
	{                        \
		0x48, 0x89, 0xcc \
	}
#define DP_CODE_GOES_ON          \
	{                        \
		0x59, 0xff, 0xe1 \
	}
#define DP_CODE_RET 0xc3

/* mov 72(%rdi), %rdi */
#define DP_CODE_OUTWARD                \
	{                              \
		0x48, 0x8b, 0x7f, 0x48 \
	}

#endif
