/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* entry: where the kernel and our patches enter the hit half. */

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

	.section .note.GNU-stack, "", @progbits
