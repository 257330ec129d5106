/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * victims: functions whose instruction boundaries and registers are known.
 *
 * NAME_at is the address of the instruction that is probed, NAME_next that of the
 * one behind it: pointers, so that no symbol stands in the middle of a function.
 */

/* In a kernel its tool looks at the whole module before the returns of C code are made what the processor needs: it
 * gives up at a call whose place is not that of a function, unless it is told. */
#ifdef __KERNEL__
#include <linux/objtool.h>
#else
#define ANNOTATE_INTRA_FUNCTION_CALL
#endif

.macro function name
	.text
	.p2align 4
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
.endm

.macro end name
	.cfi_endproc
	.size	\name, . - \name
.endm

.macro label name
.L\name:
	.pushsection .data.rel.ro, "aw"
	.p2align 3
	.globl	\name
	.type	\name, @object
\name:	.quad	.L\name
	.size	\name, 8
	.popsection
.endm

.macro at name
	label	\name\()_at
.endm

.macro next name
	label	\name\()_next
.endm

/* Five bytes that do nothing: always enough for a jump. */
.macro nop5
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
.endm

/* --- every register --- */

/* v_regs(in, out): in[0..14] are r15 … di as in struct pt_regs, in[15] flags;
 * out likewise as they are behind the probe, and out[16] the stack pointer at it. */
function v_regs
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rsi
	mov	%rsp, 128(%rsi)
	push	120(%rdi)
	popf
	mov	0(%rdi), %r15
	mov	8(%rdi), %r14
	mov	16(%rdi), %r13
	mov	24(%rdi), %r12
	mov	32(%rdi), %rbp
	mov	40(%rdi), %rbx
	mov	48(%rdi), %r11
	mov	56(%rdi), %r10
	mov	64(%rdi), %r9
	mov	72(%rdi), %r8
	mov	80(%rdi), %rax
	mov	88(%rdi), %rcx
	mov	96(%rdi), %rdx
	mov	104(%rdi), %rsi
	mov	112(%rdi), %rdi
at v_regs
	nop5
next v_regs
	push	%rax
	pushf
	mov	16(%rsp), %rax
	mov	%r15, 0(%rax)
	mov	%r14, 8(%rax)
	mov	%r13, 16(%rax)
	mov	%r12, 24(%rax)
	mov	%rbp, 32(%rax)
	mov	%rbx, 40(%rax)
	mov	%r11, 48(%rax)
	mov	%r10, 56(%rax)
	mov	%r9, 64(%rax)
	mov	%r8, 72(%rax)
	mov	%rcx, 88(%rax)
	mov	%rdx, 96(%rax)
	mov	%rsi, 104(%rax)
	mov	%rdi, 112(%rax)
	pop	120(%rax)
	pop	80(%rax)
	pop	%rax
	cld
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
end v_regs

/* --- one instruction each: v_NAME(a, b) --- */

function v_mov
at v_mov
	mov	$7, %eax
next v_mov
	ret
end v_mov

/* v_again(a): a + 1 + 2 + 4. A jump displaces the first two. */
function v_again
at v_again
	lea	1(%rdi), %rax
	lea	2(%rax), %rax
label v_again_last
	lea	4(%rax), %rax
	ret
end v_again

function v_mov_reg
at v_mov_reg
	mov	%rdi, %rax
next v_mov_reg
	add	%rsi, %rax
	ret
end v_mov_reg

/* No word says where its second instruction is, three bytes in, so that a jump may displace both. */
function v_two
at v_two
	mov	%rdi, %rax
	add	%rsi, %rax
	ret
end v_two

/* The same, with a load that may fault first. */
function v_load_two
at v_load_two
	mov	(%rdi), %rax
	add	%rsi, %rax
	ret
end v_load_two

function v_push
at v_push
	push	%rdi
next v_push
	pop	%rax
	ret
end v_push

function v_pop
	push	%rdi
at v_pop
	pop	%rax
next v_pop
	ret
end v_pop

/* Not so when a is 0. */
function v_jcc
	test	%edi, %edi
at v_jcc
	jne	.Lv_jcc_taken
next v_jcc
	mov	$1, %eax
	ret
label v_jcc_taken
	mov	$2, %eax
	ret
end v_jcc

function v_jcc_near
	test	%edi, %edi
at v_jcc_near
	{disp32} jne .Lv_jcc_near_taken
next v_jcc_near
	mov	$1, %eax
	ret
label v_jcc_near_taken
	mov	$2, %eax
	ret
end v_jcc_near

function v_jmp
at v_jmp
	jmp	.Lv_jmp_taken
next v_jmp
	ud2
label v_jmp_taken
	mov	$3, %eax
	ret
end v_jmp

function v_call
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
at v_call
	call	v_callee
next v_call
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end v_call

function v_callee
	lea	4(%rdi), %rax
	ret
end v_callee

function v_ret
	mov	$5, %eax
	ANNOTATE_INTRA_FUNCTION_CALL
	call	1f
next v_ret
	ret
1:	nop
at v_ret
	ret
end v_ret

function v_ret_imm
	mov	$6, %eax
	push	%rdi
	ANNOTATE_INTRA_FUNCTION_CALL
	call	1f
next v_ret_imm
	ret
1:	nop
at v_ret_imm
	ret	$8
end v_ret_imm

/* Taken when a is not 1. */
function v_loop
	mov	%rdi, %rcx
	xor	%eax, %eax
at v_loop
	loop	.Lv_loop_taken
next v_loop
	mov	$1, %eax
	ret
label v_loop_taken
	mov	$2, %eax
	ret
end v_loop

/* Taken when a is 0. */
function v_jrcxz
	mov	%rdi, %rcx
at v_jrcxz
	jrcxz	.Lv_jrcxz_taken
next v_jrcxz
	mov	$1, %eax
	ret
label v_jrcxz_taken
	mov	$2, %eax
	ret
end v_jrcxz

function v_jmp_ind
	lea	.Lv_jmp_ind_taken(%rip), %rax
at v_jmp_ind
	jmp	*%rax
next v_jmp_ind
	ud2
label v_jmp_ind_taken
	mov	$8, %eax
	ret
end v_jmp_ind

function v_jmp_mem
at v_jmp_mem
	jmp	*v_jmp_mem_to(%rip)
next v_jmp_mem
	ud2
label v_jmp_mem_taken
	mov	$9, %eax
	ret
end v_jmp_mem

function v_call_ind
	sub	$8, %rsp
	lea	v_callee(%rip), %rax
at v_call_ind
	call	*%rax
next v_call_ind
	add	$8, %rsp
	ret
end v_call_ind

/* Its target lies on the stack that the call itself pushes to. */
function v_call_mem
	lea	v_callee(%rip), %rax
	push	%rax
at v_call_mem
	call	*(%rsp)
next v_call_mem
	add	$8, %rsp
	ret
end v_call_mem

/* getpid() */
function v_syscall
	mov	$39, %eax
at v_syscall
	syscall
next v_syscall
	mov	%rcx, v_syscall_rcx(%rip)
	ret
end v_syscall

function v_lea_rip
at v_lea_rip
	lea	v_data(%rip), %rax
next v_lea_rip
	ret
end v_lea_rip

function v_mov_rip
at v_mov_rip
	mov	v_data(%rip), %eax
next v_mov_rip
	ret
end v_mov_rip

/* v_rep(to, from): eight bytes; one instruction, whatever it repeats */
function v_rep
	mov	$8, %ecx
at v_rep
	rep movsb
next v_rep
	mov	%rcx, %rax
	ret
end v_rep

function v_pushf
	xor	%eax, %eax
	stc
at v_pushf
	pushf
next v_pushf
	pop	%rax
	ret
end v_pushf

function v_popf
	push	%rdi
at v_popf
	popf
next v_popf
	pushf
	pop	%rax
	ret
end v_popf

function v_cmpxchg
	xor	%eax, %eax
	push	$0
at v_cmpxchg
	lock cmpxchg %rdi, (%rsp)
next v_cmpxchg
	pop	%rax
	ret
end v_cmpxchg

function v_sse
	movq	%rdi, %xmm0
at v_sse
	paddq	%xmm0, %xmm0
next v_sse
	movq	%xmm0, %rax
	ret
end v_sse

function v_endbr
at v_endbr
	endbr64
next v_endbr
	lea	1(%rdi), %rax
	ret
end v_endbr

/* --- shapes that make a jump difficult --- */

/* A backward branch into what a jump at the first instruction covers. */
function v_into
at v_into
	xor	%eax, %eax
label v_into_loop
	add	$1, %eax
	dec	%edi
	jne	.Lv_into_loop
	ret
end v_into

/* A function of three bytes, and its neighbour right behind it. */
function v_tiny
	xor	%eax, %eax
	ret
end v_tiny
	.globl	v_tiny2
	.type	v_tiny2, @function
v_tiny2:
	.cfi_startproc
	mov	$22, %eax
	ret
end v_tiny2

function v_ret_only
	ret
end v_ret_only

/* An indirect jump, which a table of labels feeds: v_switch(0..2). */
function v_switch
	xor	%eax, %eax
	lea	v_switch_table(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rcx
	add	%rdx, %rcx
	jmp	*%rcx
.Lv_switch_0:
	inc	%eax
.Lv_switch_1:
	inc	%eax
.Lv_switch_2:
	inc	%eax
	ret
end v_switch

/* Twelve instructions of one or two bytes; each is v_chain_N. v_chain(a) is
 * a + 6. */
function v_chain
label v_chain_0
	push	%rdi
label v_chain_1
	push	%rbx
label v_chain_2
	xor	%ebx, %ebx
label v_chain_3
	inc	%ebx
label v_chain_4
	inc	%ebx
label v_chain_5
	add	%ebx, %ebx
label v_chain_6
	inc	%ebx
label v_chain_7
	inc	%ebx
label v_chain_8
	xchg	%rax, %rbx
label v_chain_9
	pop	%rbx
label v_chain_10
	pop	%rdi
label v_chain_11
	add	%edi, %eax
	ret
end v_chain

/* --- faults --- */

/* v_load(pointer) */
function v_load
at v_load
	{disp32} mov 0(%rdi), %rax
next v_load
	add	$1, %rax
	ret
end v_load

/* v_load_short(pointer): too short for a jump of its own */
function v_load_short
at v_load_short
	mov	(%rdi), %rax
next v_load_short
	add	$1, %rax
	ret
end v_load_short

/* v_div(a, b) */
function v_div
	mov	%rdi, %rax
	xor	%edx, %edx
at v_div
	div	%rsi
next v_div
	add	$1, %rax
	ret
end v_div

function v_ud2
	mov	$8, %eax
at v_ud2
	ud2
next v_ud2
	add	$1, %rax
	ret
end v_ud2

/* For handlers: loads of their own whose place is known. */
function v_bad_load
at v_bad_load
	mov	(%rdi), %rax
next v_bad_load
	ret
end v_bad_load

/* --- machine state --- */

/* v_xmm(in, out): 16 registers of 16 bytes */
function v_xmm
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movdqu	16 * \n(%rdi), %xmm\n
	.endr
at v_xmm
	nop5
next v_xmm
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movdqu	%xmm\n, 16 * \n(%rsi)
	.endr
	ret
end v_xmm

/* v_ymm(in, out): 16 registers of 32 bytes */
function v_ymm
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	32 * \n(%rdi), %ymm\n
	.endr
at v_ymm
	nop5
next v_ymm
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	%ymm\n, 32 * \n(%rsi)
	.endr
	vzeroupper
	ret
end v_ymm

.macro zmm_all op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	\n
	.endr
.endm
.macro zmm_load n
	vmovdqu64 64 * \n(%rdi), %zmm\n
.endm
.macro zmm_store n
	vmovdqu64 %zmm\n, 64 * \n(%rsi)
.endm
.macro zmm_ones n
	vpternlogd $255, %zmm\n, %zmm\n, %zmm\n
.endm

/* v_zmm(in, out): 32 registers of 64 bytes, then k0 to k7 */
function v_zmm
	zmm_all	zmm_load
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	2048 + 8 * \n(%rdi), %k\n
	.endr
at v_zmm
	nop5
next v_zmm
	zmm_all	zmm_store
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	%k\n, 2048 + 8 * \n(%rsi)
	.endr
	vzeroupper
	ret
end v_zmm

/* What a handler does to them: all ones. */
function clobber_xmm
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	pcmpeqd	%xmm\n, %xmm\n
	.endr
	ret
end clobber_xmm

function clobber_ymm
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vpcmpeqd %ymm\n, %ymm\n, %ymm\n
	.endr
	ret
end clobber_ymm

function clobber_zmm
	zmm_all	zmm_ones
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kxnorq	%k\n, %k\n, %k\n
	.endr
	ret
end clobber_zmm

/* v_x87(control word, out): pushes 1 … 8, so that the stack is full; out[0..7]
 * are what comes back, out[8] the control word, out[9] the tag word at the probe. */
function v_x87
	sub	$40, %rsp
	fninit
	mov	%di, (%rsp)
	fldcw	(%rsp)
	fld1
	.rept	7
	fld1
	fadd	%st(1), %st
	.endr
at v_x87
	nop5
next v_x87
	fnstcw	(%rsp)
	movzwl	(%rsp), %eax
	mov	%rax, 64(%rsi)
	fnstenv	(%rsp)
	movzwl	8(%rsp), %eax
	mov	%rax, 72(%rsi)
	.irp	n, 7, 6, 5, 4, 3, 2, 1, 0
	fstpl	8 * \n(%rsi)
	.endr
	fninit
	add	$40, %rsp
	ret
end v_x87

/* v_redzone(seed): how many of the 16 words under the stack pointer differ from
 * what was stored there */
function v_redzone
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
	mov	%rdi, -8 * \n(%rsp)
	inc	%rdi
	.endr
	sub	$16, %rdi
	xor	%eax, %eax
	xor	%ecx, %ecx
at v_redzone
	nop5
next v_redzone
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
	cmp	%rdi, -8 * \n(%rsp)
	setne	%cl
	add	%ecx, %eax
	inc	%rdi
	.endr
	ret
end v_redzone

/* The flags behind a probe that is hit with DF set. */
function v_df
	std
at v_df
	nop5
next v_df
	pushf
	pop	%rax
	cld
	ret
end v_df

/* v_on_stack(function, argument, stack): calls it with this stack pointer, which
 * need not be aligned */
function v_on_stack
	push	%rbp
	mov	%rsp, %rbp
	mov	%rdx, %rsp
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	*%rax
	mov	%rbp, %rsp
	pop	%rbp
	ret
end v_on_stack

/* Calls v_returns(a), and knows where that returns to. */
function v_caller
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	v_returns
label v_caller_back
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end v_caller

function v_returns
	endbr64
	lea	100(%rdi), %rax
	ret
end v_returns

/* Never called: what redirected threads come to. */
function v_elsewhere
	mov	$77, %eax
	ret
end v_elsewhere

	.section .rodata
	.p2align 3
v_switch_table:
	.long	.Lv_switch_0 - v_switch_table
	.long	.Lv_switch_1 - v_switch_table
	.long	.Lv_switch_2 - v_switch_table
	.p2align 3
	.globl	v_data
v_data:
	.quad	0x11223344

	.data
	.p2align 3
	.globl	v_syscall_rcx
v_syscall_rcx:
	.quad	0
v_jmp_mem_to:
	.quad	.Lv_jmp_mem_taken

	.section .note.GNU-stack, "", @progbits
