/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vectors: save and restore what a handler in C may change besides general registers.
 *
 *   area   0  zmm0 … zmm31, or ymm0 … ymm15, or xmm0 … xmm15
 *       2048  k0 … k7
 *       2112  mxcsr; 2116 x87 control word; 2118 x87 status word
 *       2120  x87 environment, 28 bytes
 *       2160  x87 registers, 108 bytes
 *
 * By plain moves: xsave and xrstor cost ten times as much. A handler begins with the state
 * that a new program has: all exceptions masked, rounding to nearest.
 */
#include "arch/x86/cfi.inc"

#define MASKS 2048
#define MXCSR 2112
#define FCW 2116
#define FSW 2118
#define FENV 2120
#define FREGS 2160
#define FENV_SW 4
/* DP_STATE_XMM8, DP_STATE_XMM16 */
#define XMM16 16
#define ALL_XMM (8 | XMM16)

#define FIRST_8 0, 1, 2, 3, 4, 5, 6, 7
#define LAST_8 8, 9, 10, 11, 12, 13, 14, 15
#define FIRST_16 FIRST_8, LAST_8
#define ALL_32 FIRST_16, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31

	/* Registers of a kind, by their numbers, to and from places of \size bytes. */
	.macro	store insn, kind, size, numbers:vararg
	.irp	n, \numbers
	\insn	%\kind\n, \size*\n(%rdi)
	.endr
	.endm

	.macro	load insn, kind, size, numbers:vararg
	.irp	n, \numbers
	\insn	\size*\n(%rdi), %\kind\n
	.endr
	.endm

	.text

/* dp_vectors_save(area, what, x87); what: DP_SAVE_ALL_*, or an enum dp_insn_state below
 * DP_STATE_ALL */
	.globl	dp_vectors_save
	.hidden	dp_vectors_save
	.balign 16
dp_vectors_save:
	called
	mov	%esi, %eax
	and	$7, %eax
	cmp	$4, %eax
	jb	2f
	je	1f
	store	vmovdqa64, zmm, 64, ALL_32
	store	kmovq, k, MASKS+8, FIRST_8
	vzeroupper
	jmp	3f
1:	store	vmovdqa, ymm, 32, FIRST_16
	vzeroupper
	jmp	3f
2:	store	movdqa, xmm, 16, 0, 1, 2, 3
	test	$ALL_XMM, %esi
	jz	7f
	store	movdqa, xmm, 16, 4, 5, 6, 7
	test	$XMM16, %esi
	jz	7f
	store	movdqa, xmm, 16, LAST_8
7:	cmp	$2, %eax
	ja	3f
	jb	6f
	stmxcsr	MXCSR(%rdi)
	ldmxcsr	mxcsr_default(%rip)
6:	ret
3:	stmxcsr	MXCSR(%rdi)
	ldmxcsr	mxcsr_default(%rip)
	test	%edx, %edx
	jnz	4f
	fnstcw	FCW(%rdi)
	fnstsw	FSW(%rdi)
	cmpw	$0x37f, FCW(%rdi)
	jne	5f
	ret
4:	fnsave	FREGS(%rdi)
	ret
5:	fldcw	fcw_default(%rip)
	ret
	.cfi_endproc

	.balign 4
mxcsr_default:
	.long	0x1f80
fcw_default:
	.word	0x37f

/* dp_vectors_restore(area, what, x87) */
	.globl	dp_vectors_restore
	.hidden	dp_vectors_restore
	.balign 16
dp_vectors_restore:
	called
	mov	%esi, %ecx
	and	$7, %ecx
	cmp	$2, %ecx
	je	6f
	jb	2f
	test	%edx, %edx
	jnz	4f
	cmpw	$0x37f, FCW(%rdi)
	jne	5f
	fnstsw	%ax
	cmp	FSW(%rdi), %ax
	jne	5f
6:	ldmxcsr	MXCSR(%rdi)
	cmp	$4, %ecx
	jb	2f
	je	1f
	load	kmovq, k, MASKS+8, FIRST_8
	load	vmovdqa64, zmm, 64, ALL_32
	ret
1:	load	vmovdqa, ymm, 32, FIRST_16
	ret
2:	load	movdqa, xmm, 16, 0, 1, 2, 3
	test	$ALL_XMM, %esi
	jz	7f
	load	movdqa, xmm, 16, 4, 5, 6, 7
	test	$XMM16, %esi
	jz	7f
	load	movdqa, xmm, 16, LAST_8
7:	ret
4:	frstor	FREGS(%rdi)
	jmp	6b
5:	fnstenv	FENV(%rdi)
	mov	FSW(%rdi), %ax
	mov	%ax, FENV+FENV_SW(%rdi)
	mov	FCW(%rdi), %ax
	mov	%ax, FENV(%rdi)
	fldenv	FENV(%rdi)
	jmp	6b
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
