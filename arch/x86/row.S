/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row: dp_row_put(p) and dp_row_pair(pair, order, value), see arch/x86/row.h; dp_keep_entry.
 *
 * Between start and committed an interruption leads to abort, and so to the beginning. What the
 * log of the last update says can be carried out any number of times. The log of the next one is
 * nobody's until the count says so: the store before committed.
 *
 * Source: linux/rseq.h.
 */
#include "arch/x86/arch_defs.h"
#include "arch/x86/cfi.inc"
#include "arch/x86/offsets.h"

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
	called
	put	%rbx
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
	get	%rbx
	ret
	deep	16
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
	.long	DP_RSEQ_SIGNATURE
abort:
	jmp	again
	.cfi_endproc

	.globl	dp_row_pair
	.hidden	dp_row_pair
	.balign 16
dp_row_pair:
	called
	put	%rbx
	mov	%rsi, %rbx
	mov	%rdx, %rcx
	mov	(%rdi), %rax
	mov	8(%rdi), %rdx
9:	cmp	%rax, %rbx
	jbe	10f
	lock cmpxchg16b (%rdi)
	jne	9b
10:	get	%rbx
	ret
	.cfi_endproc

#define TABLE_AT %rax
#define WORD_AT %rcx

	/* Call @function with the table and the words of the hit, of which rcx, rsi and rdi are saved already, and
	 * return. Six registers and a return address are below the words. */
	.macro	keep_by function
	put	%r8
	put	%r9
	put	%r10
	put	%r11
	mov	DP_O_KEEP_KEYS(TABLE_AT), %ecx
	add	DP_O_KEEP_NR_FIELDS(TABLE_AT), %ecx
	lea	6*8(%rsp,%rcx,8), %rsi
	mov	TABLE_AT, %rdi
	call	\function
	get	%r11
	get	%r10
	get	%r9
	get	%r8
	get	%rdi
	get	%rsi
	ret
	.endm

/*
 * A detour has put the words of a hit onto the stack: the first one has the highest address, and the
 * last one is on top. rax: the struct dp_aggregate_entry. rax, rcx, rdx and the flags are the detour's
 * to restore.
 *
 * Where one word changes, and the key has a slot where its hash says, all is done here.
 */
	.globl	dp_keep_entry
	.hidden	dp_keep_entry
	.balign 64
dp_keep_entry:
	called
	put	%rsi
	put	%rdi
	movzbl	DP_O_KEEP_QUICK(TABLE_AT), %ecx
	test	%ecx, %ecx
	jz	keep_slow
	/* rsi: the key, or what would be one. A value is below it. */
	lea	2*8(%rsp,%rcx,8), %rsi
	cmpl	$0, DP_O_KEEP_KEYS(TABLE_AT)
	je	keep_without
	mov	(%rsi), %rdx
	movabs	$0x9e3779b97f4a7c15, %rdi
	imul	%rdi, %rdx
	mov	%rdx, %rcx
	shr	$29, %rcx
	xor	%rcx, %rdx
	imul	%rdi, %rdx
	mov	%rdx, %rcx
	shr	$32, %rcx
	and	DP_O_KEEP_SLOT_MASK(TABLE_AT), %ecx
	or	$DP_O_SLOT_READY, %rdx
	mov	%ecx, %edi
	shl	$4, %rdi
	add	DP_O_KEEP_SLOTS(TABLE_AT), %rdi
	cmp	%rdx, (%rdi)
	jne	keep_slow
	mov	(%rsi), %rdx
	cmp	%rdx, 8(%rdi)
	jne	keep_slow
	mov	DP_O_KEEP_ROW_BYTES(TABLE_AT), %edi
	imul	%rdi, WORD_AT
	add	DP_O_KEEP_ROWS(TABLE_AT), WORD_AT
keep_row:
	cmpb	$DP_O_QUICK_HIST, DP_O_KEEP_QUICK(TABLE_AT)
	jne	keep_again
	mov	DP_O_KEEP_BUCKET_OFF(TABLE_AT), %edi
	add	%rdi, WORD_AT
	mov	-8(%rsi), %rdx
	xor	%edi, %edi
	test	%rdx, %rdx
	jz	keep_again
	js	keep_large
keep_positive:
	bsr	%rdx, %rdi
	lea	8(WORD_AT,%rdi,8), WORD_AT
keep_again:
	movslq	dp_arena+DP_O_RSEQ_OFFSET(%rip), %rdx
	lea	dp_arena+DP_O_KEEP_SEQUENCE(%rip), %rdi
	mov	%rdi, %fs:RSEQ_CS(%rdx)
keep_start:
	movzwl	%fs:CPU_ID(%rdx), %edi
	cmp	DP_O_KEEP_SHARDS(TABLE_AT), %edi
	jae	keep_other
	lea	dp_table(%rip), %rsi
	cmpq	$0, (%rsi,%rdi,8)
	je	keep_other
	imul	DP_O_KEEP_SHARD_BYTES(TABLE_AT), %rdi
	incq	(WORD_AT,%rdi)
keep_committed:
	movq	$0, %fs:RSEQ_CS(%rdx)
	get	%rdi
	get	%rsi
	ret
	deep	24
keep_large:
	cmpb	$0, DP_O_KEEP_SIGN(TABLE_AT)
	je	keep_positive
	add	$DP_O_HIST_NEGATIVE*8, WORD_AT
	jmp	keep_again
keep_without:
	mov	DP_O_KEEP_SLOTS(TABLE_AT), %rdi
	mov	DP_O_KEEP_ROWS(TABLE_AT), WORD_AT
	cmpq	$DP_O_SLOT_READY, (%rdi)
	je	keep_row
	jmp	keep_slow
keep_other:
	movq	$0, %fs:RSEQ_CS(%rdx)
keep_slow:
	keep_by dp_aggregate_put
	deep	24
	.byte	0x0f, 0xb9, 0x3d	/* ud1: the signature is its operand */
	.long	DP_RSEQ_SIGNATURE
keep_abort:
	jmp	keep_again
	.cfi_endproc

/* The same where some of the words are addresses of strings. rdx: which, see dp_native_text() */
	.globl	dp_keep_texts_entry
	.hidden	dp_keep_texts_entry
	.balign 16
dp_keep_texts_entry:
	called
	put	%rsi
	put	%rdi
	keep_by dp_aggregate_put_texts
	.cfi_endproc

/* dp_load_word(address), dp_load_byte(address, to): a fault of the first instruction of either
 * leads to dp_load_bad. */
	.globl	dp_load_word, dp_load_byte, dp_load_end, dp_load_bad
	.hidden	dp_load_word, dp_load_byte, dp_load_end, dp_load_bad
	.balign 16
dp_load_word:
	called
	mov	(%rdi), %rdx
	mov	$1, %eax
	ret
dp_load_byte:
	movzbl	(%rdi), %eax
	mov	%rax, (%rsi)
	mov	$1, %eax
	ret
dp_load_end:
dp_load_bad:
	xor	%eax, %eax
	ret
	.cfi_endproc

	/* As those of exits.S */
	.globl	dp_keep_sequence
	.hidden	dp_keep_sequence
	.balign 4
dp_keep_sequence:
	.long	keep_start - dp_keep_sequence
	.long	keep_committed - dp_keep_sequence
	.long	keep_abort - dp_keep_sequence

	.section .note.GNU-stack, "", @progbits
