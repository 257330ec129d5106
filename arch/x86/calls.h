/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* calls: arch/calls.h for x86-64. */
#ifndef DP_ARCH_X86_CALLS_H
#define DP_ARCH_X86_CALLS_H

#include "port_types.h"

#define DP_SYSCALL_SIZE 2
#define DP_SYSCALL_FIRST 0x0f
#define DP_SYSCALL_LAST 0x05

static inline bool dp_code_is_syscall(const u8 *code)
{
	return code[0] == DP_SYSCALL_FIRST && code[1] == DP_SYSCALL_LAST;
}

#define DP_CODE_SYSCALL_RET { 0x0f, 0x05, 0xc3 }

/* mov $15, %rax; syscall, with either kind of mov */
#define DP_CODE_RESTORER_WIDE { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }
#define DP_CODE_RESTORER_SHORT { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 }

/* What the code at way_home takes from the stack: rdi, rsi, rdx, r10, r8, r9, rax, rcx,
 * r11, rip; and so much more is below the stack pointer that it leaves. */
#define DP_WAY_HOME_WORDS 10
#define DP_WAY_HOME_SKIPS 128

/* pop the registers that a system call has for arguments, its result and what it
 * loses; ret over the red zone */
#define DP_CODE_WAY_HOME                                                  \
	{                                                                 \
		0x5f, 0x5e, 0x5a, 0x41, 0x5a, 0x41, 0x58, 0x41, 0x59,     \
		0x58, 0x59, 0x41, 0x5b, 0xc2, DP_WAY_HOME_SKIPS, 0        \
	}

/* What the code at selector_home takes: the selector's address, rax, and the stack
 * pointer, which has rip so much below where it is left. */
#define DP_SELECTOR_HOME_WORDS 3
#define DP_SELECTOR_HOME_BELOW (DP_WAY_HOME_SKIPS + 8)

/* pop rax; movb $1, (rax); pop rax; pop rsp; ret over the red zone: flags stay */
#define DP_CODE_SELECTOR_HOME                                             \
	{                                                                 \
		0x58, 0xc6, 0x00, 0x01, 0x58, 0x5c, 0xc2,                 \
		DP_WAY_HOME_SKIPS, 0                                      \
	}

/* or $-1, %edi; mov $nr, %eax; syscall; ret */
#define DP_CODE_STOP_CALL(nr)                                             \
	{                                                                 \
		0x83, 0xcf, 0xff, 0xb8, (nr), 0, 0, 0, 0x0f, 0x05, 0xc3   \
	}

/* mov $nr, %eax */
#define DP_SETS_NUMBER_SIZE 5

static inline bool dp_code_sets_number(const u8 *code, u32 *nr)
{
	if (code[0] != 0xb8)
		return false;
	__builtin_memcpy(nr, code + 1, sizeof(*nr));
	return true;
}

/* Of a mov to r8. */
static inline bool dp_code_is_cut(const u8 *code)
{
	return (code[-1] & 0xf1) == 0x41;
}

/* mov $constant, %edi */
#define DP_SETS_FIRST 0xbf

/* A lea or mov. */
static inline bool dp_code_repeats(u8 opcode)
{
	return opcode == 0x8d || opcode == 0xc7 || opcode == 0x89 ||
	       opcode == 0x8b || (opcode & 0xf8) == 0xb8;
}

/* cmp $-4095, %rax, or -4096 */
#define DP_CHECKS_SIZE 6

static inline bool dp_code_checks(const u8 *code)
{
	return code[0] == 0x48 && code[1] == 0x3d && code[2] <= 1 &&
	       code[3] == 0xf0 && code[4] == 0xff && code[5] == 0xff;
}

/* mov …(%rsp), %edi */
static inline bool dp_code_reloads(const u8 *code)
{
	return code[0] == 0x8b && code[1] == 0x7c && code[2] == 0x24;
}

#endif
