/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stream: dp_stream_put(p), see arch/x86/stream.h.
 *
 * Between start and committed an interruption leads to abort, and so to the beginning. Nothing but
 * the store before committed can be seen.
 *
 * Source: linux/rseq.h.
 */
#include "arch/x86/cfi.inc"

	.set	TABLE, 0
	.set	BASE, 8
	.set	STRIDE, 16
	.set	MASK, 24
	.set	RSEQ, 32
	.set	BYTES, 40
	.set	NR, 48
	.set	STAMPS, 56
	.set	SEQUENCE, 64
	.set	HEAD, 72
	.set	PARTS, 88
	/* struct rseq; struct dp_stream */
	.set	CPU_ID, 4
	.set	RSEQ_CS, 8
	.set	LIMIT, 64
	.set	DATA, 128

	.text
	.globl	dp_stream_put
	.hidden	dp_stream_put
	.balign 16
dp_stream_put:
	called
	mov	%rdi, %r8
	mov	RSEQ(%r8), %r9
	mov	SEQUENCE(%r8), %rdx
	lea	start(%rip), %rax
	mov	%rax, 8(%rdx)
	movq	$committed - start, 16(%rdx)
	lea	abort(%rip), %rax
	mov	%rax, 24(%rdx)
again:
	mov	SEQUENCE(%r8), %rax
	mov	%rax, %fs:RSEQ_CS(%r9)
start:
	movzwl	%fs:CPU_ID(%r9), %eax
	mov	TABLE(%r8), %rcx
	cmpq	$0, (%rcx,%rax,8)
	je	unusable
	imul	STRIDE(%r8), %rax
	add	BASE(%r8), %rax
	mov	(%rax), %r10
	cmp	LIMIT(%rax), %r10
	jae	full
	mov	%r10, %rdi
	and	MASK(%r8), %rdi
	lea	DATA(%rax,%rdi), %rdi
	mov	HEAD(%r8), %rsi
	mov	HEAD+8(%r8), %rcx
	rep movsb
	mov	PARTS(%r8), %r11
	mov	NR(%r8), %rdx
1:	mov	(%r11), %rsi
	mov	8(%r11), %rcx
	rep movsb
	add	$16, %r11
	dec	%rdx
	jnz	1b
	cmpq	$0, STAMPS(%r8)
	je	3f
	mov	%rax, %r11
	mov	%r10, %rdi
	and	MASK(%r8), %rdi
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, DATA(%r11,%rdi)
	mov	%r11, %rax
3:	add	BYTES(%r8), %r10
	mov	%r10, (%rax)
committed:
	xor	%eax, %eax
2:	movq	$0, %fs:RSEQ_CS(%r9)
	ret
full:
	mov	$1, %eax
	jmp	2b
unusable:
	mov	$2, %eax
	jmp	2b
	.byte	0x0f, 0xb9, 0x3d	/* ud1: the signature is its operand */
	.long	0x53053053
abort:
	jmp	again
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
