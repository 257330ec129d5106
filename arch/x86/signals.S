/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* signals: entries into port/user/signals, from the kernel and from intercepts. */

#include "arch/x86/cfi.inc"
#include "arch/x86/flags.inc"
#include "arch/x86/offsets.h"

/* getpid, which every filter under which there are intercepts permits */
#define DP_LINGER_NUMBER 39
#define DP_LINGER_CALLS 32

	.text

/*
 * Handler of caught signals: rdi = signal, rsi = siginfo, rdx = ucontext, the restorer's
 * address on top of the stack. Leaves through that restorer or, if dp_hit_trap()
 * returns one, into the program's own handler, with registers and stack as on entry.
 * The frame of a handler that has ended stays below the stack for long, so it is marked.
 */
	.globl	dp_trap_entry
	.hidden	dp_trap_entry
dp_trap_entry:
	called
	put	%rdi
	put	%rsi
	put	%rdx
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	call	dp_hit_trap
	get	%rdx
	get	%rsi
	get	%rdi
	test	%rax, %rax
	jnz	1f
	movl	$0, (%rsi)		/* DP_SIGINFO_ENDED */
	ret
1:	xchg	%rax, %rcx
	xor	%eax, %eax
	jmp	*%rcx
	.cfi_endproc

/*
 * Unwinders know a signal frame by exactly these bytes. A description begins one byte earlier, where
 * they look; it says that rsp, rip and rbp are in the struct dp_ucontext at the stack pointer.
 */
	.globl	dp_trap_restorer
	.hidden	dp_trap_restorer
	.balign 16, 0x90
	.fill	15, 1, 0x90
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0x00
	nop
dp_trap_restorer:
	mov	$15, %rax
	syscall
	.cfi_endproc

/*
 * An intercepted system call: eax = its number; on the stack the address behind the call,
 * above that 128 bytes of red zone. The syscall instruction would leave that address in rcx
 * and the flags in r11, so both are free. struct dp_intercept_regs is built on the stack.
 */
	.globl	dp_intercept_entry
	.hidden	dp_intercept_entry
	.balign 16
dp_intercept_entry:
	called
	.cfi_def_cfa %rsp, 136
	.cfi_offset %rip, -136
	put_flags
	put	%rbp
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
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
	call	dp_intercept_before
	test	%eax, %eax
	jnz	1f
	call	2f
	syscall
	mov	%rax, 56(%rsp)
	mov	%rsp, %rdi
	call	dp_intercept_after
1:	cmpl	$0, dp_private+DP_O_PRIVATE_LEAVING(%rip)
	jne	4f
3:	call	2f
	mov	56(%rsp), %rax
	.cfi_remember_state
	mov	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	get	%rbp
	.cfi_restore %rbp
	mov	(%rsp), %r11
	get_flags
	get	%rcx
	.cfi_register %rip, %rcx
	up	128
	jmp	*%rcx
	.cfi_restore_state
2:	mov	8(%rsp), %rax
	mov	16(%rsp), %rdi
	mov	24(%rsp), %rsi
	mov	32(%rsp), %rdx
	mov	40(%rsp), %r10
	mov	48(%rsp), %r8
	mov	56(%rsp), %r9
	ret
	/*
	 * A thread that makes one intercepted call after the other is nearly always in one.
	 * Here everything is done but registers, and the thread is where it is stopped most
	 * likely: behind a call that does nothing.
	 */
4:	movq	$DP_LINGER_CALLS, (%rsp)
5:	mov	$DP_LINGER_NUMBER, %eax
	syscall
	.globl	dp_intercept_linger
	.hidden	dp_intercept_linger
dp_intercept_linger:
	decq	(%rsp)
	jnz	5b
	jmp	3b
	.cfi_endproc

/*
 * A call-out of the detour of a call that is observed. The stack has, from the top, the return
 * address into the detour, the number, and the red zone. struct dp_observed_frame is built
 * there; the agent may change any register in it.
 */
	.globl	dp_observe_entry
	.hidden	dp_observe_entry
	.balign 16
dp_observe_entry:
	called
	put	$0x33
	movw	$0x2b, 6(%rsp)
	put_flags
	put	%rax			/* rip and rsp: for dp_intercept_detour() */
	put	%rax
	put	%rcx
	put	%rax
	put	%rdx
	put	%rbx
	put	%rbp
	put	%rsi
	put	%rdi
	put	%r15
	put	%r14
	put	%r13
	put	%r12
	put	%r11
	put	%r10
	put	%r9
	put	%r8
	mov	%rsp, %rdi
	testl	$0x400, 17*8(%rsp)
	jnz	2f
1:	call	dp_intercept_detour
	get	%r8
	get	%r9
	get	%r10
	get	%r11
	get	%r12
	get	%r13
	get	%r14
	get	%r15
	get	%rdi
	get	%rsi
	get	%rbp
	get	%rbx
	get	%rdx
	load_flags 4*8, 3f
	mov	(%rsp), %rax
	mov	8(%rsp), %rcx
	up	6*8
	ret
	deep	19*8
2:	cld
	jmp	1b
	deep	7*8
3:	mov	(%rsp), %rax
	mov	8(%rsp), %rcx
	up	4*8
	get_flags
	up	8
	ret
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
