/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* entry: where the kernel and our patches enter the hit half. */
#include "arch/x86/offsets.h"

#define DP_STATE_ALL_ 3 /* enum dp_insn_state */
#define DP_USER_CS 0x33
#define DP_USER_SS 0x2b
#define DP_RED_ZONE 128

	.text

/*
 * SIGTRAP's handler: rdi = signal, rsi = siginfo, rdx = ucontext, the restorer's
 * address on top of the stack. Leaves through that restorer or, if dp_hit_trap()
 * names one, into the program's own handler with all of these as they were.
 */
	.globl	dp_trap_entry
	.hidden	dp_trap_entry
dp_trap_entry:
	push	%rdi
	push	%rsi
	push	%rdx
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	call	dp_hit_trap
	pop	%rdx
	pop	%rsi
	pop	%rdi
	test	%rax, %rax
	jnz	1f
	ret
1:	xchg	%rax, %rcx
	xor	%eax, %eax
	jmp	*%rcx

/* Unwinders know a signal frame by exactly these bytes. */
	.globl	dp_trap_restorer
	.hidden	dp_trap_restorer
	.balign 16
dp_trap_restorer:
	mov	$15, %rax
	syscall

/*
 * dp_call_on(arg, function, top): call function(arg) on another stack, which
 * ends at top, and come back to this one.
 */
	.globl	dp_call_on
	.hidden	dp_call_on
	.balign 16
dp_call_on:
	push	%rbp
	mov	%rsp, %rbp
	mov	%rdx, %rsp
	call	*%rsi
	mov	%rbp, %rsp
	pop	%rbp
	ret

/*
 * dp_call_busy(arg, function, stack): the same on a thread's own stack, which is
 * busy as long as there is anything on it: a signal's handler may come between any
 * two instructions, on the alternate stack, and is told by that not to use this one.
 * What the function returns is @busy afterwards.
 */
	.globl	dp_call_busy
	.hidden	dp_call_busy
	.balign 16
dp_call_busy:
	push	%rbp
	push	%rbx
	mov	%rsp, %rbp
	mov	%rdx, %rbx
	mov	%rdx, %rsp
	movl	$0, DP_O_STACK_JUMPED(%rbx)
	movl	$DP_O_BUSY_HANDLER, DP_O_STACK_BUSY(%rbx)
	call	*%rsi
	mov	%eax, DP_O_STACK_BUSY(%rbx)
	mov	%rbp, %rsp
	pop	%rbx
	pop	%rbp
	ret

/*
 * A detour tells of its site: the number on the stack, above it the red zone,
 * below it the way back. struct dp_detour_frame is built on the stack. Any
 * register of it may be changed.
 *
 * Flags come back by add and sahf, which cost less than popf; where DF or
 * something rarer is set, by popf.
 */
	.globl	dp_detour_entry
	.hidden	dp_detour_entry
	.balign 16
dp_detour_entry:
	push	$0x33
	movw	$0x2b, 6(%rsp)
	pushfq
	push	%rax			/* rip and rsp: for dp_detour_hit() */
	push	%rax
	push	%rcx
	push	%rax
	push	%rdx
	push	%rbx
	push	%rbp
	push	%rsi
	push	%rdi
	push	%r15
	push	%r14
	push	%r13
	push	%r12
	push	%r11
	push	%r10
	push	%r9
	push	%r8
	mov	%rsp, %rdi
	testl	$0x400, 17*8(%rsp)
	jnz	2f
1:	call	dp_detour_hit
	pop	%r8
	pop	%r9
	pop	%r10
	pop	%r11
	pop	%r12
	pop	%r13
	pop	%r14
	pop	%r15
	pop	%rdi
	pop	%rsi
	pop	%rbp
	pop	%rbx
	pop	%rdx
	mov	4*8(%rsp), %ecx
	test	$0x40400, %ecx		/* AC, DF */
	jnz	3f
	mov	%ecx, %eax
	shr	$11, %eax
	and	$1, %eax
	add	$0x7f, %al		/* OF */
	mov	%cl, %ah
	sahf				/* SF ZF AF PF CF */
	mov	(%rsp), %rax
	mov	8(%rsp), %rcx
	lea	6*8(%rsp), %rsp
	ret
2:	cld
	jmp	1b
3:	mov	(%rsp), %rax
	mov	8(%rsp), %rcx
	lea	4*8(%rsp), %rsp
	popfq
	lea	8(%rsp), %rsp
	ret

/* For the tool's remote calls: one system call, then home by the stack. */
	.globl	dp_remote_syscall
	.hidden	dp_remote_syscall
	.balign 16
dp_remote_syscall:
	syscall
	ret

/*
 * dp_wait_home(word, is, timeout, regs): futex(word, FUTEX_WAIT, is, timeout). Who is
 * stopped here can be sent home: r8 says where its registers are (proc/seccomp/confine.c).
 */
	.globl	dp_wait_home
	.hidden	dp_wait_home
	.globl	dp_waits_home
	.hidden	dp_waits_home
	.balign 16
dp_wait_home:
	mov	%rcx, %r8
	mov	%rdx, %r10
	mov	%esi, %edx
	xor	%esi, %esi
	mov	$202, %eax		/* futex */
	syscall
dp_waits_home:
	ret

/*
 * A hooked system call: eax = its number, the address behind it on the stack,
 * 128 bytes of red zone skipped above that. The instruction itself would have
 * left that address in rcx and the flags in r11, so both are free.
 *
 * struct dp_hook_regs is built on the stack.
 */
	.globl	dp_hook_entry
	.hidden	dp_hook_entry
	.balign 16
dp_hook_entry:
	pushfq
	push	%rbx
	mov	%rsp, %rbx
	sub	$64, %rsp
	and	$-16, %rsp
	mov	%rax, (%rsp)
	mov	%rdi, 8(%rsp)
	mov	%rsi, 16(%rsp)
	mov	%rdx, 24(%rsp)
	mov	%r10, 32(%rsp)
	mov	%r8, 40(%rsp)
	mov	%r9, 48(%rsp)
	cld
	mov	%rsp, %rdi
	call	dp_hook_before
	test	%eax, %eax
	jnz	1f
	call	2f
	syscall
	mov	%rax, 56(%rsp)
	mov	%rsp, %rdi
	call	dp_hook_after
1:	call	2f
	mov	56(%rsp), %rax
	mov	%rbx, %rsp
	pop	%rbx
	mov	(%rsp), %r11
	popfq
	pop	%rcx
	lea	128(%rsp), %rsp
	jmp	*%rcx
2:	mov	8(%rsp), %rax
	mov	16(%rsp), %rdi
	mov	24(%rsp), %rsi
	mov	32(%rsp), %rdx
	mov	40(%rsp), %r10
	mov	48(%rsp), %r8
	mov	56(%rsp), %r9
	ret

/*
 * A detour calls the handlers of its site: the number on the stack, as above.
 * struct dp_call_frame is built on the stack. What it holds of ip, cs, flags, sp
 * and ss is what iretq takes, for the rare thread that goes on elsewhere.
 */
	.macro	save_gprs
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rcx
	push	%rax
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.endm

	/* struct dp_regs; what sp and ip are is not known yet. */
	.macro	save_regs
	push	$DP_USER_SS
	push	%rax			/* sp */
	pushfq
	push	$DP_USER_CS
	push	%rax			/* ip */
	push	$-1			/* orig_ax */
	save_gprs
	.endm

	/* All but rax and rcx. */
	.macro	load_gprs
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	lea	16(%rsp), %rsp
	pop	%rdx
	pop	%rsi
	pop	%rdi
	.endm

	/* Flags, rax and rcx, behind load_gprs; then to the address above them. Flags
	 * by add and sahf where they are usual. */
	.macro	go_back
	mov	3*8(%rsp), %ecx
	test	$0x40400, %ecx		/* AC, DF */
	jnz	77f
	mov	%ecx, %eax
	shr	$11, %eax
	and	$1, %eax
	add	$0x7f, %al		/* OF */
	mov	%cl, %ah
	sahf
	mov	-5*8(%rsp), %rax
	mov	-4*8(%rsp), %rcx
	lea	6*8(%rsp), %rsp
	ret
77:	mov	-5*8(%rsp), %rax
	mov	-4*8(%rsp), %rcx
	lea	3*8(%rsp), %rsp
	popfq
	lea	16(%rsp), %rsp
	ret
	.endm

/*
 * Where there is one pre_handler and nothing else to do, it is called from here;
 * dp_call_detour() does the rest. @busy is set and cleared on the handlers' stack
 * only, where the stack pointer says that a hit is inside a handler; so whoever is
 * on the program's and finds it set has left a handler for good. It is set before
 * it is looked up what to call: who takes that away waits for it.
 */
#define SELF %rax
#define SITE %rdx
#define SP %rcx
	/* To the thread's own stack, if nothing stands in the way: then rbx is the frame
	 * and r12 that stack. */
	.macro	go_fast slow, busy
	test	SELF, SELF
	jz	\slow
	cmpl	$0, dp_wipe(%rip)
	je	\slow
	cmpl	$0, dp_arena+DP_O_SHARERS(%rip)
	jne	\slow
	cmpl	$0, DP_O_STACK_BUSY(SELF)
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
	movl	$\busy, DP_O_STACK_BUSY(%r12)
	mov	SP, DP_O_STACK_SP(%r12)
	mov	%rbx, DP_O_STACK_REGS(%r12)
	.endm

	/* Its number is in edx. */
	.macro	find_site
	imul	$DP_O_SITE_SIZE, SITE
	mov	dp_arena+DP_O_SITE_OFF(%rip), %ecx
	lea	dp_arena(%rip), %rsi
	add	%rcx, SITE
	add	%rsi, SITE
	.endm

	.globl	dp_call_entry
	.hidden	dp_call_entry
	.balign 64
dp_call_entry:
	save_regs
	movslq	dp_arena+DP_O_SELF_OFFSET(%rip), SELF
	mov	DP_O_NUMBER(%rsp), %edx
	bt	$30, %edx		/* DP_TELL_UNCOUNTED */
	jc	5f
	mov	%fs:(SELF), SELF
	find_site
	lea	DP_O_FRAME_SIZE+DP_RED_ZONE(%rsp), SP
	mov	SP, DP_O_REGS_SP(%rsp)
	testl	$0x400, DP_O_REGS_FLAGS(%rsp)
	jnz	4f
1:	cmpl	$0, dp_arena+DP_O_COUNTS_ALONE(%rip)
	je	5f
	go_fast	5f, DP_O_BUSY_FAST
	mov	DP_O_SITE_FAST(SITE), %rdi
	test	%rdi, %rdi
	jz	6f
	incq	DP_O_STACK_HITS(%r12)
	mov	DP_O_SITE_ADDR(SITE), %rsi
	inc	%rsi
	mov	%rsi, DP_O_REGS_IP(%rbx)
	mov	%rbx, %rsi
	cmpb	$0, DP_O_PROBE_NEEDS(%rdi)
	jne	7f
	mov	DP_O_PROBE_PRE(%rdi), %rax
	mov	DP_O_PROBE_USER(%rdi), %rdi
	call	*%rax
2:	movl	$0, DP_O_STACK_BUSY(%r12)
	mov	%rbx, %rsp
	test	%eax, %eax
	jnz	dp_load_here
	mov	DP_O_REGS_SP(%rsp), %rcx
	cmp	DP_O_STACK_SP(%r12), %rcx
	jne	9f
3:	load_gprs
	go_back
4:	cld
	jmp	1b
6:	movl	$0, DP_O_STACK_BUSY(%r12)
	mov	%rbx, %rsp
5:	mov	%rsp, %rdi
	cld
	call	dp_call_detour
	test	%eax, %eax
	jz	3b
	jmp	dp_load_here
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
	/* It goes on in the detour, with another stack pointer. */
9:	mov	%rsp, %rdi
	call	dp_call_resume
	jmp	dp_load_here

/*
 * The detour of a function that is followed calls: the number on the stack, and
 * above it where it goes on.
 */
	.globl	dp_follow_entry
	.hidden	dp_follow_entry
	.balign 64
dp_follow_entry:
	save_regs
	movslq	dp_arena+DP_O_SELF_OFFSET(%rip), SELF
	mov	DP_O_NUMBER(%rsp), %edx
	bt	$30, %edx		/* DP_TELL_UNCOUNTED */
	jc	5b
	and	$DP_O_TELL_INDEX, %edx
	/* In another's process there is none, nor perhaps anything at fs. */
	test	SELF, SELF
	jz	5b
	mov	%fs:(SELF), SELF
	lea	DP_O_FRAME_SIZE+8+DP_RED_ZONE(%rsp), SP
	mov	SP, DP_O_REGS_SP(%rsp)
	cmpl	$0, dp_arena+DP_O_COUNTS_ALONE(%rip)
	je	5b
	testl	$0x400, DP_O_REGS_FLAGS(%rsp)
	jnz	5b
	go_fast	5b, DP_O_BUSY_ENTER
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
	incq	DP_O_STACK_HITS(%r12)
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

/* A handler called from there has been given up: rbx is its frame, r12 the
 * thread's struct dp_stack. */
	.globl	dp_call_fast_up
	.hidden	dp_call_fast_up
dp_call_fast_up:
	cld
	xor	%eax, %eax
	cmpl	$DP_O_BUSY_ENTER, DP_O_STACK_BUSY(%r12)
	je	1b
	cmpl	$DP_O_BUSY_RETURN, DP_O_STACK_BUSY(%r12)
	je	dp_return_fast_end
	jmp	2b

/* All registers from where rsp points: struct dp_regs. */
dp_load_here:
	load_gprs
	mov	-5*8(%rsp), %rax
	mov	-4*8(%rsp), %rcx
	lea	8(%rsp), %rsp
	iretq

/*
 * dp_guard(handler, a, b, c, guard, via): call a handler so that it can be given up:
 * a thread whose stack pointer is set to *guard goes on at dp_guard_up.
 */
	.globl	dp_guard
	.hidden	dp_guard
	.balign 16
dp_guard:
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$8, %rsp
	mov	%rsp, (%r8)
	mov	%rdi, %rax
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	mov	%rcx, %rdx
	test	%r9, %r9
	cmovz	%rax, %r9
	call	*%r9
	xor	%edx, %edx
1:	cld
	add	$8, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.globl	dp_guard_up
	.hidden	dp_guard_up
dp_guard_up:
	mov	$1, %edx
	jmp	1b

/*
 * A followed call has returned to a stub, which has put the number of its frame
 * where the return address was. The red zone of nobody is below: the function is
 * gone, and its caller has made a call. Of the flags a return preserves nothing.
 */
	.macro	save_returned
	save_regs
	mov	%rsp, %rdi
	cld
	.endm

	.globl	dp_return_entry
	.hidden	dp_return_entry
	.balign 64
dp_return_entry:
	save_returned
	movslq	dp_arena+DP_O_SELF_OFFSET(%rip), SELF
	mov	%fs:(SELF), SELF
	lea	DP_O_REGS_SIZE+8(%rsp), SP
	mov	SP, DP_O_REGS_SP(%rsp)
	go_fast	5f, DP_O_BUSY_RETURN
	mov	%r12, %rsi
	call	dp_return_quick_hit
	test	%rax, %rax
	jz	6f
	incq	DP_O_STACK_HITS(%r12)
	test	%rdx, %rdx
	jz	dp_return_fast_end
	mov	%rax, %rdi
	mov	%rbx, %rsi
	call	*%rdx
dp_return_fast_end:
	mov	%r12, %rdi
	call	dp_return_quick_end
	movl	$0, DP_O_STACK_BUSY(%r12)
	mov	%rbx, %rsp
1:	load_gprs
	go_back
6:	movl	$0, DP_O_STACK_BUSY(%r12)
	mov	%rbx, %rsp
5:	mov	%rsp, %rdi
	call	dp_return_hit
	jmp	1b

/* An exception passes: as above, rax the exception. Goes on with it as the
 * function's caller would. */
	.globl	dp_unwound_entry
	.hidden	dp_unwound_entry
	.balign 16
dp_unwound_entry:
	save_returned
	call	dp_return_unwound
	mov	%rax, DP_O_REGS_ORIG_AX(%rsp)
	load_gprs
	lea	6*8(%rsp), %rsp
	jmp	*DP_O_REGS_ORIG_AX-DP_O_REGS_SIZE(%rsp)

/* jprobe_return() comes here, and dp_hit_trap() knows the place. */
	.globl	dp_jprobe_return
	.hidden	dp_jprobe_return
	.balign 16
dp_jprobe_return:
	int3
	ud2

	.section .note.GNU-stack, "", @progbits
