/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pairs: the usual call that is tracked by a stub, where its handlers are followed.
 *
 *	detour ─► save few ─► count ─► take the instance, with its stub ─► entry handler
 *	       ─► the stub's frame is in the list, the instance has a call ─► stub
 *	stub ───► save few ─► the instance has its stub ─► handler ─► no call, free ─► caller
 *
 * It does what dp_return_quick_*() do, in the same order, and leaves all else to them: nothing has been
 * done then, and what is not saved yet is. Handlers touch DP_TOUCHES_FEW only, so the rest of their
 * struct pt_regs is not filled in. DF, AC and ID stay as they are.
 *
 * A thread reserves the instances that its calls have had, so it takes them again without a locked
 * instruction, until another thread needs one: see instance.c.
 *
 * Stores are what it costs: a processor completes one in a cycle. So what is mostly there already is
 * compared, and @instance of the thread's struct dp_stack still says at the end of an entry what has
 * been in hand: a call that waits for its return is none that has to be recovered.
 */
#include "arch/x86/arch_defs.h"
#include "arch/x86/offsets.h"

#define DP_USER_CS 0x33
#define DP_USER_SS 0x2b
#define DP_RED_ZONE 128
#define FLAGS DP_O_REGS_ORIG_AX /* of lahf and seto */

	.text

	/* struct dp_regs, of which there are the registers that are used here */
	.macro	save_few
	lea	-DP_O_REGS_SIZE(%rsp), %rsp
	mov	%rdi, 112(%rsp)
	mov	%rsi, 104(%rsp)
	mov	%rdx, 96(%rsp)
	mov	%rcx, 88(%rsp)
	mov	%rax, 80(%rsp)
	mov	%r8, 72(%rsp)
	.endm

	.macro	load_few
	mov	112(%rsp), %rdi
	mov	104(%rsp), %rsi
	mov	96(%rsp), %rdx
	mov	88(%rsp), %rcx
	mov	80(%rsp), %rax
	mov	72(%rsp), %r8
	lea	DP_O_REGS_SIZE(%rsp), %rsp
	.endm

	.macro	save_flags
	lahf
	seto	%al
	mov	%rax, FLAGS(%rsp)
	.endm

	.macro	load_flags
	mov	FLAGS(%rsp), %rax
	add	$0x7f, %al		/* OF */
	sahf
	.endm

	/* The others; flags are the program's. */
	.macro	save_rest
	pushfq
	pop	DP_O_REGS_FLAGS(%rsp)
	mov	%r9, 64(%rsp)
	mov	%r10, 56(%rsp)
	mov	%r11, 48(%rsp)
	mov	%rbx, 40(%rsp)
	mov	%rbp, 32(%rsp)
	mov	%r12, 24(%rsp)
	mov	%r13, 16(%rsp)
	mov	%r14, 8(%rsp)
	mov	%r15, (%rsp)
	movq	$-1, DP_O_REGS_ORIG_AX(%rsp)
	movq	$DP_USER_CS, DP_O_REGS_IP+8(%rsp)
	movq	$DP_USER_SS, DP_O_REGS_SP+8(%rsp)
	.endm

	/* rax is the thread's struct dp_stack, or 0, and rcx the program's stack pointer. If no handler
	 * runs, and both stacks are others than the alternate one, then go to that stack; rsi is the frame. The
	 * order is that of entry.S. */
	.macro	switch slow
	test	%rax, %rax
	jz	\slow
	cmpl	$0, dp_wipe(%rip)
	je	\slow
	cmpl	$0, dp_arena+DP_O_VM_CHILDREN(%rip)
	jne	\slow
	cmpl	$0, DP_O_STACK_BUSY(%rax)
	jne	\slow
	mov	%rcx, %rsi
	sub	%rax, %rsi
	cmp	$-DP_STACK_BYTES, %rsi
	jae	\slow
	mov	%rcx, %rsi
	sub	DP_O_STACK_ALT_SP(%rax), %rsi
	cmp	DP_O_STACK_ALT_SIZE(%rax), %rsi
	jb	\slow
	mov	%rsp, %rsi
	mov	%rax, %rsp
	movl	$DP_O_BUSY_PAIR, DP_O_STACK_BUSY(%rsp)
	mov	%rcx, DP_O_STACK_SP(%rsp)
	mov	%rsi, DP_O_STACK_REGS(%rsp)
	.endm

	.macro	switch_back
	movl	$0, DP_O_STACK_BUSY(%rsp)
	mov	%rsi, %rsp
	.endm

	/* The handler at rax, which touches more than is saved, or reads ip or sp: ip is \ip. */
	.macro	call_for_more ip
	mov	\ip, DP_O_REGS_IP(%rsi)
	mov	%rcx, DP_O_REGS_SP(%rsi)
	mov	%r9, 64(%rsi)
	mov	%r10, 56(%rsi)
	mov	%r11, 48(%rsi)
	call	*%rax
	mov	DP_O_STACK_REGS(%rsp), %rsi
	mov	64(%rsi), %r9
	mov	56(%rsi), %r10
	mov	48(%rsi), %r11
	.endm

	.globl	dp_pair_entry, dp_pair_start, dp_pair_counted, dp_pair_abort
	.hidden	dp_pair_entry, dp_pair_start, dp_pair_counted, dp_pair_abort
	.balign 64
dp_pair_entry:
	save_few
	save_flags
	mov	DP_O_NUMBER(%rsp), %edx
	movslq	dp_arena+DP_O_RSEQ_OFFSET(%rip), %rsi
	movslq	dp_arena+DP_O_SELF_OFFSET(%rip), %rdi
	and	$DP_O_CALLOUT_INDEX, %edx
	lea	dp_table(%rip), %r8
8:	lea	dp_arena+DP_O_PAIR_SEQUENCE(%rip), %rax
	mov	%rax, %fs:DP_RSEQ_CS(%rsi)
dp_pair_start:
	movzwl	%fs:DP_RSEQ_CPU_ID(%rsi), %eax
	mov	(%r8,%rax,8), %rcx
	test	%rcx, %rcx
	jz	9f
	incq	(%rcx,%rdx,8)
dp_pair_counted:
	movq	$0, %fs:DP_RSEQ_CS(%rsi)
	mov	%fs:(%rdi), %rax
	lea	DP_O_FRAME_SIZE+8+DP_RED_ZONE(%rsp), %rcx
	switch	5f
	/* where an instance may be: rdi; the pool: rdx */
	mov	%edx, %edi
	shl	$DP_O_SITE_SHIFT, %rdx
	and	$DP_O_HINTS_MASK, %edi
	mov	DP_O_STACK_TURNS(%rsp,%rdi,4), %edi
	mov	dp_arena+DP_O_SITE_OFF(%rip), %eax
	lea	dp_arena(%rip), %r8
	add	%rax, %rdx
	mov	DP_O_SITE_FAST(%r8,%rdx), %rdx
	test	%rdx, %rdx
	jz	4f
	cmpb	$DP_O_KIND_RETURN, DP_O_PROBE_KIND(%rdx)
	jne	4f
	mov	DP_O_PROBE_POOL(%rdx), %rdx
	cmpb	$DP_O_QUICK_FOLLOWED, DP_O_POOL_QUICK(%rdx)
	jb	4f
	/* Is the caller no stub, and are all calls of the thread farther up? */
	mov	dp_arena+DP_O_FRAMES(%rip), %rax
	mov	(%rcx), %r8
	sub	DP_O_FRAMES_STUBS(%rax), %r8
	mov	DP_O_FRAMES_NR(%rax), %rax
	shl	$5, %rax		/* DP_STUB_SIZE */
	cmp	%rax, %r8
	jb	4f
	mov	DP_O_STACK_FRAMES(%rsp), %rax
	test	%rax, %rax
	jz	1f
	cmp	%rcx, DP_O_STUB_SLOT(%rax)
	jbe	4f
	/* the instance: rdi */
1:	cmp	DP_O_POOL_NR(%rdx), %edi
	jae	first
	mov	DP_O_POOL_STRIDE(%rdx), %eax
	imul	%rax, %rdi
	add	DP_O_POOL_FIRST(%rdx), %rdi
	mov	DP_O_STACK_TID(%rsp), %r8d
	or	$DP_O_INSTANCE_RESERVED, %r8d
	cmp	%r8d, DP_O_INSTANCE_USED(%rdi)
	jne	6f
	cmpl	$0, DP_O_INSTANCE_HELD(%rdi)
	jne	6f
	/* It is reserved: no other thread takes it, unless @shared says so. */
reserved:
	mov	%rdi, DP_O_STACK_INSTANCE(%rsp)
	movl	$1, DP_O_INSTANCE_HELD(%rdi)
	cmpl	$0, DP_O_POOL_SHARED(%rdx)
	jne	2f
	/* its stub's frame: r8 */
taken:	mov	DP_O_INSTANCE_FRAME(%rdi), %r8
	test	%r8, %r8
	jz	1f
	cmpl	$DP_O_STUB_BOUND, DP_O_STUB_STATE(%r8)
	jne	1f
	cmp	%rdi, DP_O_STUB_INSTANCES(%r8)
	jne	1f
	mov	DP_O_STACK_TASK(%rsp), %rax
	test	%rax, %rax
	jnz	asked
	/* Something is still to be found. */
1:	mov	DP_O_STACK_TID(%rsp), %eax
	cmp	%eax, DP_O_INSTANCE_USED(%rdi)
	jne	2f
	movl	$0, DP_O_INSTANCE_USED(%rdi)
2:	movl	$0, DP_O_INSTANCE_HELD(%rdi)
3:	movq	$0, DP_O_STACK_INSTANCE(%rsp)
	jmp	4f
asked:	cmp	%rax, DP_O_INSTANCE_TASK(%rdi)
	je	1f
	mov	%rax, DP_O_INSTANCE_TASK(%rdi)
1:	mov	(%rcx), %rax
	mov	%rax, DP_O_INSTANCE_RET(%rdi)
	mov	DP_O_POOL_DATA_SIZE(%rdx), %eax
	add	$7, %eax
	and	$-8, %eax
	jz	1f
0:	movq	$0, DP_O_INSTANCE_SIZE-8(%rdi,%rax)
	sub	$8, %eax
	jnz	0b
1:	incq	DP_O_STACK_HITS(%rsp)
	mov	DP_O_POOL_ENTRY(%rdx), %rax
	test	%rax, %rax
	jz	1f
	cmpb	$DP_O_QUICK_FOLLOWED, DP_O_POOL_QUICK(%rdx)
	jne	7f
	call	*%rax
entered:
	mov	DP_O_STACK_INSTANCE(%rsp), %rdi
	mov	DP_O_STACK_REGS(%rsp), %rsi
	mov	DP_O_STACK_SP(%rsp), %rcx
	mov	DP_O_INSTANCE_FRAME(%rdi), %r8
1:	mov	(%rcx), %rdx
	mov	DP_O_STACK_FRAMES(%rsp), %rax
	mov	%rdx, DP_O_STUB_RET(%r8)
	mov	%rcx, DP_O_STUB_SLOT(%r8)
	mov	%rax, DP_O_STUB_NEXT(%r8)
	cmp	%rsp, DP_O_STUB_STACK(%r8)
	je	1f
	mov	%rsp, DP_O_STUB_STACK(%r8)
	/* From the detour to the stub, and from there to the instruction behind what the detour goes on
	 * with otherwise */
1:	mov	DP_O_REGS_SIZE(%rsi), %rdx
	add	$DP_TRACKED_JUMP+DP_TRACKED_TAIL, %rdx
	cmp	%rdx, DP_O_STUB_CONT(%r8)
	je	1f
	mov	%rdx, DP_O_STUB_CONT(%r8)
1:	movl	$DP_O_STUB_LIVE, DP_O_STUB_STATE(%r8)
	mov	%r8, DP_O_STACK_FRAMES(%rsp)
	incq	DP_O_INSTANCE_CALLS(%rdi)
	mov	dp_arena+DP_O_FRAMES(%rip), %rdx
	mov	%r8, %rax
	sub	DP_O_FRAMES_TABLE(%rdx), %rax
	shr	$1, %rax		/* a frame is as large as two stubs */
	add	DP_O_FRAMES_STUBS(%rdx), %rax
	lea	DP_STUB_BACK(%rax), %rdi
	mov	%rax, DP_O_FRAME_SIZE(%rsi)
	mov	%rdi, (%rcx)
	switch_back
	load_flags
	load_few
	ret
4:	switch_back
5:	mov	DP_O_REGS_SIZE(%rsp), %rax
	add	$DP_TRACKED_JUMP, %rax
	mov	%rax, DP_O_FRAME_SIZE(%rsp)
	load_flags
	save_rest
	jmp	dp_tracked_saved
	/* Another probe was there. */
first:	mov	DP_O_NUMBER(%rsi), %eax
	and	$DP_O_HINTS_MASK, %eax
	movl	$0, DP_O_STACK_TURNS(%rsp,%rax,4)
	mov	DP_O_POOL_FIRST(%rdx), %rdi
	/* The first from there on, once around, that is free, or reserved; the next call looks there first. */
again:	mov	DP_O_STACK_TID(%rsp), %r8d
	or	$DP_O_INSTANCE_RESERVED, %r8d
6:	mov	DP_O_INSTANCE_USED(%rdi), %eax
	test	%eax, %eax
	jz	1f
	cmp	%r8d, %eax
	jne	0f
	cmpl	$0, DP_O_INSTANCE_HELD(%rdi)
	je	1f
0:	mov	DP_O_INSTANCE_INDEX(%rdi), %eax
	mov	DP_O_POOL_STRIDE(%rdx), %r8d
	inc	%eax
	add	%r8, %rdi
	cmp	DP_O_POOL_NR(%rdx), %eax
	jb	0f
	xor	%eax, %eax
	mov	DP_O_POOL_FIRST(%rdx), %rdi
0:	mov	DP_O_NUMBER(%rsi), %r8d
	and	$DP_O_HINTS_MASK, %r8d
	cmp	%eax, DP_O_STACK_TURNS(%rsp,%r8,4)
	jne	again
	jmp	4b
1:	mov	DP_O_NUMBER(%rsi), %eax
	mov	DP_O_INSTANCE_INDEX(%rdi), %r8d
	and	$DP_O_HINTS_MASK, %eax
	mov	%r8d, DP_O_STACK_TURNS(%rsp,%rax,4)
	cmpl	$0, DP_O_INSTANCE_USED(%rdi)
	jne	reserved
	mov	%rdi, DP_O_STACK_INSTANCE(%rsp)
	mov	DP_O_STACK_TID(%rsp), %r8d
	xor	%eax, %eax
	lock cmpxchg	%r8d, DP_O_INSTANCE_USED(%rdi)
	je	taken
	jmp	3b
7:	mov	DP_O_NUMBER(%rsi), %edx
	mov	dp_arena+DP_O_SITE_OFF(%rip), %r8d
	and	$DP_O_CALLOUT_INDEX, %edx
	shl	$DP_O_SITE_SHIFT, %rdx
	add	%r8, %rdx
	lea	dp_arena(%rip), %r8
	mov	DP_O_SITE_ADDR(%r8,%rdx), %rdx
	inc	%rdx
	call_for_more	%rdx
	jmp	entered
	.byte	0x0f, 0xb9, 0x3d	/* ud1: the signature is its operand */
	.long	DP_RSEQ_SIGNATURE
dp_pair_abort:
	jmp	8b
9:	movq	$0, %fs:DP_RSEQ_CS(%rsi)
	orl	$DP_O_CALLOUT_UNCOUNTED, DP_O_NUMBER(%rsp)
	jmp	5b

/* A tracked call has returned to a stub: see entry.S. */
	.globl	dp_return_entry
	.hidden	dp_return_entry
	.balign 64
dp_return_entry:
	save_few
	movslq	dp_arena+DP_O_SELF_OFFSET(%rip), %rax
	mov	DP_O_REGS_SIZE(%rsp), %edx
	mov	%fs:(%rax), %rax
	lea	DP_O_REGS_SIZE+8(%rsp), %rcx
	switch	5f
	/* its frame: r8; its only instance: rdi */
	mov	dp_arena+DP_O_FRAMES(%rip), %rdi
	shl	$6, %rdx		/* of 64 bytes */
	mov	DP_O_STACK_FRAMES(%rsp), %r8
	add	DP_O_FRAMES_TABLE(%rdi), %rdx
	cmp	%rdx, %r8
	jne	4f
	cmpl	$DP_O_STUB_LIVE, DP_O_STUB_STATE(%r8)
	jne	4f
	mov	DP_O_STUB_INSTANCES(%r8), %rdi
	test	%rdi, %rdi
	jz	4f
	cmpq	$0, DP_O_INSTANCE_NEXT(%rdi)
	jne	4f
	mov	DP_O_INSTANCE_POOL(%rdi), %rdx
	cmpb	$DP_O_QUICK_FOLLOWED, DP_O_POOL_QUICK(%rdx)
	jb	4f
	cmpl	$DP_O_ENDS_RETURNED, DP_O_INSTANCE_ENDING(%rdi)
	je	1f
	movl	$DP_O_ENDS_RETURNED, DP_O_INSTANCE_ENDING(%rdi)
1:	mov	%rdi, DP_O_STACK_INSTANCE(%rsp)
	movl	$DP_O_STUB_BOUND, DP_O_STUB_STATE(%r8)
	mov	DP_O_STUB_NEXT(%r8), %rax
	mov	DP_O_INSTANCE_RET(%rdi), %r8
	mov	%rax, DP_O_STACK_FRAMES(%rsp)
	mov	%r8, DP_O_REGS_SIZE(%rsi)
	mov	DP_O_POOL_HANDLER(%rdx), %rax
	test	%rax, %rax
	jz	1f
	cmpb	$DP_O_QUICK_FOLLOWED, DP_O_POOL_QUICK(%rdx)
	jne	7f
	call	*%rax
0:	mov	DP_O_STACK_INSTANCE(%rsp), %rdi
	mov	DP_O_STACK_REGS(%rsp), %rsi
	mov	DP_O_INSTANCE_POOL(%rdi), %rdx
1:	incq	DP_O_INSTANCE_CALLS(%rdi)
	mov	DP_O_STACK_TID(%rsp), %eax
	or	$DP_O_INSTANCE_RESERVED, %eax
	cmpl	$0, DP_O_POOL_SHARED(%rdx)
	jne	6f
	cmp	%eax, DP_O_INSTANCE_USED(%rdi)
	jne	6f
1:	movl	$0, DP_O_INSTANCE_HELD(%rdi)
	movq	$0, DP_O_STACK_INSTANCE(%rsp)
	switch_back
	load_few
	ret
4:	switch_back
5:	save_rest
	jmp	dp_return_saved
	/* It is reserved from now on, or free if they are shared. */
6:	cmpl	$0, DP_O_POOL_SHARED(%rdx)
	je	2f
	xor	%eax, %eax
2:	mov	%eax, DP_O_INSTANCE_USED(%rdi)
	jmp	1b
7:	call_for_more	%r8
	jmp	0b

	.section .note.GNU-stack, "", @progbits
