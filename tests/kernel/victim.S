/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* victim: functions to be probed of which every register is known. */
#include <linux/linkage.h>

	.text

SYM_FUNC_START(dptest_victim)
	lea	1(%rax), %rax
	lea	(%rbx,%rax), %rbx
	lea	3(%rbx), %rbx
	RET
SYM_FUNC_END(dptest_victim)

/* A word is taken from the stack, behind three instructions that count: 7 + 16 * word */
SYM_FUNC_START(dptest_words)
	push	%rbp
	mov	%rsp, %rbp
	push	$3
	push	$2
	push	$1
	xor	%eax, %eax
	lea	1(%rax), %rax
	lea	2(%rax), %rax
	lea	4(%rax), %rax
	pop	%rdx
	shl	$4, %edx
	add	%edx, %eax
	mov	%rbp, %rsp
	pop	%rbp
	RET
SYM_FUNC_END(dptest_words)

.macro save
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
.endm

.macro restore
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
.endm

SYM_FUNC_START(dptest_call)
	save
	push	%rsi
	mov	0*8(%rdi), %rax
	mov	1*8(%rdi), %rbx
	mov	2*8(%rdi), %rcx
	mov	3*8(%rdi), %rdx
	mov	4*8(%rdi), %rsi
	mov	6*8(%rdi), %rbp
	mov	7*8(%rdi), %r8
	mov	8*8(%rdi), %r9
	mov	9*8(%rdi), %r10
	mov	10*8(%rdi), %r11
	mov	11*8(%rdi), %r12
	mov	12*8(%rdi), %r13
	mov	13*8(%rdi), %r14
	mov	14*8(%rdi), %r15
	mov	5*8(%rdi), %rdi
	call	dptest_victim
	push	%rdi
	mov	8(%rsp), %rdi
	mov	%rax, 0*8(%rdi)
	mov	%rbx, 1*8(%rdi)
	mov	%rcx, 2*8(%rdi)
	mov	%rdx, 3*8(%rdi)
	mov	%rsi, 4*8(%rdi)
	pop	5*8(%rdi)
	mov	%rbp, 6*8(%rdi)
	mov	%r8, 7*8(%rdi)
	mov	%r9, 8*8(%rdi)
	mov	%r10, 9*8(%rdi)
	mov	%r11, 10*8(%rdi)
	mov	%r12, 11*8(%rdi)
	mov	%r13, 12*8(%rdi)
	mov	%r14, 13*8(%rdi)
	mov	%r15, 14*8(%rdi)
	pop	%rsi
	restore
	RET
SYM_FUNC_END(dptest_call)

SYM_FUNC_START(dptest_carry)
	save
	bt	$0, %rdi
	call	dptest_victim
	setc	%al
	movzbl	%al, %eax
	restore
	RET
SYM_FUNC_END(dptest_carry)
