/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* calls: arch/calls.h for x86-64. */
#ifndef DP_ARCH_X86_CALLS_H
#define DP_ARCH_X86_CALLS_H

#include "arch/x86/arch_defs.h"
#include "engine/insn/insn.h"
#include "port_types.h"

#define DP_SYSCALL_FIRST 0x0f
#define DP_SYSCALL_LAST 0x05

static inline bool dp_code_is_syscall(const u8 *code)
{
	return code[0] == DP_SYSCALL_FIRST && code[1] == DP_SYSCALL_LAST;
}

/* Lists of bytes are no blocks. */
/* clang-format off */
#define DP_X86_SYSCALL_RET 0x0f, 0x05, 0xc3
#define DP_CODE_SYSCALL_RET { DP_X86_SYSCALL_RET }

/* mov $15, %rax; syscall, with either kind of mov */
#define DP_X86_RESTORER_WIDE 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05
#define DP_CODE_RESTORER_WIDE { DP_X86_RESTORER_WIDE }
#define DP_CODE_RESTORER_SHORT { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 }
#define DP_CODE_SYSCALL_AND_RESTORER { DP_X86_SYSCALL_RET, DP_X86_RESTORER_WIDE }

/* DP_CODE_PLAIN_RETURN pops rdi, rsi, rdx, r10, r8, r9, rax, rcx, r11 and rip, and skips so
 * many bytes more. */
#define DP_PLAIN_RETURN_WORDS 10
#define DP_PLAIN_RETURN_SKIPS 128

/* pop the arguments of a system call, its result, rcx and r11, which it loses; ret over the
 * red zone */
#define DP_CODE_PLAIN_RETURN                                                  \
	{                                                                 \
		0x5f, 0x5e, 0x5a, 0x41, 0x5a, 0x41, 0x58, 0x41, 0x59,     \
		0x58, 0x59, 0x41, 0x5b, 0xc2, DP_PLAIN_RETURN_SKIPS, 0        \
	}

/* DP_CODE_SELECTOR_RETURN pops the selector's address, rax and rsp. At that rsp is rip, so
 * many bytes below the rsp that the code leaves. */
#define DP_SELECTOR_RETURN_WORDS 3
#define DP_SELECTOR_RETURN_BELOW (DP_PLAIN_RETURN_SKIPS + 8)

/* pop rax; movb $1, (rax); pop rax; pop rsp; ret over the red zone: flags stay */
#define DP_CODE_SELECTOR_RETURN                                             \
	{                                                                 \
		0x58, 0xc6, 0x00, 0x01, 0x58, 0x5c, 0xc2,                 \
		DP_PLAIN_RETURN_SKIPS, 0                                      \
	}

/* or $-1, %edi; mov $nr, %eax; syscall; ret */
#define DP_CODE_STOP_CALL(nr)                                             \
	{                                                                 \
		0x83, 0xcf, 0xff, 0xb8, (nr), 0, 0, 0, 0x0f, 0x05, 0xc3   \
	}

/* mov %rcx, %rsp; pop %rcx; jmp *%rcx */
#define DP_CODE_MOVES_STACK { 0x48, 0x89, 0xcc }
#define DP_CODE_GOES_ON { 0x59, 0xff, 0xe1 }
#define DP_CODE_RET 0xc3

/* mov 72(%rdi), %rdi */
#define DP_CODE_OUTWARD { 0x48, 0x8b, 0x7f, 0x48 }
/* clang-format on */

/* mov $nr, %eax */
#define DP_SETS_NUMBER_SIZE 5

static inline bool dp_code_sets_number(const u8 *code, u32 *nr)
{
	if (code[0] != 0xb8)
		return false;
	__builtin_memcpy(nr, code + 1, sizeof(*nr));
	return true;
}

/* A REX prefix before the mov makes it a mov to r8. */
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

/**
 * struct dp_code_shape - a system call that gets its number otherwise
 * @code: bytes of whole instructions up to "syscall", @len of them
 * @next: bytes that have to follow, @next_len of them
 * @nr: number of the call; DP_SHAPE_ANY: any
 */
struct dp_code_shape {
	const char *code, *next;
	u8 len, next_len;
	u32 nr;
};

/* Indices in DP_CODE_SHAPES, to which the including file gives SYS_exit and SYS_clone. */
enum dp_shape {
	DP_SHAPE_GLIBC, /* this and the next only if glibc is linked */
	DP_SHAPE_GLIBC_TOO,
	DP_SHAPE_MUSL_END,
	DP_SHAPE_MUSL,
};

/* glibc's syscall(3): mov 8(%rsp), %r9; syscall
 * How a thread ends, in a loop: xor %edi, %edi; mov %edx, %eax; syscall in glibc;
 * mov %rdx, %rax; syscall; jmp back in musl
 * musl's clone: sub $8, %rsi; mov %rcx, (%rsi); syscall; test %eax, %eax */
/* clang-format off */
#define DP_CODE_SHAPES(any, exit, clone)                                     \
	{                                                                    \
		{ "\x4c\x8b\x4c\x24\x08\x0f\x05", "", 7, 0, (any) },          \
		{ "\x31\xff\x89\xd0\x0f\x05", "", 6, 0, (exit) },             \
		{ "\x48\x89\xd0\x0f\x05", "\xeb\xf9", 5, 2, (exit) },         \
		{ "\x48\x83\xee\x08\x48\x89\x0e\x0f\x05", "\x85\xc0", 9, 2, \
		  (clone) },                                                 \
	}
/* clang-format on */

static inline s32 dp_code_deepens(const u8 *code, const struct insn_facts *f)
{
	u8 op = code[f->opcode_off], modrm = code[f->modrm_off];
	s32 by = 0;

	if (!f->modrm_off && (op & 0xf8) == 0x50)
		return 8;
	if (!f->modrm_off && (op & 0xf8) == 0x58)
		return -8;
	if (op == 0x6a || op == 0x68 || (op == 0xff && (modrm & 0x38) == 0x30))
		return 8;
	if ((op != 0x83 && op != 0x81) || (modrm != 0xec && modrm != 0xc4))
		return 0;
	__builtin_memcpy(&by, code + f->imm_off, f->imm_size);
	if (f->imm_size == 1)
		by = (signed char)by;
	return modrm == 0xec ? by : -by;
}

/* mov (%rdi), %eax; test %eax, %eax */
static inline bool dp_code_begins_cancellable(const u8 *code)
{
	return code[0] == 0x8b && code[1] == 0x07 && code[2] == 0x85 &&
	       code[3] == 0xc0;
}

static inline bool dp_code_has(const u8 *code, size_t len, u8 a, u8 b, u8 c)
{
	size_t i;

	for (i = 0; i + 3 <= len; i++)
		if (code[i] == a && code[i + 1] == b && code[i + 2] == c)
			return true;
	return false;
}

/* mov %r8, %r10; mov %r9, %r8 */
static inline bool dp_code_passes_on(const u8 *code, size_t len)
{
	return dp_code_has(code, len, 0x4d, 0x89, 0xc2) &&
	       dp_code_has(code, len, 0x4d, 0x89, 0xc8);
}

static inline bool dp_code_jumps(const u8 *code)
{
	return code[0] == 0xe9;
}

/* ret, perhaps behind endbr64 */
static inline size_t dp_code_returns(const u8 *code)
{
	size_t at = code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e &&
				    code[3] == 0xfa ?
			    4 :
			    0;

	return code[at] == 0xc3 ? at + 1 : 0;
}

enum dp_flags_use {
	DP_FLAGS_NONE,
	DP_FLAGS_PUSHED,
	DP_FLAGS_POPPED,
	DP_FLAGS_BY_CALL, /* a system call saves them in a register */
};

/* Reads two bytes of an instruction. */
static inline enum dp_flags_use dp_code_of_flags(const u8 *code)
{
	u8 op = code[code[0] == 0x66];

	if (op == 0x9c || op == 0x9d)
		return op == 0x9c ? DP_FLAGS_PUSHED : DP_FLAGS_POPPED;
	return dp_code_is_syscall(code) ? DP_FLAGS_BY_CALL : DP_FLAGS_NONE;
}

/* endbr64; mov word(%rip), %rax, or mov $offset, %rax in a static program; add %fs:0, %rax; ret.
 * mov %fs:0, %rax; add $offset, %rax; ret in musl */
#define DP_ERRNO_SIZE 24

static inline bool dp_code_errno(const u8 *code, u64 at, u64 *word, s64 *offset)
{
	static const u8 endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const u8 adds[] = { 0x64, 0x48, 0x03, 0x04, 0x25,
				   0,	 0,    0,    0,	   0xc3 };
	static const u8 loads[] = { 0x64, 0x48, 0x8b, 0x04, 0x25,
				    0,	  0,	0,    0,    0x48 };
	u32 i = __builtin_memcmp(code, endbr, 4) ? 0 : 4;
	s32 disp;

	*word = 0;
	__builtin_memcpy(&disp, code + i + 3, sizeof(disp));
	*offset = disp;
	if (!__builtin_memcmp(code + i, loads, sizeof(loads))) {
		*offset = (signed char)code[i + 12];
		return code[i + 10] == 0x83 && code[i + 11] == 0xc0 &&
		       code[i + 13] == 0xc3;
	}
	if (code[i] != 0x48 || __builtin_memcmp(code + i + 7, adds, 10))
		return false;
	if (code[i + 1] == 0x8b && code[i + 2] == 0x05)
		*word = at + i + 7 + (u64)(s64)disp;
	return *word || (code[i + 1] == 0xc7 && code[i + 2] == 0xc0);
}

#endif
