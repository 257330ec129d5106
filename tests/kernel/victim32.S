/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program of 32 bits: takes 500 steps, of which each is to give 1 more than edi has; ends with 4, or the step that
 * has given something else */
	.globl _start
_start:
	mov	$500, %ebx
	mov	$text, %esi
	jmp	1f
	.ascii	"dp_step:"
1:	lea	1(%edi), %eax
	cmp	$6, %eax
	jne	2f
	dec	%ebx
	jnz	1b
	mov	$4, %ebx
2:	mov	$1, %eax		/* exit */
	int	$0x80
text:	.long	0x12345678
	.section .note.GNU-stack, "", @progbits
