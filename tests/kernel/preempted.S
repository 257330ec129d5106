/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* preempted: five bytes in which a thread is nearly all the time, behind the first of them. */
#include <linux/linkage.h>
#include <asm/linkage.h>

	.text

/* rdi: where, rsi: bytes, which become 0x5a */
SYM_FUNC_START(dptest_fill)
	mov	%rsi, %rcx
	mov	$0x5a, %eax
SYM_INNER_LABEL(dptest_fill_site, SYM_L_GLOBAL)
	nop
	rep stosb
	nop
	nop
	RET
SYM_FUNC_END(dptest_fill)
