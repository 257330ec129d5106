/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* native: functions that change nothing, and a call with all registers as they are wanted. */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>
#include "tests/kernel/native.h"

	.text

/* The first instruction has room for a jump. */
	.balign 16
SYM_CODE_START(dpnative_victims)
	.rept DPNATIVE_VICTIMS
	UNWIND_HINT_FUNC
	ANNOTATE_NOENDBR
	.byte	0x48, 0x8d, 0x80, 0, 0, 0, 0	/* lea 0(%rax), %rax */
	ANNOTATE_UNRET_SAFE
	ret
	int3
	.balign 16, 0xcc
	.endr
SYM_CODE_END(dpnative_victims)

/* rdi: the function; rsi: 15 registers and the flags, which become what they are behind the call. The thread may be
 * interrupted anywhere, so rsp is the stack's. */
SYM_CODE_START(dpnative_call)
	UNWIND_HINT_FUNC
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rsi
	push	%rdi
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=9*8 type=UNWIND_HINT_TYPE_CALL
	mov	%rsi, %rax
	pushq	15*8(%rax)
	popfq
	mov	1*8(%rax), %rcx
	mov	2*8(%rax), %rdx
	mov	3*8(%rax), %rbx
	mov	4*8(%rax), %rbp
	mov	5*8(%rax), %rsi
	mov	6*8(%rax), %rdi
	mov	7*8(%rax), %r8
	mov	8*8(%rax), %r9
	mov	9*8(%rax), %r10
	mov	10*8(%rax), %r11
	mov	11*8(%rax), %r12
	mov	12*8(%rax), %r13
	mov	13*8(%rax), %r14
	mov	14*8(%rax), %r15
	mov	(%rax), %rax
	ANNOTATE_RETPOLINE_SAFE
	call	*(%rsp)
	push	%rax
	mov	2*8(%rsp), %rax
	mov	%rcx, 1*8(%rax)
	mov	%rdx, 2*8(%rax)
	mov	%rbx, 3*8(%rax)
	mov	%rbp, 4*8(%rax)
	mov	%rsi, 5*8(%rax)
	mov	%rdi, 6*8(%rax)
	mov	%r8, 7*8(%rax)
	mov	%r9, 8*8(%rax)
	mov	%r10, 9*8(%rax)
	mov	%r11, 10*8(%rax)
	mov	%r12, 11*8(%rax)
	mov	%r13, 12*8(%rax)
	mov	%r14, 13*8(%rax)
	mov	%r15, 14*8(%rax)
	pushfq
	popq	15*8(%rax)
	pop	%rcx
	mov	%rcx, (%rax)
	lea	2*8(%rsp), %rsp
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=7*8 type=UNWIND_HINT_TYPE_CALL
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	UNWIND_HINT_FUNC
	RET
SYM_CODE_END(dpnative_call)
