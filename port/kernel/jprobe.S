/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jprobe: call a function as a probed one is about to be. */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

	.text

/* rdi: registers; rsi: the function; rdx: words; rcx: where to leave the stack pointer */
SYM_FUNC_START(dp_kernel_call_as)
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, (%rcx)
	mov	%rsi, %rbx
	push	7*8(%rdx)
	push	6*8(%rdx)
	push	5*8(%rdx)
	push	4*8(%rdx)
	push	3*8(%rdx)
	push	2*8(%rdx)
	push	1*8(%rdx)
	push	(%rdx)
	mov	%rdi, %r12
	xor	%eax, %eax		/* no vector registers */
	mov	pt_regs_di(%r12), %rdi
	mov	pt_regs_si(%r12), %rsi
	mov	pt_regs_dx(%r12), %rdx
	mov	pt_regs_cx(%r12), %rcx
	mov	pt_regs_r8(%r12), %r8
	mov	pt_regs_r9(%r12), %r9
	CALL_NOSPEC rbx
	add	$8*8, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	RET
SYM_FUNC_END(dp_kernel_call_as)

SYM_CODE_START(dp_kernel_call_end)
	UNWIND_HINT_FUNC
	mov	%rdi, %rsp
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=7*8 type=UNWIND_HINT_TYPE_CALL
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	UNWIND_HINT_FUNC
	RET
SYM_CODE_END(dp_kernel_call_end)
