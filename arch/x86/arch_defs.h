/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* arch_defs: numbers of x86-64 that the engine is compiled with; macros only. */
#ifndef DP_ARCH_DEFS_H
#define DP_ARCH_DEFS_H

/* Longest instruction of x86-64 (Intel SDM vol. 2, 2.3.11). */
#define DP_INSN_MAX 15

/* int3, one byte, which also stands first while other bytes are written; bytes by which the
 * pc of its trap is behind its address (Intel SDM 3, 6.15); nop, one byte; bytes of the
 * syscall instruction */
#define DP_BREAKPOINT 0xcc
#define DP_BREAKPOINT_BEHIND 1
#define DP_NOP 0x90
#define DP_SYSCALL_SIZE 2

/* Bytes of "jmp rel32", and the distance that it reaches from its end, up or down */
#define DP_JUMP_SIZE 5
#define DP_JUMP_REACH (1ull << 31)

/* Bytes that dp_detour_entry_stub() writes at most */
#define DP_ENTRY_STUB 16

/* Bytes below the stack pointer that a function may use (psABI, 3.2.2) */
#define DP_RED_ZONE_SIZE 128

/* What stands before code of the agent to which the interruption of a sequence leads (linux/rseq.h) */
#define DP_RSEQ_SIGNATURE 0x53053053

/* A tracked call goes on in its detour with a stack pointer so far below the thread's own:
 * @tracked of struct dp_detour_spec. */
#define DP_TRACKED_DEPTH 144
/* Of a detour that does not count: bytes of the jump behind its call-out, and of the instruction behind
 * that which takes the depth back */
#define DP_TRACKED_JUMP 4
#define DP_TRACKED_TAIL 8

/*
 * A stub, to which a tracked call returns; each struct dp_frame has one:
 *
 *	lea 152(%rsp), %rsp; call *frame.cont(%rip); push $number
 *	jmp dp_return_entry
 *
 * A detour goes on at the first instruction. The stack pointer is so low by then that the
 * call puts its return address where the function's was.
 */
#define DP_STUB_SIZE 32
#define DP_STUB_BACK 14 /* what the call of a stub returns to */

/* Address of argument @n of a system call in the registers @r, of either structure */
#define DP_X86_ARG(r, n)        \
	((n) == 0 ? &(r)->rdi : \
	 (n) == 1 ? &(r)->rsi : \
	 (n) == 2 ? &(r)->rdx : \
	 (n) == 3 ? &(r)->r10 : \
	 (n) == 4 ? &(r)->r8 :  \
		    &(r)->r9)

#endif
