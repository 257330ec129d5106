/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row: dp_row_put(p) and dp_row_pair(pair, order, value), see arch/x86/row.h.
 *
 * Between start and committed an interruption leads to abort, and so to the beginning. What the
 * log of the last update says can be carried out any number of times. The log of the next one is
 * nobody's until the count says so: the store before committed.
 *
 * Source: linux/rseq.h.
 */
	.set	TABLE, 0
	.set	ROW, 8
	.set	STRIDE, 16
	.set	SHARDS, 24
	.set	RSEQ, 32
	.set	SEQUENCE, 40
	.set	NR, 48
	.set	UPDATES, 56
	/* struct dp_row_update; struct dp_aggregate_log; struct rseq */
	.set	HOW, 0
	.set	AT, 4
	.set	VALUE, 8
	.set	UPDATE, 16
	.set	PAIR, 2
	.set	LOG, 16
	.set	CPU_ID, 4
	.set	RSEQ_CS, 8

	.text
	.globl	dp_row_put
	.hidden	dp_row_put
	.balign 16
dp_row_put:
	push	%rbx
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
	cmp	SHARDS(%r8), %rax
	jae	unusable
	mov	TABLE(%r8), %rcx
	cmpq	$0, (%rcx,%rax,8)
	je	unusable
	imul	STRIDE(%r8), %rax
	add	ROW(%r8), %rax
	mov	(%rax), %r10
	mov	NR(%r8), %rcx
	test	%rcx, %rcx
	jz	commit
	/* r11: the log that is true; rsi: the other one */
	lea	8(%rax), %r11
	mov	%rcx, %rsi
	shl	$4, %rsi
	add	%r11, %rsi
	test	$1, %r10b
	jz	1f
	xchg	%r11, %rsi
1:	mov	(%r11), %rdi
	mov	8(%r11), %rdx
	test	%rdi, %rdi
	jz	2f
	mov	%rdx, (%rax,%rdi,8)
2:	add	$LOG, %r11
	dec	%rcx
	jnz	1b
	mov	NR(%r8), %rcx
	lea	UPDATES(%r8), %r11
3:	mov	AT(%r11), %edi
	mov	VALUE(%r11), %rdx
	mov	(%rax,%rdi,8), %rbx
	mov	%rdi, (%rsi)
	cmpl	$PAIR, HOW(%r11)
	je	pair
	cmpl	$0, HOW(%r11)
	je	4f
	cmp	%rbx, %rdx
	cmovb	%rbx, %rdx
	jmp	5f
4:	add	%rbx, %rdx
5:	mov	%rdx, 8(%rsi)
next:
	add	$UPDATE, %r11
	add	$LOG, %rsi
	dec	%rcx
	jnz	3b
commit:
	inc	%r10
	mov	%r10, (%rax)
committed:
	mov	$1, %eax
6:	movq	$0, %fs:RSEQ_CS(%r9)
	pop	%rbx
	ret
	/* rdx: the order, rbx: that of the row. Its value is in the next word. */
pair:
	cmp	%rbx, %rdx
	jbe	7f
	mov	%rdx, 8(%rsi)
	mov	UPDATE+VALUE(%r11), %rdx
	jmp	8f
7:	mov	%rbx, 8(%rsi)
	mov	8(%rax,%rdi,8), %rdx
8:	inc	%rdi
	mov	%rdi, LOG(%rsi)
	mov	%rdx, LOG+8(%rsi)
	add	$UPDATE, %r11
	add	$LOG, %rsi
	dec	%rcx
	jmp	next
unusable:
	xor	%eax, %eax
	jmp	6b
	.byte	0x0f, 0xb9, 0x3d	/* ud1: the signature is its operand */
	.long	0x53053053
abort:
	jmp	again

	.globl	dp_row_pair
	.hidden	dp_row_pair
	.balign 16
dp_row_pair:
	push	%rbx
	mov	%rsi, %rbx
	mov	%rdx, %rcx
	mov	(%rdi), %rax
	mov	8(%rdi), %rdx
9:	cmp	%rax, %rbx
	jbe	10f
	lock cmpxchg16b (%rdi)
	jne	9b
10:	pop	%rbx
	ret

	.section .note.GNU-stack, "", @progbits
