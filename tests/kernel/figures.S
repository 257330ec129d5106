/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* figures: functions that are alike, so that what differs is their probes. */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>

	.text

/* Its first instruction is as long as a jump. With a thunk for its return the kernel would make no jump of its probe. */
.macro wide name
	.balign 64
SYM_FUNC_START(\name)
	mov	$1, %eax
	add	%edi, %eax
	ANNOTATE_UNRET_SAFE
	ret
	int3
SYM_FUNC_END(\name)
.endm

/* Too short for one */
.macro short name
	.balign 64
SYM_FUNC_START(\name)
	lea	1(%rdi), %eax
	ANNOTATE_UNRET_SAFE
	ret
	int3
SYM_FUNC_END(\name)
.endm

	wide	dpfigures_plain
	wide	dpfigures_theirs
	wide	dpfigures_ours
	wide	dpfigures_counted
	wide	dpfigures_met
	wide	dpfigures_unmet
	wide	dpfigures_loaded
	wide	dpfigures_their_return
	wide	dpfigures_our_return
	short	dpfigures_short
	short	dpfigures_their_trap
	short	dpfigures_our_trap
