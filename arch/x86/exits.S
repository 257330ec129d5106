/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exits: calls that are only counted, or timed as well, begun and ended (engine/instance/exits.c says
 * what that is).
 *
 * A call-out comes here with the stack that dp_hit_entry wants. What is not simple goes on there,
 * with nothing done: no struct dp_call_entry for the site, no block for the stack, another
 * instance at the slot, no counters for this CPU.
 *
 *     block ─► instance ─► start: counters of this CPU ─► what is to be done at the site
 *            ─► in doubt ─► count: committed ─► it is live (or free)
 *
 * A timed call ends with a record in this CPU's stream, whose head is the commit then: the reader
 * counts it.
 *
 * Between start and committed an interruption leads to abort. That takes back what the thread has
 * done to the instance, and starts again. The instance is this thread's to take back if rsi is its
 * word, in doubt: rsi is an address until the instance has been looked at. One that was in doubt
 * before is left to dp_hit_entry.
 *
 * Source: linux/rseq.h.
 */
#include "arch/x86/arch_defs.h"
#include "arch/x86/cfi.inc"
#include "arch/x86/offsets.h"

	/* struct dp_exit_instance: @group, and from STATE on the rest of its word; what follows */
	.set	STATE, 4
	.set	RET, 8
	.set	SERIAL, 16
	.set	TID, 20
	.set	TICKS, 24
	.set	LIVE, 1		/* DP_INSTANCE_LIVE, with @crowded and @len zero */
	/* struct dp_stream; struct dp_stream_record with what a call has in it */
	.set	LIMIT, 64
	.set	DATA, 128
	.set	WHAT, 8
	.set	WHOSE, 12
	.set	ENTERED, 16
	.set	VALUE, 24
	.set	AT_SLOT, 32
	.set	BYTES, 40

	.text

#define INSTANCE %rax
#define COUNTERS %rcx

	/* The stack is: @more registers, those that are always saved, the return address, the number,
	 * the red zone. */
	.macro	stack_has more
	.set	SAVED_AX, (4 + \more)*8
	.set	NUMBER, (6 + \more)*8
	.set	SLOT, (7 + \more)*8 + 128
	.set	DEPTH, (6 + \more)*8
	.endm

	.macro	begin
	put	%rax
	lahf
	seto	%al
	put	%rax
	put	%rcx
	put	%rdx
	put	%rsi
	.endm

	.macro	end
	get	%rsi
	get	%rdx
	get	%rcx
	get	%rax
	add	$0x7f, %al
	sahf
	get	%rax
	.endm

	/* The instance of the slot. A slot that is not aligned has no block. Changes rcx, rdx. */
	.macro	find name
	cmpl	$0, dp_wipe(%rip)	/* No fork child has blocks. */
	je	\name\()_other
	lea	SLOT(%rsp), %rax
	mov	%rax, %rdx
	and	$-DP_O_BLOCK_BYTES | 7, %rdx
	imul	$DP_O_BLOCK_FACTOR, %rdx, %rcx
	shr	$DP_O_BLOCK_FACTOR_SHIFT - 4, %rcx
	and	dp_arena+DP_O_BLOCK_BITS(%rip), %rcx
	add	dp_arena+DP_O_BLOCKS(%rip), %rcx
	cmp	%rdx, (%rcx)
	jne	\name\()_far
\name\()_block:
	and	$DP_O_BLOCK_BYTES - 8, %eax
	imul	dp_arena+DP_O_INSTANCE_WORDS(%rip), %eax
	add	8(%rcx), INSTANCE
	.endm

	/* The block may be in the other half of its line. */
	.macro	look_far name
\name\()_far:
	xor	$16, %rcx
	cmp	%rdx, (%rcx)
	je	\name\()_block
	jmp	\name\()_other
	.endm

	/* From here an interruption leads to \name_abort. The CPU is in \cpu, the sites' struct
	 * dp_call_entry at rsi, and the CPUs' counters at rdx. */
	.macro	start name, sequence, calls, cpu
\name\()_again:
	mov	dp_arena+\calls(%rip), %rsi
	movslq	dp_arena+DP_O_RSEQ_OFFSET(%rip), %rcx
	lea	dp_arena+DP_O_CALL_SEQUENCES+\sequence*32(%rip), %rdx
	mov	%rdx, %fs:DP_RSEQ_CS(%rcx)
\name\()_start:
	movzwl	%fs:DP_RSEQ_CPU_ID(%rcx), \cpu
	lea	dp_table(%rip), %rdx
	.endm

	/* This CPU's counters */
	.macro	counters name
	mov	(%rdx,%rcx,8), COUNTERS
	test	COUNTERS, COUNTERS
	jz	\name\()_other
	.endm

	/* The struct dp_call_entry of the site, in rdx */
	.macro	entry
	mov	NUMBER(%rsp), %edx
	and	$DP_O_CALLOUT_INDEX, %edx
	mov	(%rsi,%rdx,8), %rdx
	.endm

	/* It begins calls, and the instance's word is to be rsi. @counter is in rdx then. */
	.macro	expect_enter name
	mov	%edx, %esi
	shr	$32, %rdx
	test	$DP_O_CALL_ENTER, %dl
	jz	\name\()_other
	.endm

	/* It ends the call that is live. At an exit that functions share, the return address says
	 * whose call it is. Else on to \name_other. */
	.macro	expect_exit name
	cmp	%edx, (INSTANCE)
	jne	\name\()_other
	cmpl	$LIVE, STATE(INSTANCE)
	jne	\name\()_other
	shr	$32, %rdx
	test	$DP_O_CALL_SHARED | DP_O_CALL_ENTER, %dl
	jnz	\name\()_shared
\name\()_own:
	mov	(INSTANCE), %esi
	.endm
	.macro	look_at_ret name
\name\()_shared:
	xor	$DP_O_CALL_SHARED, %edx
	test	$DP_O_CALL_SHARED | DP_O_CALL_ENTER, %dl
	jnz	\name\()_other
	mov	SLOT(%rsp), %rsi
	cmp	%rsi, RET(INSTANCE)
	je	\name\()_own
	jmp	\name\()_other
	.endm

	/* @kind: the bit of it that is in rdx */
	.macro	count name, kind
	incq	-\kind(COUNTERS,%rdx)
\name\()_committed:
	movslq	dp_arena+DP_O_RSEQ_OFFSET(%rip), %rcx
	movq	$0, %fs:DP_RSEQ_CS(%rcx)
	.endm

	/* The instance, which is free, is of this call. Changes rdx. */
	.macro	fill name
	cmpq	$0, (INSTANCE)
	jne	\name\()_other
	mov	SLOT(%rsp), %rdx
	mov	%rdx, RET(INSTANCE)
	incl	SERIAL(INSTANCE)
	.endm

	/* The clock, in rdx. Changes rax. */
	.macro	clock
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	.endm

	/* The thread's id, in \tid */
	.macro	thread offset, tid
	movslq	dp_arena+DP_O_TID_OFFSET(%rip), \offset
	mov	%fs:(\offset), \tid
	.endm

	/* Leave it to the agent. */
	.macro	other
	movslq	dp_arena+DP_O_RSEQ_OFFSET(%rip), %rax
	movq	$0, %fs:DP_RSEQ_CS(%rax)
	end
	jmp	dp_hit_entry
	deep	DEPTH
	.endm

	/* What stands before the code of an interruption. It is never run. */
	.macro	sign
	.byte	0x0f, 0xb9, 0x3d	/* ud1: the signature is its operand */
	.long	DP_RSEQ_SIGNATURE
	.endm

	/* Take back what the thread has done to the instance: nothing, unless it has rsi for its word. */
	.macro	abort name, instance, undo:vararg
\name\()_abort:
	cmp	%rsi, (\instance)
	jne	\name\()_again
	\undo
	jmp	\name\()_again
	.endm

	stack_has 0
	.globl	dp_enter_entry
	.hidden	dp_enter_entry
	.balign 64
dp_enter_entry:
	called
	begin
	find	enter
	fill	enter
	start	enter, 0, DP_O_CALLS, %ecx
	counters enter
	entry
	expect_enter enter
	mov	%rsi, (INSTANCE)
	count	enter, DP_O_CALL_ENTER
	movl	$LIVE, STATE(INSTANCE)
	end
	ret
	deep	DEPTH
	look_far enter
enter_other:
	other
	sign
	abort	enter, INSTANCE, movq $0, (INSTANCE)
	.cfi_endproc

	.globl	dp_exit_entry
	.hidden	dp_exit_entry
	.balign 64
dp_exit_entry:
	called
	begin
	find	exit
	start	exit, 1, DP_O_CALLS, %ecx
	counters exit
	entry
	expect_exit exit
	movl	$0, STATE(INSTANCE)
	count	exit, DP_O_CALL_EXIT
	movq	$0, (INSTANCE)
	end
	ret
	deep	DEPTH
	look_far exit
	look_at_ret exit
exit_other:
	other
	sign
	abort	exit, INSTANCE, movl $LIVE, STATE(INSTANCE)
	.cfi_endproc

	.globl	dp_enter_timed_entry
	.hidden	dp_enter_timed_entry
	.balign 64
dp_enter_timed_entry:
	called
	begin
	find	enter_timed
	fill	enter_timed
	thread	%rdx, %edx
	mov	%edx, TID(INSTANCE)
	mov	INSTANCE, %rsi
	clock
	mov	%rdx, TICKS(%rsi)
	mov	%rsi, INSTANCE
	start	enter_timed, 2, DP_O_TIMED_CALLS, %ecx
	counters enter_timed
	entry
	expect_enter enter_timed
	mov	%rsi, (INSTANCE)
	count	enter_timed, DP_O_CALL_ENTER
	movl	$LIVE, STATE(INSTANCE)
	end
	ret
	deep	DEPTH
	look_far enter_timed
enter_timed_other:
	other
	sign
	abort	enter_timed, INSTANCE, movq $0, (INSTANCE)
	.cfi_endproc

#define MINE %r10
	/* The struct dp_call_entry has the number of the exit's probe, above DP_CALL_EXIT. */
	stack_has 4
	.globl	dp_exit_timed_entry
	.hidden	dp_exit_timed_entry
	.balign 64
dp_exit_timed_entry:
	called
	begin
	put	%rdi
	put	%r8
	put	%r9
	put	%r10
	find	exit_timed
	mov	INSTANCE, MINE
	start	exit_timed, 3, DP_O_TIMED_CALLS, %edi
	cmpq	$0, (%rdx,%rdi,8)
	je	exit_timed_other
	entry
	expect_exit exit_timed
	imul	dp_arena+DP_O_STREAM_STRIDE(%rip), %edi
	add	dp_arena+DP_O_STREAMS(%rip), %rdi
	mov	(%rdi), %r8
	cmp	LIMIT(%rdi), %r8
	jae	exit_timed_other
	movl	$0, STATE(INSTANCE)
	mov	%r8d, %ecx
	and	dp_arena+DP_O_STREAM_MASK(%rip), %ecx
	lea	DATA(%rdi,%rcx), %r9
	shr	$DP_O_CALL_SHIFT, %edx
	or	$DP_O_STREAM_CALL << 27, %edx
	mov	%edx, WHAT(%r9)
	thread	%rcx, %ecx
	mov	%ecx, WHOSE(%r9)
	mov	TICKS(INSTANCE), %rcx
	mov	%rcx, ENTERED(%r9)
	mov	SAVED_AX(%rsp), %rcx
	mov	%rcx, VALUE(%r9)
	lea	SLOT(%rsp), %rcx
	mov	%rcx, AT_SLOT(%r9)
	clock
	mov	%rdx, (%r9)
	add	$BYTES, %r8
	mov	%r8, (%rdi)
exit_timed_committed:
	movslq	dp_arena+DP_O_RSEQ_OFFSET(%rip), %rcx
	movq	$0, %fs:DP_RSEQ_CS(%rcx)
	movq	$0, (MINE)
	get	%r10
	get	%r9
	get	%r8
	get	%rdi
	end
	ret
	deep	DEPTH
	look_far exit_timed
	look_at_ret exit_timed
exit_timed_other:
	get	%r10
	get	%r9
	get	%r8
	get	%rdi
	other
	sign
exit_timed_abort:
	mov	MINE, INSTANCE
	cmp	%rsi, (INSTANCE)
	jne	exit_timed_again
	movl	$LIVE, STATE(INSTANCE)
	jmp	exit_timed_again
	.cfi_endproc

	/* struct dp_agent_sequence, relative to here */
	.section .rodata.call_sequences, "a", @progbits
	.globl	dp_call_sequences
	.hidden	dp_call_sequences
	.balign 4
dp_call_sequences:
	.long	enter_start - dp_call_sequences
	.long	enter_committed - dp_call_sequences
	.long	enter_abort - dp_call_sequences
	.long	exit_start - dp_call_sequences
	.long	exit_committed - dp_call_sequences
	.long	exit_abort - dp_call_sequences
	.long	enter_timed_start - dp_call_sequences
	.long	enter_timed_committed - dp_call_sequences
	.long	enter_timed_abort - dp_call_sequences
	.long	exit_timed_start - dp_call_sequences
	.long	exit_timed_committed - dp_call_sequences
	.long	exit_timed_abort - dp_call_sequences

	.section .note.GNU-stack, "", @progbits
