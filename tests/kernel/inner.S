/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inner: a function whose first five bytes are two instructions. Behind them is one byte, and another function: the second
 * has no room for a jump of its own.
 */
#include <linux/linkage.h>

	.text

/* Return: edi + 1 */
SYM_FUNC_START(dptest_inner)
	xor	%eax, %eax
	lea	1(%rdi), %eax
	ret
SYM_FUNC_END(dptest_inner)

SYM_FUNC_START_NOALIGN(dptest_behind)
	xor	%eax, %eax
	ret
SYM_FUNC_END(dptest_behind)
