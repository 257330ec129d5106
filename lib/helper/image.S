/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* image: the helper's program, as data in the library. */
	.section .rodata
	.globl	dp_helper_start, dp_helper_end
	.hidden	dp_helper_start, dp_helper_end
	.balign 16
dp_helper_start:
	.incbin DP_HELPER_FILE
dp_helper_end:
	.section .note.GNU-stack, "", @progbits
