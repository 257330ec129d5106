/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* called: functions of the agent in assembly. */
#include "arch/x86/cfi.inc"
#include "arch/x86/offsets.h"

	.text

/*
 * dp_call_on(arg, function, top): call function(arg) on another stack, which
 * ends at top, and come back to this one.
 */
	.globl	dp_call_on
	.hidden	dp_call_on
	.balign 16
dp_call_on:
	called
	put	%rbp
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	%rdx, %rsp
	call	*%rsi
	mov	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	get	%rbp
	.cfi_restore %rbp
	ret
	.cfi_endproc

/*
 * dp_call_busy(arg, function, stack): dp_call_on() on the thread's struct dp_stack, which is
 * busy as long as it is in use. A signal handler may come between any two instructions, on
 * the alternate stack, and must not use a busy stack. What the function returns becomes the kind in @busy.
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
	mov	DP_O_STACK_BUSY(%rbx), %rax
	mov	$-1, %al
	add	$1+DP_O_BUSY_HANDLER, %rax
	mov	%rax, DP_O_STACK_BUSY(%rbx)
	call	*%rsi
	mov	DP_O_STACK_BUSY(%rbx), %rcx
	mov	%eax, %eax
	mov	$-1, %cl
	lea	1(%rcx,%rax), %rax
	mov	%rax, DP_O_STACK_BUSY(%rbx)
	mov	%rbp, %rsp
	pop	%rbx
	pop	%rbp
	ret

/*
 * dp_wait_home(word, is, timeout, regs): futex(word, FUTEX_WAIT, is, timeout). The tool can
 * stop a thread here and send it home: r8 points to its registers
 * (proc/seccomp/filter_install.c).
 */
	.globl	dp_wait_home
	.hidden	dp_wait_home
	.globl	dp_waits_home
	.hidden	dp_waits_home
	.balign 16
dp_wait_home:
	called
	mov	%rcx, %r8
	mov	%rdx, %r10
	mov	%esi, %edx
	xor	%esi, %esi
	mov	$202, %eax		/* futex */
	syscall
dp_waits_home:
	ret
	.cfi_endproc

/*
 * dp_guard(handler, a, b, c, guard, via): call a handler that can be given up. To that end
 * the thread's stack pointer is set to *guard, and its pc to dp_guard_up.
 */
	.globl	dp_guard
	.hidden	dp_guard
	.balign 16
dp_guard:
	called
	put	%rbp
	.cfi_rel_offset %rbp, 0
	put	%rbx
	put	%r12
	put	%r13
	put	%r14
	put	%r15
	up	-8
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
	up	8
	get	%r15
	get	%r14
	get	%r13
	get	%r12
	get	%rbx
	get	%rbp
	ret
	deep	8*8
	.globl	dp_guard_up
	.hidden	dp_guard_up
dp_guard_up:
	mov	$1, %edx
	jmp	1b
	.cfi_endproc

/* jprobe_return() comes here; dp_trap_returned() knows the address. */
	.globl	dp_jprobe_return
	.hidden	dp_jprobe_return
	.balign 16
dp_jprobe_return:
	int3
	ud2

	.section .note.GNU-stack, "", @progbits
