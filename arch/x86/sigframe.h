/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sigframe: what the x86-64 kernel puts on the stack of a signal handler.
 *
 * Source: Linux arch/x86/include/uapi/asm/{ucontext,sigcontext}.h. A handler
 * is entered with rsp at struct dp_sigframe; rt_sigreturn(2) expects rsp at @uc.
 */
#ifndef DP_SIGFRAME_H
#define DP_SIGFRAME_H

#include "port_types.h"
#include "engine/layout/base.h"

/* uc_flags of a frame whose fpstate has the xsave layout and a valid ss */
#define DP_UC_FP_XSTATE 0x1
#define DP_UC_SIGCONTEXT_SS 0x2
#define DP_UC_STRICT_RESTORE_SS 0x4
#define DP_UC_FLAGS \
	(DP_UC_FP_XSTATE | DP_UC_SIGCONTEXT_SS | DP_UC_STRICT_RESTORE_SS)

/* In such an fpstate: FP_XSTATE_MAGIC1, at this offset */
#define DP_FPSTATE_MAGIC 0x46505853u
#define DP_FPSTATE_MAGIC_AT 464

struct dp_mcontext {
	u64 r8, r9, r10, r11, r12, r13, r14, r15;
	u64 rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	u16 cs, gs, fs, ss;
	u64 err, trapno, oldmask, cr2;
	u64 fpstate; /* address */
	u64 reserved[8];
};

struct dp_ucontext {
	u64 flags;
	u64 link;
	struct {
		u64 sp;
		u32 flags;
		u32 pad;
		u64 size;
	} stack;
	struct dp_mcontext mc;
	u64 sigmask;
};

/**
 * dp_frame_counts() - may a thread with stack pointer @sp return through a signal frame?
 * @uc: context of the frame, at address @at
 *
 * Not through a frame on an alternate stack that the thread is not on: the handler has
 * returned. Go has these stacks between the others.
 */
static inline bool dp_frame_counts(const struct dp_ucontext *uc, u64 at, u64 sp)
{
	return at - uc->stack.sp >= uc->stack.size ||
	       sp - uc->stack.sp < uc->stack.size;
}

/* What a kernel puts on a stack for one signal, at most: the frame, the largest vector
 * state, the red zone. */
#define DP_FRAME_MAX 16384

/**
 * dp_frame_is_past() - has a thread with stack pointer @sp left the frame at @at?
 *
 * Its handler ran on the stack that it had interrupted. In the restorer, where the frame still
 * counts, @sp is one word above @at.
 */
static inline bool dp_frame_is_past(const struct dp_ucontext *uc, u64 at,
				    u64 sp)
{
	return uc->mc.rsp - at <= DP_FRAME_MAX && sp > at + sizeof(u64) &&
	       sp <= uc->mc.rsp && at - uc->stack.sp >= uc->stack.size;
}

/* signo of a frame whose handler, one of ours, has ended. The kernel does not read it. */
#define DP_SIGINFO_ENDED 0

struct dp_siginfo {
	s32 signo, err, code;
	s32 pad;
	u64 fields[14];
};

struct dp_sigframe {
	u64 restorer;
	struct dp_ucontext uc;
	struct dp_siginfo info;
};

#define DP_SI_KERNEL 0x80
/* A perf event's trap, behind an access to watched data; @fields have what the opener of the event
 * has given it, and whether it came late, because the signal was blocked. Source: asm-generic/siginfo.h */
#define DP_TRAP_PERF 6
/* Of a tracer's single step: behind a system call, and behind another instruction */
#define DP_TRAP_BRKPT 1
#define DP_TRAP_TRACE 2
/* A debug register's trap, which a tracer has set */
#define DP_TRAP_HWBKPT 4
#define DP_PERF_TAG(info) ((info)->fields[1])
#define DP_PERF_BE_LATE(info) ((info)->fields[2] |= 1ull << 32)
#define DP_PERF_LATE(info) ((info)->fields[2] >> 32 & 1)
#define DP_ILL_ILLOPN 2

#define DP_SIG_DFL 0
#define DP_SIG_IGN 1
#define DP_SA_SIGINFO 0x4ull
#define DP_SA_RESTORER 0x04000000ull
#define DP_SA_ONSTACK 0x08000000ull
#define DP_SA_NODEFER 0x40000000ull
#define DP_SA_RESETHAND 0x80000000ull
#define DP_SIGMASK(sig) (1ull << ((sig)-1))

/* Our actions: on the alternate stack if there is one, and under dp_marks_trap(). */
#define DP_TRAP_FLAGS \
	(DP_SA_SIGINFO | DP_SA_NODEFER | DP_SA_ONSTACK | DP_SA_RESTORER)

#endif
