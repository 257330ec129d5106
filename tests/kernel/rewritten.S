/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rewritten: instructions that the kernel writes, or to which branches come that are nowhere in the text. */
#include <linux/linkage.h>
#include <asm/alternative.h>
#include <asm/nospec-branch.h>

	.text

/* Where a jump could be, but for the third instruction; *rdi is one more */
SYM_FUNC_START(dptest_locked)
	nop
	nop
	LOCK_PREFIX
	incl	(%rdi)
	RET
SYM_FUNC_END(dptest_locked)

/* edi: 0: eax becomes 3; 1: 2, by an indirect jump to behind the first inc */
SYM_FUNC_START(dptest_indirect)
	xor	%eax, %eax
	lea	.Lbehind(%rip), %rdx
	test	%edi, %edi
	jz	.Lsite
	JMP_NOSPEC rdx
.Lsite:
	inc	%eax
.Lbehind:
	inc	%eax
	inc	%eax
	RET
SYM_FUNC_END(dptest_indirect)

/* Return: 1. Indirect branches may come to the middle of it. */
SYM_FUNC_START(dptest_landed)
	xor	%eax, %eax
	nop
	.byte	0xf3, 0x0f, 0x1e, 0xfa	/* endbr64 */
	inc	%eax
	RET
SYM_FUNC_END(dptest_landed)

/* Return: edi + 7. The kernel's own probes do not take a thunk for a return. */
SYM_FUNC_START(dptest_near)
	nop
	lea	1(%rdi), %eax
	add	$2, %eax
	add	$4, %eax
	ret
SYM_FUNC_END(dptest_near)
