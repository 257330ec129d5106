/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* placed: a function, the same by way of two jumps, and what calls them, at eight places. */
	.macro	begin name
	.balign 128, 0xcc
	.if	place
	.skip	8 * place, 0xcc
	.endif
	.type	\name, @function
\name:
	.endm

	.section .data.rel.ro, "aw"
	.globl	bench_placed
	.balign 8
bench_placed:
	.text
	.set	place, 0
	.macro	one
	begin	push\@
	push	%rbp
	mov	%rsp, %rbp
	pop	%rbp
	ret
	.size	push\@, . - push\@
	begin	jumps\@
	.byte	0xe9
	.long	1f - . - 4
2:	ret
	.size	jumps\@, . - jumps\@
	.skip	4096, 0xcc
	.balign 32
1:	push	%rbp
	mov	%rsp, %rbp
	pop	%rbp
	jmp	2b
	/* calls(f, n): f(2), n times */
	begin	calls\@
	push	%rbx
	push	%r12
	push	%r13
	mov	%rdi, %rbx
	mov	%rsi, %r12
1:	mov	$2, %edi
	call	*%rbx
	dec	%r12
	jnz	1b
	pop	%r13
	pop	%r12
	pop	%rbx
	ret
	.size	calls\@, . - calls\@
	.pushsection .data.rel.ro, "aw"
	.quad	push\@, jumps\@, calls\@
	.popsection
	.set	place, place + 1
	.endm
	.rept	8
	one
	.endr
	.section .note.GNU-stack, "", @progbits
