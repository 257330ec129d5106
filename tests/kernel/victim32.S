/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program of 32 bits: adds 1 to 0, 500 times, and ends with 3 if that is not 1. Then it takes 500 steps, of which each is
 * to give 6, 1 more than edi has, which it leaves to a probe; ends with 4, or with how many steps are left if one has
 * given something else. With a path it maps that file as code, and waits.
 */
	.globl _start
_start:
	cmpl	$1, (%esp)
	jg	map
	mov	$500, %edx
4:	xor	%ecx, %ecx
	mov	$3, %ebx
	jmp	3f
	.ascii	"dp_inc:"
3:	inc	%ecx			/* of 64 bits, both would be one that changes nothing */
	nop
	cmp	$1, %ecx
	jne	2f
	dec	%edx
	jnz	4b
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
map:	mov	8(%esp), %ebx
	xor	%ecx, %ecx
	mov	$5, %eax		/* open, to read */
	int	$0x80
	mov	%eax, %edi
	xor	%ebx, %ebx
	mov	$0x400000, %ecx
	mov	$5, %edx		/* to read and execute */
	mov	$2, %esi		/* private */
	xor	%ebp, %ebp
	mov	$192, %eax		/* mmap2 */
	int	$0x80
	mov	$29, %eax		/* pause */
	int	$0x80
text:	.long	0x12345678
	.section .note.GNU-stack, "", @progbits
