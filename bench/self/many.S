/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* many: 50,000 functions, each of its own, sixteen bytes apart. */
	.text
	.globl	bench_many
	.balign 16
bench_many:
	.set	n, 0
	.rept	50000
	push	%rbp
	mov	%rsp, %rbp
	mov	$n, %eax
	pop	%rbp
	ret
	.balign 16, 0xcc
	.set	n, n + 1
	.endr
	.globl	bench_many_end
bench_many_end:
	.section .note.GNU-stack, "", @progbits
