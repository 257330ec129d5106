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

	.text

/* dp_vectors_save(area, what, x87); what: DP_SAVE_ALL_*, or an enum dp_insn_state below
 * DP_STATE_ALL */
	.globl	dp_vectors_save
	.hidden	dp_vectors_save
	.balign 16
dp_vectors_save:
	mov	%esi, %eax
	and	$7, %eax
	cmp	$4, %eax
	jb	2f
	je	1f
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovdqa64	%zmm\n, 64*\n(%rdi)
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	%k\n, MASKS+8*\n(%rdi)
	.endr
	vzeroupper
	jmp	3f
1:	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqa	%ymm\n, 32*\n(%rdi)
	.endr
	vzeroupper
	jmp	3f
2:	.irp	n, 0, 1, 2, 3
	movdqa	%xmm\n, 16*\n(%rdi)
	.endr
	test	$ALL_XMM, %esi
	jz	7f
	.irp	n, 4, 5, 6, 7
	movdqa	%xmm\n, 16*\n(%rdi)
	.endr
	test	$XMM16, %esi
	jz	7f
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	movdqa	%xmm\n, 16*\n(%rdi)
	.endr
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
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	MASKS+8*\n(%rdi), %k\n
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovdqa64	64*\n(%rdi), %zmm\n
	.endr
	ret
1:	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqa	32*\n(%rdi), %ymm\n
	.endr
	ret
2:	.irp	n, 0, 1, 2, 3
	movdqa	16*\n(%rdi), %xmm\n
	.endr
	test	$ALL_XMM, %esi
	jz	7f
	.irp	n, 4, 5, 6, 7
	movdqa	16*\n(%rdi), %xmm\n
	.endr
	test	$XMM16, %esi
	jz	7f
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	movdqa	16*\n(%rdi), %xmm\n
	.endr
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

	.section .note.GNU-stack, "", @progbits
