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
 * instruction, until another thread needs one: see instance.c. It notes where the last one of a site is.
 * The instance's pool says whether that is still the site's probe. Who frees a pool has waited for all that
 * have such a note (lib/settle.c).
 *
 * The program's stack pointer is in r9 meanwhile: read from memory behind each handler, it would be what each
 * call waits for. Apart from that, instructions are what it costs, and branches that are taken: so what usually
 * happens falls through, and @instance of the thread's struct dp_stack still says at the end of an entry what has
 * been in hand: a call that waits for its return is none that has to be recovered.
 */
#include "arch/x86/arch_defs.h"
#include "arch/x86/offsets.h"

#define DP_USER_CS 0x33
#define DP_USER_SS 0x2b
#define DP_RED_ZONE 128
#define FLAGS DP_O_REGS_ORIG_AX /* of lahf and seto */
/* From the frame of an entry, and from that of a return, to the program's stack pointer */
#define ENTRY_SP (DP_O_FRAME_SIZE + 8 + DP_RED_ZONE)
#define RETURN_SP (DP_O_REGS_SIZE + 8)

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
	mov	%r9, 64(%rsp)
	.endm

	/* @more: bytes above them that are given up, too */
	.macro	load_few more=0
	mov	112(%rsp), %rdi
	mov	104(%rsp), %rsi
	mov	96(%rsp), %rdx
	mov	88(%rsp), %rcx
	mov	80(%rsp), %rax
	mov	72(%rsp), %r8
	mov	64(%rsp), %r9
	lea	DP_O_REGS_SIZE+\more(%rsp), %rsp
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
	 * runs, and both stacks are others than the alternate one, then go to that stack. rsi is the frame, and so
	 * is r9, which a handler that touches few registers leaves alone. The order is that of entry.S. Where the program's stack is not in the thread's zone it is looked at
	 * closely, at \far. */
	.macro	switch slow, far
	test	%rax, %rax
	jz	\slow
	cmpl	$0, dp_arena+DP_O_VM_CHILDREN(%rip)
	jne	\slow
	cmpb	$0, DP_O_STACK_BUSY(%rax)
	jne	\slow
	mov	%rcx, %rsi
	sub	DP_O_STACK_ZONE(%rax), %rsi
	cmp	DP_O_STACK_ZONE_SIZE(%rax), %rsi
	jae	\far
\far\()_back:
	mov	%rsp, %rsi
	mov	%rsp, %r9
	mov	%rax, %rsp
	addq	$DP_O_BUSY_PAIR, DP_O_STACK_BUSY(%rsp)
	mov	%rsi, DP_O_STACK_REGS(%rsp)
	.endm

	.macro	look_closely slow, far
\far:	mov	%rcx, %rsi
	sub	%rax, %rsi
	cmp	$-DP_STACK_BYTES, %rsi
	jae	\slow
	mov	%rcx, %rsi
	sub	DP_O_STACK_ALT_SP(%rax), %rsi
	cmp	DP_O_STACK_ALT_SIZE(%rax), %rsi
	jae	\far\()_back
	jmp	\slow
	.endm

	/* and back */
	.macro	switch_back
	addq	$DP_O_BUSY_TURN - DP_O_BUSY_PAIR, DP_O_STACK_BUSY(%rsp)
	mov	%r9, %rsp
	.endm

	/* The handler at rax, which touches more than is saved, or reads ip or sp: ip is \ip. */
	.macro	call_for_more ip, sp
	mov	\ip, DP_O_REGS_IP(%rsi)
	lea	\sp(%rsi), %rcx
	mov	%rcx, DP_O_REGS_SP(%rsi)
	mov	%r10, 56(%rsi)
	mov	%r11, 48(%rsi)
	call	*%rax
	mov	DP_O_STACK_REGS(%rsp), %r9
	mov	56(%r9), %r10
	mov	48(%r9), %r11
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
8:	lea	dp_arena+DP_O_PAIR_SEQUENCE(%rip), %rax
	lea	dp_table(%rip), %rcx
	mov	%rax, %fs:DP_RSEQ_CS(%rsi)
dp_pair_start:
	movzwl	%fs:DP_RSEQ_CPU_ID(%rsi), %eax
	mov	(%rcx,%rax,8), %rcx
	test	%rcx, %rcx
	jz	uncounted		/* also in a fork child */
	incq	(%rcx,%rdx,8)
dp_pair_counted:
	movq	$0, %fs:DP_RSEQ_CS(%rsi)
	mov	%fs:(%rdi), %rax
	lea	ENTRY_SP(%rsp), %rcx
	switch	leave, entry_far
	/* the instance of the thread's last call here: rdi; its pool: rdx */
	mov	%edx, %edi
	shl	$DP_O_SITE_SHIFT, %rdx
	and	$DP_O_HINTS_MASK, %edi
	add	dp_arena+DP_O_PAIR_SITES(%rip), %rdx
	mov	DP_O_STACK_TURNS(%rsp,%rdi,8), %rdi
	mov	DP_O_SITE_FAST(%rdx), %rax
	test	%rdi, %rdi
	jz	first
	mov	DP_O_INSTANCE_POOL(%rdi), %rdx
	cmp	%rax, DP_O_POOL_FAST(%rdx)
	jne	first
	/* Is the caller no stub, and are all calls of the thread farther up? */
known:	mov	(%rcx), %r8
	mov	%r8, %rax
	sub	dp_arena+DP_O_PAIR_STUBS(%rip), %rax
	cmp	dp_arena+DP_O_PAIR_STUB_BYTES(%rip), %rax
	jb	back
	mov	DP_O_STACK_FRAMES(%rsp), %rax
	test	%rax, %rax
	jnz	outer
nested:	mov	DP_O_STACK_MINE(%rsp), %rax
	cmp	%rax, DP_O_INSTANCE_USED(%rdi)
	jne	search
	/* It is reserved: no other thread takes it, unless @shared says so. */
	mov	%rdi, DP_O_STACK_INSTANCE(%rsp)
	movl	$1, DP_O_INSTANCE_HELD(%rdi)
	cmpl	$0, DP_O_POOL_SHARED(%rdx)
	jne	shared
taken:	mov	%r8, DP_O_INSTANCE_RET(%rdi)
	movq	$0, DP_O_INSTANCE_SIZE(%rdi)	/* its data, if there is any; there is room */
	mov	DP_O_POOL_QUICK_ENTRY(%rdx), %rax
	test	%rax, %rax
	jz	more
few:	call	*%rax
entered:
	mov	DP_O_STACK_INSTANCE(%rsp), %rdi
	lea	ENTRY_SP(%r9), %rcx
prepared:
	mov	DP_O_INSTANCE_FRAME(%rdi), %rdx
	mov	(%rcx), %rax
	mov	%rax, DP_O_STUB_RET(%rdx)
	mov	DP_O_STACK_FRAMES(%rsp), %rax
	mov	%rcx, DP_O_STUB_SLOT(%rdx)
	mov	%rax, DP_O_STUB_NEXT(%rdx)
	mov	%rsp, DP_O_STUB_STACK(%rdx)
	/* From the detour to the stub, and from there to the instruction behind what the detour goes on
	 * with otherwise */
	mov	DP_O_REGS_SIZE(%r9), %rax
	add	$DP_TRACKED_JUMP+DP_TRACKED_TAIL, %rax
	mov	%rax, DP_O_STUB_CONT(%rdx)
	movl	$DP_O_STUB_LIVE, DP_O_STUB_STATE(%rdx)
	mov	%rdx, DP_O_STACK_FRAMES(%rsp)
	incq	DP_O_INSTANCE_CALLS(%rdi)
	shr	$1, %rdx		/* a frame is as large as two stubs */
	add	dp_arena+DP_O_PAIR_BIAS(%rip), %rdx
	mov	%rdx, DP_O_FRAME_SIZE(%r9)
	add	$DP_STUB_BACK, %rdx
	mov	%rdx, (%rcx)
	switch_back
	load_flags
	load_few 8
	jmp	*8(%rsp)

	look_closely leave, entry_far
	/* There is an outer call: is it farther up? */
outer:	cmp	%rcx, DP_O_STUB_SLOT(%rax)
	ja	nested
	jmp	back
	/* Something is still to be found. */
unbound:
	mov	DP_O_STACK_TID(%rsp), %eax
	cmp	%eax, DP_O_INSTANCE_USED(%rdi)
	jne	shared
	movl	$0, DP_O_INSTANCE_USED(%rdi)
shared:	movl	$0, DP_O_INSTANCE_HELD(%rdi)
lost:	movq	$0, DP_O_STACK_INSTANCE(%rsp)
back:	switch_back
leave:	orl	$DP_O_CALLOUT_TRACKED, DP_O_NUMBER(%rsp)
	mov	DP_O_REGS_SIZE(%rsp), %rax
	add	$DP_TRACKED_JUMP, %rax
	mov	%rax, DP_O_FRAME_SIZE(%rsp)
	load_flags
	save_rest
	jmp	dp_tracked_saved
	/* Another probe was there, or none. */
first:	test	%rax, %rax
	jz	back
	cmpb	$DP_O_KIND_RETURN, DP_O_PROBE_KIND(%rax)
	jne	back
	mov	DP_O_PROBE_POOL(%rax), %rdx
	cmp	%rax, DP_O_POOL_FAST(%rdx)
	jne	back
	mov	DP_O_NUMBER(%rsi), %eax
	and	$DP_O_HINTS_MASK, %eax
	mov	DP_O_POOL_FIRST(%rdx), %rdi
	mov	%rdi, DP_O_STACK_TURNS(%rsp,%rax,8)
	jmp	known
	/* The first from there on, once around, that is free, or reserved; the next call looks there first. The
	 * note where it begins may be erased meanwhile. */
search:	mov	%rdi, %r8
0:	mov	DP_O_STACK_MINE(%rsp), %rax
	cmp	%rax, DP_O_INSTANCE_USED(%rdi)
	je	found
	cmpl	$0, DP_O_INSTANCE_USED(%rdi)
	je	found
	mov	DP_O_INSTANCE_INDEX(%rdi), %eax
	inc	%eax
	cmp	DP_O_POOL_NR(%rdx), %eax
	jae	1f
	mov	DP_O_POOL_STRIDE(%rdx), %eax
	add	%rax, %rdi
	jmp	2f
1:	mov	DP_O_POOL_FIRST(%rdx), %rdi
2:	cmp	%rdi, %r8
	jne	0b
	jmp	back
found:	mov	DP_O_NUMBER(%rsi), %eax
	and	$DP_O_HINTS_MASK, %eax
	mov	%rdi, DP_O_STACK_TURNS(%rsp,%rax,8)
	mov	%rdi, DP_O_STACK_INSTANCE(%rsp)
	cmpl	$0, DP_O_INSTANCE_USED(%rdi)
	je	0f
	movl	$1, DP_O_INSTANCE_HELD(%rdi)
	cmpl	$0, DP_O_POOL_SHARED(%rdx)
	jne	shared
	jmp	1f
0:	mov	DP_O_STACK_TID(%rsp), %ecx
	xor	%eax, %eax
	lock cmpxchg	%ecx, DP_O_INSTANCE_USED(%rdi)
	jne	lost
	lea	ENTRY_SP(%rsi), %rcx
	/* It has this thread's task from now on. */
1:	mov	DP_O_STACK_TASK(%rsp), %rax
	test	%rax, %rax
	jz	unbound
	mov	%rax, DP_O_INSTANCE_TASK(%rdi)
	/* Is a stub's frame bound to it? */
	mov	DP_O_INSTANCE_FRAME(%rdi), %rax
	cmpl	$DP_O_STUB_BOUND, DP_O_STUB_STATE(%rax)
	jne	unbound
	cmp	%rdi, DP_O_STUB_INSTANCES(%rax)
	jne	unbound
	movl	$DP_O_ENDS_RETURNED, DP_O_INSTANCE_ENDING(%rdi)
	mov	(%rcx), %r8
	jmp	taken
	/* There is more data to clear, or the handler touches more. */
more:	cmpb	$DP_O_QUICK_FOLLOWED, DP_O_POOL_QUICK(%rdx)
	je	prepared
	mov	DP_O_POOL_DATA_SIZE(%rdx), %eax
	add	$7, %eax
	and	$-8, %eax
	jz	1f
0:	movq	$0, DP_O_INSTANCE_SIZE-8(%rdi,%rax)
	sub	$8, %eax
	jnz	0b
1:	mov	DP_O_POOL_ENTRY(%rdx), %rax
	test	%rax, %rax
	jz	prepared
	cmpb	$DP_O_QUICK_FOR_MORE, DP_O_POOL_QUICK(%rdx)
	jne	few
	mov	DP_O_NUMBER(%rsi), %edx
	shl	$DP_O_SITE_SHIFT, %rdx
	add	dp_arena+DP_O_PAIR_SITES(%rip), %rdx
	mov	DP_O_SITE_ADDR(%rdx), %rdx
	inc	%rdx
	call_for_more	%rdx, ENTRY_SP
	jmp	entered
	.byte	0x0f, 0xb9, 0x3d	/* ud1: the signature is its operand */
	.long	DP_RSEQ_SIGNATURE
dp_pair_abort:
	jmp	8b
uncounted:
	movq	$0, %fs:DP_RSEQ_CS(%rsi)
	orl	$DP_O_CALLOUT_UNCOUNTED, DP_O_NUMBER(%rsp)
	jmp	leave

	/* The call of the instance at rdi ends, whose frame is at rcx: that is bound. rax is what it was. */
	.macro	end_call
	mov	%rdi, DP_O_STACK_INSTANCE(%rsp)
	movl	$DP_O_STUB_BOUND, DP_O_STUB_STATE(%rcx)
	mov	DP_O_STUB_NEXT(%rcx), %r8
	mov	DP_O_INSTANCE_RET(%rdi), %rcx
	mov	%r8, DP_O_STACK_FRAMES(%rsp)
	mov	%rcx, DP_O_REGS_SIZE(%rsi)
	.endm

/* A tracked call has returned to a stub: see entry.S. */
	.globl	dp_return_entry
	.hidden	dp_return_entry
	.balign 64
dp_return_entry:
	save_few
	movslq	dp_arena+DP_O_SELF_OFFSET(%rip), %rax
	mov	DP_O_REGS_SIZE(%rsp), %edx
	mov	%fs:(%rax), %rax
	lea	RETURN_SP(%rsp), %rcx
	cmpl	$0, dp_wipe(%rip)
	je	give_up
	switch	give_up, return_far
	/* its frame: rcx; its only instance: rdi */
	shl	$6, %rdx		/* of 64 bytes */
	mov	dp_arena+DP_O_PAIR_TABLE(%rip), %rcx
	add	%rdx, %rcx
	cmp	%rcx, DP_O_STACK_FRAMES(%rsp)
	jne	return_back
	cmpl	$DP_O_STUB_LIVE, DP_O_STUB_STATE(%rcx)
	jne	return_back
	mov	DP_O_STUB_INSTANCES(%rcx), %rdi
	test	%rdi, %rdi
	jz	return_back
	cmpq	$0, DP_O_INSTANCE_NEXT(%rdi)
	jne	return_back
	mov	DP_O_INSTANCE_POOL(%rdi), %rdx
	mov	DP_O_POOL_QUICK_HANDLER(%rdx), %rax
	test	%rax, %rax
	jz	0f
	end_call
few_handled:
	call	*%rax
handled:
	mov	DP_O_STACK_INSTANCE(%rsp), %rdi
	mov	DP_O_INSTANCE_POOL(%rdi), %rdx
ended:	incq	DP_O_INSTANCE_CALLS(%rdi)
	mov	DP_O_STACK_MINE(%rsp), %rax
	cmpl	$0, DP_O_POOL_SHARED(%rdx)
	jne	free
	/* It is reserved from now on, and not taken. */
give:	mov	%rax, DP_O_INSTANCE_USED(%rdi)
	movq	$0, DP_O_STACK_INSTANCE(%rsp)
	switch_back
	load_few
	ret

	look_closely give_up, return_far
return_back:
	switch_back
give_up:
	save_rest
	jmp	dp_return_saved
	/* Where instances are shared */
free:	xor	%eax, %eax
	jmp	give
	/* There is no handler any more, or it touches more, or this is for dp_return_saved. */
0:	cmpb	$DP_O_QUICK_FOR_MORE, DP_O_POOL_QUICK(%rdx)
	jb	return_back
	end_call
	mov	DP_O_POOL_HANDLER(%rdx), %rax
	test	%rax, %rax
	jz	ended
	cmpb	$DP_O_QUICK_FOR_MORE, DP_O_POOL_QUICK(%rdx)
	jne	few_handled
	call_for_more	%rcx, RETURN_SP
	jmp	handled

	.section .note.GNU-stack, "", @progbits
