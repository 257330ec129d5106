/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exits: calls that are only counted, or timed as well, begun and ended (engine/instance/exits.c says
 * what that is).
 *
 * A call-out comes here with the stack that dp_hit_entry wants. What is not simple goes on there,
 * with nothing done: no struct dp_call_entry for the site, no block for the stack, another
 * instance at the slot, no counters for this CPU.
 *
 *     start: counters of this CPU ─► what is to be done at the site ─► block ─► instance
 *            ─► in doubt ─► count: committed ─► it is live (or free)
 *
 * A timed call ends with a record in this CPU's stream, whose head is the commit then: the reader
 * counts it.
 *
 * Between start and committed an interruption leads to abort. That takes back what the thread has
 * done to the instance, and starts again. The instance is this thread's to take back if rsi has
 * its address. One that was in doubt before is left to dp_hit_entry.
 *
 * Source: linux/rseq.h.
 */
#include "arch/x86/arch_defs.h"
#include "arch/x86/offsets.h"

	/* struct dp_exit_instance; a bit of its word */
	.set	RET, 8
	.set	SERIAL, 16
	.set	TID, 20
	.set	TICKS, 24
	.set	LIVE, 32
	/* struct dp_stream; struct dp_stream_record with what a call has in it */
	.set	LIMIT, 64
	.set	DATA, 128
	.set	WHAT, 8
	.set	WHOSE, 12
	.set	ENTERED, 16
	.set	VALUE, 24
	.set	BYTES, 32

	.text

#define COUNTERS %rcx
#define ENTRY %rdx
#define MINE %rsi
#define INSTANCE %rdi

	/* The stack is: @more registers, those that are always saved, the return address, the number,
	 * the red zone. */
	.macro	stack_has more
	.set	SAVED_AX, (5 + \more)*8
	.set	NUMBER, (7 + \more)*8
	.set	SLOT, (8 + \more)*8 + 128
	.endm

	.macro	begin
	push	%rax
	lahf
	seto	%al
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	.endm

	.macro	end
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	add	$0x7f, %al
	sahf
	pop	%rax
	.endm

	/* From here an interruption leads to \name_abort. */
	.macro	start name, sequence
	xor	%esi, %esi
	mov	NUMBER(%rsp), %edx
	and	$DP_O_CALLOUT_INDEX, %edx
	movslq	dp_arena+DP_O_RSEQ_OFFSET(%rip), %rcx
	lea	dp_arena+DP_O_CALL_SEQUENCES+\sequence*32(%rip), %rax
	mov	%rax, %fs:DP_RSEQ_CS(%rcx)
\name\()_start:
	movzwl	%fs:DP_RSEQ_CPU_ID(%rcx), %eax
	lea	dp_table(%rip), COUNTERS
	mov	(COUNTERS,%rax,8), COUNTERS
	test	COUNTERS, COUNTERS
	jz	\name\()_other
	.endm

	/* The struct dp_call_entry of the site, and the instance of the slot. Changes rax. */
	.macro	find name, kind, calls
	mov	dp_arena+\calls(%rip), %rax
	mov	(%rax,ENTRY,8), ENTRY
	test	$\kind, %dl
	jz	\name\()_other
	lea	SLOT(%rsp), %rax
	shr	$DP_O_BLOCK_SHIFT, %rax
	imul	$DP_O_BLOCK_FACTOR, %rax, INSTANCE
	shr	$DP_O_BLOCK_FACTOR_SHIFT - 4, INSTANCE
	and	dp_arena+DP_O_BLOCK_BITS(%rip), INSTANCE
	add	dp_arena+DP_O_BLOCKS(%rip), INSTANCE
	cmp	%rax, (INSTANCE)
	jne	\name\()_far
\name\()_block:
	lea	SLOT(%rsp), %eax
	test	$7, %al
	jnz	\name\()_other
	and	$DP_O_BLOCK_BYTES - 8, %eax
	imul	dp_arena+DP_O_INSTANCE_WORDS(%rip), %eax
	add	8(INSTANCE), %rax
	mov	%rax, INSTANCE
	.endm

	/* The block may be in the other half of its line. */
	.macro	look_far name
\name\()_far:
	xor	$16, INSTANCE
	cmp	%rax, (INSTANCE)
	je	\name\()_block
	jmp	\name\()_other
	.endm

	/* The instance is in doubt, which @word says, until it is what comes next. */
	.macro	doubt word
	mov	INSTANCE, MINE
	mov	\word, (MINE)
	.endm

	/* What the word of the instance is in doubt, in @word */
	.macro	word word
	mov	ENTRY, \word
	shr	$32, \word
	.endm

	/* Not in doubt any more */
	.macro	live word
	bts	$LIVE, \word
	mov	\word, (MINE)
	.endm

	/* Changes rcx. */
	.macro	count name
	and	$-8, %edx
	incq	(COUNTERS,ENTRY)
\name\()_committed:
	movslq	dp_arena+DP_O_RSEQ_OFFSET(%rip), %rcx
	movq	$0, %fs:DP_RSEQ_CS(%rcx)
	.endm

	/* The instance has been entered. Changes rax. */
	.macro	fill
	mov	SLOT(%rsp), %rax
	mov	%rax, RET(INSTANCE)
	incl	SERIAL(INSTANCE)
	.endm

	/* At an exit that functions share, the return address says whose call it is. Changes rax. */
	.macro	expect_ret name
	test	$DP_O_CALL_SHARED, %dl
	jnz	\name\()_shared
\name\()_own:
	.endm
	.macro	look_at_ret name
\name\()_shared:
	mov	SLOT(%rsp), %rax
	cmp	%rax, RET(INSTANCE)
	je	\name\()_own
	jmp	\name\()_other
	.endm

	/* The instance of a call that is live is not the one that is looked for: on to \name_other. */
	.macro	expect_live name, word
	word	\word
	bts	$LIVE, \word
	cmp	\word, (INSTANCE)
	jne	\name\()_other
	btr	$LIVE, \word
	.endm

	/* The clock, in rax. Changes rdx. */
	.macro	clock
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	.endm

	/* The thread's id, in eax */
	.macro	thread
	movslq	dp_arena+DP_O_TID_OFFSET(%rip), %rax
	mov	%fs:(%rax), %eax
	.endm

	/* Leave it to the agent. */
	.macro	other
	movslq	dp_arena+DP_O_RSEQ_OFFSET(%rip), %rax
	movq	$0, %fs:DP_RSEQ_CS(%rax)
	end
	jmp	dp_hit_entry
	.endm

	/* What stands before the code of an interruption. It is never run. */
	.macro	sign
	.byte	0x0f, 0xb9, 0x3d	/* ud1: the signature is its operand */
	.long	DP_RSEQ_SIGNATURE
	.endm

	/* Take back an instance that has been entered, or ended. */
	.macro	abort_enter name
\name\()_abort:
	test	MINE, MINE
	jz	\name\()_again
	movq	$0, (MINE)
	jmp	\name\()_again
	.endm

	.macro	abort_exit name, word
\name\()_abort:
	test	MINE, MINE
	jz	\name\()_again
	live	\word
	jmp	\name\()_again
	.endm

	stack_has 0
	.globl	dp_enter_entry
	.hidden	dp_enter_entry
	.balign 64
dp_enter_entry:
	begin
enter_again:
	start	enter, 0
	find	enter, DP_O_CALL_ENTER, DP_O_CALLS
	cmpq	$0, (INSTANCE)
	jne	enter_other
	fill
	word	%rax
	doubt	%rax
	count	enter
	live	%rax
	end
	ret
	look_far enter
enter_other:
	other
	sign
	abort_enter enter

	.globl	dp_exit_entry
	.hidden	dp_exit_entry
	.balign 64
dp_exit_entry:
	begin
exit_again:
	start	exit, 1
	find	exit, DP_O_CALL_EXIT, DP_O_CALLS
	expect_ret exit
	expect_live exit, %rax
	doubt	%rax
	count	exit
	movq	$0, (MINE)
	end
	ret
	look_far exit
	look_at_ret exit
exit_other:
	other
	sign
	abort_exit exit, %rax

	stack_has 1
	.globl	dp_enter_timed_entry
	.hidden	dp_enter_timed_entry
	.balign 64
dp_enter_timed_entry:
	begin
	push	%r8
enter_timed_again:
	start	enter_timed, 2
	find	enter_timed, DP_O_CALL_ENTER, DP_O_TIMED_CALLS
	cmpq	$0, (INSTANCE)
	jne	enter_timed_other
	fill
	thread
	mov	%eax, TID(INSTANCE)
	mov	ENTRY, %r8
	clock
	mov	%rax, TICKS(INSTANCE)
	mov	%r8, ENTRY
	word	%rax
	doubt	%rax
	count	enter_timed
	live	%rax
	pop	%r8
	end
	ret
	look_far enter_timed
enter_timed_other:
	pop	%r8
	other
	sign
	abort_enter enter_timed

	/* The struct dp_call_entry has the number of the exit's probe, above DP_CALL_EXIT. */
	stack_has 3
	.globl	dp_exit_timed_entry
	.hidden	dp_exit_timed_entry
	.balign 64
dp_exit_timed_entry:
	begin
	push	%r8
	push	%r9
	push	%r10
exit_timed_again:
	start	exit_timed, 3
	mov	%eax, %r9d
	find	exit_timed, DP_O_CALL_EXIT, DP_O_TIMED_CALLS
	expect_ret exit_timed
	expect_live exit_timed, %r8
	imul	dp_arena+DP_O_STREAM_STRIDE(%rip), %r9d
	add	dp_arena+DP_O_STREAMS(%rip), %r9
	mov	(%r9), %r10
	cmp	LIMIT(%r9), %r10
	jae	exit_timed_other
	doubt	%r8
	mov	%r10d, %eax
	and	dp_arena+DP_O_STREAM_MASK(%rip), %eax
	lea	DATA(%r9,%rax), %rdi
	mov	%edx, %ecx
	shr	$DP_O_CALL_SHIFT, %ecx
	or	$DP_O_STREAM_CALL << 27, %ecx
	mov	%ecx, WHAT(%rdi)
	thread
	mov	%eax, WHOSE(%rdi)
	mov	TICKS(MINE), %rax
	mov	%rax, ENTERED(%rdi)
	mov	SAVED_AX(%rsp), %rax
	mov	%rax, VALUE(%rdi)
	clock
	mov	%rax, (%rdi)
	add	$BYTES, %r10
	mov	%r10, (%r9)
exit_timed_committed:
	movslq	dp_arena+DP_O_RSEQ_OFFSET(%rip), %rax
	movq	$0, %fs:DP_RSEQ_CS(%rax)
	movq	$0, (MINE)
	pop	%r10
	pop	%r9
	pop	%r8
	end
	ret
	look_far exit_timed
	look_at_ret exit_timed
exit_timed_other:
	pop	%r10
	pop	%r9
	pop	%r8
	other
	sign
	abort_exit exit_timed, %r8

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
