/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* entry: where detours and stubs enter the hit half. */
#include "arch/x86/arch_defs.h"
#include "arch/x86/cfi.inc"
#include "arch/x86/flags.inc"
#include "arch/x86/offsets.h"

#define DP_STATE_ALL_ 3 /* enum dp_insn_state */
#define DP_USER_CS 0x33
#define DP_USER_SS 0x2b
#define DP_RED_ZONE 128

	.text

/*
 * A call-out of a detour. The stack has, from the top, the return address into the detour,
 * the number, and the red zone. struct dp_call_frame is built there; the agent may change
 * any register in it. Its ip, cs, flags, sp and ss are laid out for iretq, for the rare
 * thread that goes on elsewhere.
 */
	.macro	save_gprs
	put	%rdi
	put	%rsi
	put	%rdx
	put	%rcx
	put	%rax
	put	%r8
	put	%r9
	put	%r10
	put	%r11
	put	%rbx
	put	%rbp
	put	%r12
	put	%r13
	put	%r14
	put	%r15
	.endm

	/* struct dp_regs; sp and ip are filled in later: a store less is time. */
	.macro	save_regs
	put	$DP_USER_SS
	up	-8		/* sp */
	put_flags
	put	$DP_USER_CS
	up	-8		/* ip */
	put	$-1			/* orig_ax */
	save_gprs
	.endm

	/* All general registers except rax and rcx. */
	.macro	load_gprs
	get	%r15
	get	%r14
	get	%r13
	get	%r12
	get	%rbp
	get	%rbx
	get	%r11
	get	%r10
	get	%r9
	get	%r8
	up	16
	get	%rdx
	get	%rsi
	get	%rdi
	.endm

	/* After load_gprs: flags, rax and rcx; then return to the detour. */
	.macro	go_back
	load_flags 3*8, 77f
	mov	-5*8(%rsp), %rax
	mov	-4*8(%rsp), %rcx
	up	6*8
	ret
	deep	7*8
77:	mov	-5*8(%rsp), %rax
	mov	-4*8(%rsp), %rcx
	up	3*8
	get_flags
	up	16
	ret
	.endm

/*
 * A single pre_handler, without other work, is called from here; dp_hit_detour() does the
 * rest. @busy is set and cleared on the handlers' stack only, and a hit on that stack is
 * inside a handler. So a thread that finds @busy set on the program's stack has left a
 * handler for good. @busy is set before the handler is looked up: unregistering waits for it.
 * r14 is the program's stack pointer, as the handler finds it.
 */
#define SELF %rax
#define SITE %rdx
#define SP %rcx
	/* Switch to the thread's struct dp_stack, or go to \slow. Then rbx is the frame and
	 * r12 that stack. */
	.macro	go_fast slow, busy
	test	SELF, SELF
	jz	\slow
	cmpl	$0, dp_wipe(%rip)
	je	\slow
	cmpl	$0, dp_arena+DP_O_VM_CHILDREN(%rip)
	jne	\slow
	cmpb	$0, DP_O_STACK_BUSY(SELF)
	jne	\slow
	mov	SP, %rsi
	sub	SELF, %rsi		/* on our own stack? */
	cmp	$-DP_STACK_BYTES, %rsi
	jae	\slow
	mov	SP, %rsi
	sub	DP_O_STACK_ALT_SP(SELF), %rsi
	cmp	DP_O_STACK_ALT_SIZE(SELF), %rsi
	jb	\slow
	mov	%rsp, %rbx
	mov	SELF, %r12
	mov	SELF, %rsp
	addq	$\busy, DP_O_STACK_BUSY(%r12)
	mov	%rbx, DP_O_STACK_REGS(%r12)
	.endm

	/* What runs there has ended, whatever it was; changes rcx. */
	.macro	rest
	mov	DP_O_STACK_BUSY(%r12), %rcx
	mov	$-1, %cl
	inc	%rcx
	mov	%rcx, DP_O_STACK_BUSY(%r12)
	.endm

	/* From the number in edx. */
	.macro	find_site
	shl	$DP_O_SITE_SHIFT, SITE
	add	dp_arena+DP_O_PAIR_SITES(%rip), SITE
	.endm

/*
 * A call-out of a detour that has not counted. All registers are saved, so counting takes any:
 * a restartable sequence, whose descriptor is in the arena. A thread that it cannot count, as
 * one of a fork child, goes the way of those that are told to the agent.
 */
	.globl	dp_handler_entry, dp_handler_start, dp_handler_counted, dp_handler_abort
	.hidden	dp_handler_entry, dp_handler_start, dp_handler_counted, dp_handler_abort
	.balign 64
dp_handler_entry:
	called
	save_regs
	unknown
	mov	DP_O_NUMBER(%rsp), %edx
	movslq	dp_arena+DP_O_RSEQ_OFFSET(%rip), %rsi
	movslq	dp_arena+DP_O_SELF_OFFSET(%rip), %rdi
	lea	dp_table(%rip), %r8
8:	lea	dp_arena+DP_O_HANDLER_SEQUENCE(%rip), %rax
	mov	%rax, %fs:DP_RSEQ_CS(%rsi)
dp_handler_start:
	movzwl	%fs:DP_RSEQ_CPU_ID(%rsi), %eax
	mov	(%r8,%rax,8), %rcx
	test	%rcx, %rcx
	jz	9f
	incq	(%rcx,%rdx,8)
dp_handler_counted:
	movq	$0, %fs:DP_RSEQ_CS(%rsi)
	mov	%fs:(%rdi), SELF
0:	find_site
	lea	DP_O_FRAME_SIZE+DP_RED_ZONE(%rsp), SP
	mov	SP, DP_O_REGS_SP(%rsp)
	testl	$0x400, DP_O_REGS_FLAGS(%rsp)
	jnz	4f
1:	go_fast	5f, DP_O_BUSY_FAST
	mov	SP, %r14
	mov	DP_O_SITE_FAST(SITE), %rdi
	test	%rdi, %rdi
	jz	6f
	mov	DP_O_SITE_ADDR(SITE), %rsi
	inc	%rsi
	mov	%rsi, DP_O_REGS_IP(%rbx)
	mov	%rbx, %rsi
	cmpb	$0, DP_O_PROBE_NEEDS(%rdi)
	jne	7f
	mov	DP_O_PROBE_PRE(%rdi), %rax
	mov	DP_O_PROBE_USER(%rdi), %rdi
	call	*%rax
2:	rest
	mov	%rbx, %rsp
	test	%eax, %eax
	jnz	dp_hit_told
	cmp	DP_O_REGS_SP(%rsp), %r14
	jne	dp_hit_resume
	known
	deep	DP_O_FRAME_SIZE-8
3:	load_gprs
	go_back
	unknown
4:	cld
	jmp	1b
6:	rest
	mov	%rbx, %rsp
	known
	deep	DP_O_FRAME_SIZE-8
5:	mov	%rsp, %rdi
	cld
	call	dp_hit_detour
	test	%eax, %eax
	jz	3b
	jmp	dp_load_here
	unknown
	/* A handler that may use anything. */
7:	mov	%rdi, %r13
	movslq	dp_arena+DP_O_ERRNO_OFFSET(%rip), %rcx
	mov	%fs:(%rcx), %r15d
	lea	DP_O_STACK_VECTORS(%r12), %rdi
	movzbl	DP_O_PROBE_NEEDS(%r13), %esi
	movzbl	DP_O_SITE_X87(SITE), %edx
	cmp	$DP_STATE_ALL_, %esi
	jne	1f
	mov	dp_arena+DP_O_VECTORS(%rip), %esi
1:	push	%rsi
	push	%rdx
	call	dp_vectors_save
	mov	DP_O_PROBE_PRE(%r13), %rax
	mov	DP_O_PROBE_USER(%r13), %rdi
	mov	%rbx, %rsi
	call	*dp_arena+DP_O_HANDLER_BEFORE(%rip)
	mov	%eax, %r13d
	lea	DP_O_STACK_VECTORS(%r12), %rdi
	pop	%rdx
	pop	%rsi
	call	dp_vectors_restore
	movslq	dp_arena+DP_O_ERRNO_OFFSET(%rip), %rcx
	mov	%r15d, %fs:(%rcx)
	mov	%r13d, %eax
	jmp	2b
	/* The thread goes on as its registers say. */
dp_hit_told:
	mov	%rsp, %rdi
	call	dp_detour_told
	jmp	dp_load_here
	/* The thread goes on in the detour, with another stack pointer. */
dp_hit_resume:
	mov	%rsp, %rdi
	call	dp_detour_resume
	jmp	dp_load_here
	.byte	0x0f, 0xb9, 0x3d	/* ud1: the signature is its operand */
	.long	DP_RSEQ_SIGNATURE
dp_handler_abort:
	jmp	8b
9:	movq	$0, %fs:DP_RSEQ_CS(%rsi)
	orl	$DP_O_CALLOUT_UNCOUNTED, DP_O_NUMBER(%rsp)
	jmp	5b
	known
	.cfi_endproc

	.globl	dp_hit_entry
	.hidden	dp_hit_entry
	.balign 64
dp_hit_entry:
	called
	save_regs
	movslq	dp_arena+DP_O_SELF_OFFSET(%rip), SELF
	mov	DP_O_NUMBER(%rsp), %edx
	bt	$30, %edx		/* DP_CALLOUT_UNCOUNTED */
	jc	5b
	test	SELF, SELF		/* 0: as below */
	jz	5b
	mov	%fs:(SELF), SELF
	jmp	0b
	.cfi_endproc

/*
 * A call-out for a tracked call: the number on the stack, and above it the address where
 * the thread goes on.
 */
	.globl	dp_tracked_entry, dp_tracked_saved
	.hidden	dp_tracked_entry, dp_tracked_saved
	.balign 64
dp_tracked_entry:
	called
	save_regs
	unknown
dp_tracked_saved:
	movslq	dp_arena+DP_O_SELF_OFFSET(%rip), SELF
	mov	DP_O_NUMBER(%rsp), %edx
	bt	$30, %edx		/* DP_CALLOUT_UNCOUNTED */
	jc	5b
	and	$DP_O_CALLOUT_INDEX, %edx
	/* 0 in a process that does not probe itself; fs may have no memory there. */
	test	SELF, SELF
	jz	5b
	mov	%fs:(SELF), SELF
	lea	DP_O_FRAME_SIZE+8+DP_RED_ZONE(%rsp), SP
	mov	SP, DP_O_REGS_SP(%rsp)
	testl	$0x400, DP_O_REGS_FLAGS(%rsp)
	jnz	5b
	go_fast	5b, DP_O_BUSY_ENTER
	mov	SP, %r14
	mov	SP, DP_O_STACK_SP(%r12)
	mov	%edx, %r13d
	find_site
	mov	DP_O_SITE_FAST(SITE), %rdi
	test	%rdi, %rdi
	jz	6b
	mov	DP_O_SITE_ADDR(SITE), %rsi
	inc	%rsi
	mov	%rsi, DP_O_REGS_IP(%rbx)
	mov	%rbx, %rsi
	mov	%r12, %rdx
	call	dp_return_quick_enter
	test	%rax, %rax
	jz	6b
	mov	%r13d, DP_O_NUMBER(%rbx)
	mov	%rax, %rdi
	mov	%rbx, %rsi
	xor	%eax, %eax
	test	%rdx, %rdx
	jz	1f
	call	*%rdx
1:	mov	%eax, %edi
	mov	%r12, %rsi
	call	dp_return_quick_begin
	xor	%eax, %eax
	jmp	2b

/* A handler that was called from one of these entries has been given up: rbx is the frame,
 * r12 the thread's struct dp_stack. */
	.globl	dp_call_fast_up
	.hidden	dp_call_fast_up
dp_call_fast_up:
	cld
	xor	%eax, %eax
	lea	DP_O_FRAME_SIZE+8+DP_RED_ZONE(%rbx), %r14
	cmpb	$DP_O_BUSY_ENTER, DP_O_STACK_BUSY(%r12)
	je	1b
	lea	DP_O_FRAME_SIZE+DP_RED_ZONE(%rbx), %r14
	cmpb	$DP_O_BUSY_RETURN, DP_O_STACK_BUSY(%r12)
	je	dp_return_fast_end
	jmp	2b

/* Load all registers from the struct dp_regs at rsp. */
dp_load_here:
	known
	deep	0
	unknown
	load_gprs
	mov	-5*8(%rsp), %rax
	mov	-4*8(%rsp), %rcx
	lea	8(%rsp), %rsp
	iretq
	known
	.cfi_endproc

/*
 * A tracked call has returned to a stub, which has put the number of its frame where the
 * return address was. There is no red zone below: the function has returned, and its caller
 * has made a call. Flags need not survive a return. From pairs.S, where the usual call ends.
 */
	.macro	save_returned
	save_regs
	mov	%rsp, %rdi
	cld
	.endm

	.globl	dp_return_saved
	.hidden	dp_return_saved
	.balign 64
dp_return_saved:
	called
	unknown
	mov	%rsp, %rdi
	cld
	movslq	dp_arena+DP_O_SELF_OFFSET(%rip), SELF
	mov	%fs:(SELF), SELF
	lea	DP_O_REGS_SIZE+8(%rsp), SP
	mov	SP, DP_O_REGS_SP(%rsp)
	go_fast	5f, DP_O_BUSY_RETURN
	mov	%r12, %rsi
	call	dp_return_quick_hit
	test	%rax, %rax
	jz	6f
	test	%rdx, %rdx
	jz	dp_return_fast_end
	mov	%rax, %rdi
	mov	%rbx, %rsi
	call	*%rdx
dp_return_fast_end:
	mov	%r12, %rdi
	call	dp_return_quick_end
	rest
	mov	%rbx, %rsp
1:	load_gprs
	go_back
6:	rest
	mov	%rbx, %rsp
5:	mov	%rsp, %rdi
	call	dp_return_hit
	jmp	1b
	known
	.cfi_endproc

/* An exception passes a tracked call: the stack of dp_return_entry, rax = exception. Goes on
 * unwinding from the function's caller. */
	.globl	dp_unwound_entry
	.hidden	dp_unwound_entry
	.balign 16
dp_unwound_entry:
	called
	unknown
	save_returned
	call	dp_return_unwound
	mov	%rax, DP_O_REGS_ORIG_AX(%rsp)
	load_gprs
	lea	6*8(%rsp), %rsp
	jmp	*DP_O_REGS_ORIG_AX-DP_O_REGS_SIZE(%rsp)
	known
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
