/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entry: where detours of a kernel's text enter the hit half.
 *
 * Nothing is ever read from below the stack pointer: an interrupt writes there. So this is not
 * arch/x86/entry.S, whose threads have a red zone.
 */
#include <linux/linkage.h>
#include <asm/percpu.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>
#include "arch/x86/offsets.h"
#include "port/kernel/compat.h"
#include "port/kernel/returned.h"

	.text

/* The lower part of struct pt_regs */
.macro SAVE_GENERAL
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
.endm

/* What an interrupt pushes, with 0 for ip and sp: until they are there, unwinders fail */
.macro PUSH_PLACE
	push	$__KERNEL_DS
	push	$0			/* sp */
	pushfq
	push	$__KERNEL_CS
	push	$0			/* ip */
.endm

/* Flags, and then no flag is changed; up to orig_ax */
.macro LOAD_GENERAL
	mov	DP_O_REGS_FLAGS(%rsp), %ecx
	test	$0x40400, %ecx		/* AC, DF */
	jnz	.Lall\@
	mov	%ecx, %eax
	shr	$11, %eax
	and	$1, %eax
	add	$0x7f, %al		/* OF */
	mov	%cl, %ah
	sahf				/* SF ZF AF PF CF */
	jmp	.Lpop\@
.Lall\@:
	pushq	DP_O_REGS_FLAGS(%rsp)
	popfq
.Lpop\@:
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
	pop	%rax
	pop	%rcx
	pop	%rdx
	pop	%rsi
	pop	%rdi
.endm

/* What the thread may have open to user memory is closed for the handler. */
.macro CLOSE_USER
	cld
	testl	$0x40000, DP_O_REGS_FLAGS(%rsp)	/* AC */
	jz	.Lclosed\@
	clac
.Lclosed\@:
.endm

/* Arithmetic flags, below rax and rcx, and back */
.macro SAVE_FEW
	push	%rcx
	push	%rax
	lahf
	seto	%al
	push	%rax
.endm

.macro LOAD_FEW
	pop	%rax
	add	$0x7f, %al		/* OF */
	sahf
	pop	%rax
	pop	%rcx
.endm

/*
 * \count if all that a hit of the site does is to count. Then rax is the site's index. Where the CPU is in a hit, preemption
 * is off, so this one is within that, and the rest tells it apart.
 */
.macro ASK_SITE count
	cmpb	$0, PER_CPU_VAR(dp_kernel_cpu)
	jne	.Lasked\@
	mov	4*8(%rsp), %eax		/* the number */
	test	$~(DP_O_CALLOUT_INDEX | DP_O_CALLOUT_INNER | DP_O_CALLOUT_UNCOUNTED), %eax
	jnz	.Lasked\@
	and	$DP_O_CALLOUT_INDEX, %eax
	mov	%eax, %ecx
	shl	$DP_O_SITE_SHIFT, %rcx
	add	dp_kernel_sites(%rip), %rcx
	mov	DP_O_SITE_COUNTS(%rcx), %ecx
	and	$0xffffff, %ecx		/* counts, calls, runs */
	cmp	$1, %ecx
	je	\count
.Lasked\@:
.endm

/*
 * A call-out; one of a site whose hits do more than count begins at dp_kernel_call_entry. The stack has, from the top, the return address into the detour, the number, and what
 * the detour has skipped. struct dp_call_frame is built there. The thread goes on in the detour, or,
 * if dp_kernel_detour() says so, where the frame's ip and sp are.
 */
SYM_CODE_START(dp_kernel_entry)
	UNWIND_HINT_FUNC
	ANNOTATE_NOENDBR		/* called by calls that are no indirect ones */
	SAVE_FEW
	ASK_SITE 4f
	LOAD_FEW
SYM_INNER_LABEL(dp_kernel_call_entry, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	PUSH_PLACE
	SAVE_GENERAL
	CLOSE_USER
	/* Where unwinders go on, whatever a handler does to its registers: struct dp_kernel_place. */
	lea	-5*8(%rsp), %rsp
	movq	$__KERNEL_CS, 1*8(%rsp)
	UNWIND_HINT_IRET_REGS
	mov	%rsp, %rdi
	call	dp_kernel_detour
	lea	5*8(%rsp), %rsp
	UNWIND_HINT_REGS
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
3:	LOAD_GENERAL
	DP_UNWIND_END
	mov	4*8(%rsp), %rsp		/* sp, behind orig_ax, ip, cs and flags */
	RET
	/* The thread may change its CPU here, so the counter is locked, as the others of its shard are. */
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=4*8 type=UNWIND_HINT_TYPE_CALL
4:	mov	PER_CPU_VAR(dp_kernel_counters), %rcx
	lock incq (%rcx,%rax,8)
	LOAD_FEW
	RET
SYM_CODE_END(dp_kernel_entry)

/*
 * A stub: a function with a return probe has returned to it. It puts its own address where its
 * return address was, which nothing has overwritten yet. Unwinders look at the byte before it, too.
 */
SYM_CODE_START(dp_kernel_stubs)
	DP_UNWIND_LOST
	.balign DP_KERNEL_STUB_BYTES, 0x90
	.fill	DP_KERNEL_STUB_BYTES, 1, 0x90
SYM_INNER_LABEL(dp_kernel_stubs_begin, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR		/* returned to */
	.rept	DP_KERNEL_STUBS
	call	returned
	.balign	DP_KERNEL_STUB_BYTES, 0xcc
	.endr
SYM_CODE_END(dp_kernel_stubs)

/* struct dp_kernel_returned is built on the stack. */
SYM_CODE_START_LOCAL(returned)
	DP_UNWIND_LOST
	PUSH_PLACE
	SAVE_GENERAL
	CLOSE_USER
	UNWIND_HINT_REGS
	mov	%rsp, %rdi
	call	dp_kernel_return
	LOAD_GENERAL
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=7*8 type=UNWIND_HINT_TYPE_CALL
	lea	6*8(%rsp), %rsp		/* behind orig_ax, ip, cs, flags, sp and ss */
	UNWIND_HINT_FUNC
	RET
SYM_CODE_END(returned)
