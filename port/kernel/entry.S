/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entry: where detours of a kernel's text enter the hit half.
 *
 * Nothing is ever read from below the stack pointer: an interrupt writes there. So this is not
 * arch/x86/entry.S, whose threads have a red zone.
 */
#include <linux/linkage.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>
#include "arch/x86/offsets.h"

	.text

/*
 * A call-out. The stack has, from the top, the return address into the detour, the number, and what
 * the detour has skipped. struct dp_call_frame is built there. The thread goes on in the detour, or,
 * if dp_kernel_detour() says so, where the frame's ip and sp are.
 */
SYM_CODE_START(dp_kernel_entry)
	UNWIND_HINT_FUNC
	push	$__KERNEL_DS
	lea	-8(%rsp), %rsp		/* sp */
	pushfq
	push	$__KERNEL_CS
	lea	-8(%rsp), %rsp		/* ip */
	push	$-1			/* orig_ax */
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
	UNWIND_HINT_REGS
	mov	%rsp, %rdi
	/* What the thread may have open to user memory is closed for the handler. */
	cld
	testl	$0x40000, DP_O_REGS_FLAGS(%rsp)	/* AC */
	jz	1f
	clac
1:	call	dp_kernel_detour
	mov	%eax, %ebx
	test	%ebx, %ebx
	jz	2f
	/* It returns to ip, which stands where sp will be. */
	mov	DP_O_REGS_SP(%rsp), %rax
	mov	DP_O_REGS_IP(%rsp), %rcx
	sub	$8, %rax
	mov	%rcx, (%rax)
	mov	%rax, DP_O_REGS_SP(%rsp)
	jmp	3f
	/* It returns to the detour. */
2:	lea	DP_O_REGS_SIZE(%rsp), %rax
	mov	%rax, DP_O_REGS_SP(%rsp)
3:	mov	DP_O_REGS_FLAGS(%rsp), %ecx
	test	$0x40400, %ecx		/* AC, DF */
	jnz	4f
	mov	%ecx, %eax
	shr	$11, %eax
	and	$1, %eax
	add	$0x7f, %al		/* OF */
	mov	%cl, %ah
	sahf				/* SF ZF AF PF CF */
	jmp	5f
4:	pushq	DP_O_REGS_FLAGS(%rsp)
	popfq
	/* No flag is changed from here on. */
5:	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rax
	pop	%rcx
	pop	%rdx
	pop	%rsi
	pop	%rdi
	UNWIND_HINT_EMPTY
	mov	4*8(%rsp), %rsp		/* sp, behind orig_ax, ip, cs and flags */
	RET
SYM_CODE_END(dp_kernel_entry)
