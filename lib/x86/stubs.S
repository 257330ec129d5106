/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stubs: room for the stubs to which tracked calls return, and its unwind information.
 *
 * The room is part of the module, so that unwinders find it like all code: libgcc through
 * the dynamic linker's tables, debuggers in the file. lib/frames.c maps pages over it.
 */
#define STUBS 0x800000		/* DP_STUB_BYTES */
#define FRAMES 0x1000000	/* 64 bytes a stub */

	.bss
	.balign 4096
	.globl	dp_stub_room
	.hidden	dp_stub_room
	.type	dp_stub_room, @function
	.size	dp_stub_room, STUBS
/*
 * The caller's stack pointer is the present one, because the return has popped the stub's
 * address; a thread that has pushed the number (at 19) is below. One that comes from the detour
 * (at 0) is far below the slot. The true return address is the first word of the stub's struct dp_frame. With
 *
 *	page = pc & ~0xfff	frames = page + *(u64 *)page
 *
 * that is at frames + (pc & 0xfff) / 32 * 64. The expression gives the place of the return
 * address, not its value, because some unwinders write to it.
 */
	.cfi_startproc simple
	.cfi_personality 0x1b, dp_frame_personality
	.cfi_escape 0x0f, 22 /* DW_CFA_def_cfa_expression */
	.cfi_escape 0x77, 0, 0x80, 0, 0x4f, 0x1a, 0x12 /* breg7; breg16; lit31; and; dup */
	.cfi_escape 0x30, 0x29, 0x08, 152, 0x1e /* lit0; eq; const1u 152; mul */
	.cfi_escape 0x16, 0x08, 19, 0x29, 0x38, 0x1e /* swap; const1u 19; eq; lit8; mul */
	.cfi_escape 0x22, 0x22, 0x96, 0x96 /* plus; plus; nop; nop */
	.cfi_escape 0x10, 16, 21 /* DW_CFA_expression, of the return address */
	.cfi_escape 0x80, 0 /* DW_OP_breg16: pc */
	.cfi_escape 0x0a, 0xff, 0x0f, 0x20, 0x1a /* const2u 0xfff; not; and */
	.cfi_escape 0x12, 0x06, 0x22 /* dup; deref; plus */
	.cfi_escape 0x80, 0, 0x0a, 0xff, 0x0f, 0x1a /* breg16; const2u 0xfff; and */
	.cfi_escape 0x35, 0x25, 0x36, 0x24, 0x22 /* lit5; shr; lit6; shl; plus */
dp_stub_room:
	.skip	STUBS
	.cfi_endproc

	.balign 4096
	.globl	dp_frame_room
	.hidden	dp_frame_room
	.type	dp_frame_room, @object
	.size	dp_frame_room, FRAMES
dp_frame_room:
	.skip	FRAMES

	.text
/*
 * An exception passes: rax is its address, rdx the number of the frame. The stack is as
 * after the return of the tracked call.
 */
	.globl	dp_frame_pad
	.hidden	dp_frame_pad
	.type	dp_frame_pad, @function
dp_frame_pad:
	endbr64
	push	%rdx
	jmp	*dp_stub_unwound(%rip)
	.size	dp_frame_pad, .-dp_frame_pad

/*
 * Handlers that may look at the stack are called from here: rax is the handler, rsi its
 * struct pt_regs. To unwinders the probed code has called this function, with these
 * registers. The frame is a signal frame, because the handler's stack is another one. The
 * ip that a pre_handler gets is the address behind the breakpoint, so one is subtracted
 * for the instruction's own. A return handler gets the address behind a call.
 */
	/* of register \number, in struct pt_regs */
	.macro	register_at number, offset
	.if	\offset < 64
	.cfi_escape 0x10, \number, 2, 0x73, \offset /* expression: breg3 (rbx) */
	.else
	.cfi_escape 0x10, \number, 3, 0x73, \offset % 128 + 128, \offset / 128
	.endif
	.endm

	.macro	handler_frame name, less
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x73, 152 % 128 + 128, 152 / 128, 0x06 /* CFA: sp */
	.cfi_escape 0x10, 16, 2, 0x77, 0 /* return address: at rsp */
	register_at 0, 80
	register_at 1, 96
	register_at 2, 88
	register_at 3, 40
	register_at 4, 104
	register_at 5, 112
	register_at 6, 32
	register_at 8, 72
	register_at 9, 64
	register_at 10, 56
	register_at 11, 48
	register_at 12, 24
	register_at 13, 16
	register_at 14, 8
	register_at 15, 0
	push	%rbx
	sub	$8, %rsp
	mov	128(%rsi), %rcx
	sub	$\less, %rcx
	push	%rcx
	mov	%rsi, %rbx
	call	*%rax
	add	$16, %rsp
	pop	%rbx
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

	handler_frame dp_handler_before, 1
	handler_frame dp_handler_after, 0

	.section .note.GNU-stack, "", @progbits
