/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* arch_defs: numbers of x86-64 that the engine is compiled with; macros only. */
#ifndef DP_ARCH_DEFS_H
#define DP_ARCH_DEFS_H

/* Longest instruction of x86-64 (Intel SDM vol. 2, 2.3.11). */
#define DP_INSN_MAX 15

/* int3, of one byte, which also stands first where other bytes are being written; bytes by
 * which the pc of its trap is behind its address (Intel SDM 3, 6.15); nop, of one byte;
 * bytes of the instruction that enters the kernel */
#define DP_BREAKPOINT 0xcc
#define DP_BREAKPOINT_BEHIND 1
#define DP_NOP 0x90
#define DP_SYSCALL_SIZE 2

/* Bytes of "jmp rel32", and how far it leads from its end, in either direction */
#define DP_JUMP_SIZE 5
#define DP_JUMP_REACH (1ull << 31)

/* Bytes that dp_detour_entry_stub() writes at most */
#define DP_ENTRY_STUB 16

/* How far above the stack pointer with which the agent lets a thread go on, by
 * @follow of struct dp_detour_spec, the thread's own is. */
#define DP_TRACKED_DEPTH 144

/*
 * What a tracked call returns to, one for each struct dp_frame:
 *
 *	lea 152(%rsp), %rsp; call *frame.cont(%rip); push $number
 *	jmp dp_return_entry
 *
 * The first instruction is for a detour that goes on there. It has left the stack so
 * that the call puts its address where the return address was.
 */
#define DP_STUB_SIZE 32
#define DP_STUB_BACK 14 /* what the call of a stub returns to */

/* Argument @n of a system call: one of the registers @r, in either structure of them */
#define DP_X86_ARG(r, n)       \
	((n) == 0 ? (r)->rdi : \
	 (n) == 1 ? (r)->rsi : \
	 (n) == 2 ? (r)->rdx : \
	 (n) == 3 ? (r)->r10 : \
	 (n) == 4 ? (r)->r8 :  \
		    (r)->r9)

#endif
