/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * readers: read a kernel's memory for programs in detours.
 *
 * Each is called with an address in its register, and has what is there instead. No other register is changed.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/percpu.h>
#include <asm/unwind_hints.h>
#include "port/kernel/compat.h"
#include "port/kernel/readers.h"

	.text

/* Within the CPU's hit: see port/kernel/hit.c */
.macro READER reg, move, to
	.balign DP_KERNEL_READER_BYTES, 0xcc
	UNWIND_HINT_FUNC
	ANNOTATE_NOENDBR		/* called by calls that are no indirect ones */
	cmp	dp_kernel_lowest(%rip), %\reg
	jb	none
	cmp	dp_kernel_highest(%rip), %\reg
	ja	none
	DP_PREEMPT_OFF
	incb	PER_CPU_VAR(dp_kernel_cpu)
.Lread\@:
	\move	(%\reg), %\to
	decb	PER_CPU_VAR(dp_kernel_cpu)
	DP_PREEMPT_ON
	jz	due
	RET
	_ASM_EXTABLE(.Lread\@, bad)
.endm

.macro READERS reg, low
	READER \reg, movzbl, \low
	READER \reg, movzwl, \low
	READER \reg, movl, \low
	READER \reg, movq, \reg
.endm

/* In the order of registers that values are in: arch/x86/native/value.c */
SYM_CODE_START(dp_kernel_readers)
	READERS	rax, eax
	READERS	rcx, ecx
	READERS	rdx, edx
	READERS	r11, r11d
	READERS	r10, r10d
	READERS	r9, r9d
	READERS	r8, r8d
	/* There was a fault. */
	UNWIND_HINT_FUNC
bad:	decb	PER_CPU_VAR(dp_kernel_cpu)
	DP_PREEMPT_ON
none:	cmp	%eax, %eax
	RET
	/* Where the kernel preempts, it has not done so because of this. Elsewhere that may be due for long. */
due:	cmpb	$1, dp_kernel_preempts(%rip)
	RET
SYM_CODE_END(dp_kernel_readers)
