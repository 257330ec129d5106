/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hit: threads that come to sites in a kernel's text.
 *
 *     a detour ─► dp_kernel_entry ─► dp_kernel_detour() ─┐
 *                                                        ├─► the hit half
 *     a breakpoint ─► the kernel's chain of notifiers ───┤
 *     a stub ─► returned.c ──────────────────────────────┤
 *     user space ─► the kernel's uprobes ─► user.c ──────┘
 *
 * What the hit half calls of the kernel may have probes, too. So each CPU knows whether it is in a
 * hit, for task, softirq, interrupt, NMI and user space apart. A hit within a hit of the same kind runs no
 * probe: it is counted, and goes on in the copy.
 *
 * A handler in C is no part of the hit half: what it hits is counted and runs programs. But no other handler
 * runs on that CPU meanwhile, in whatever context.
 */
#ifndef DP_KERNEL_HIT_H
#define DP_KERNEL_HIT_H

#include "port_types.h"

struct pt_regs;

/** dp_kernel_entry - what detours call; dp_kernel_call_entry: where a hit does more than count (entry.S) */
extern const char dp_kernel_entry[], dp_kernel_call_entry[];

/* Kinds of context in which a CPU hits: see dp_kernel_thread() */
#define DP_KERNEL_CONTEXTS 5

/** dp_kernel_enter() - the CPU is in a hit. Context: preemption is off. Return: for dp_kernel_leave() */
u8 dp_kernel_enter(void);
void dp_kernel_leave(u8 outer);
/** dp_kernel_enter_user() - as dp_kernel_enter(): in one of a task that is in user space, whose memory is all that it
 *  may have
 *  dp_kernel_is_users() - is the innermost hit one of these? */
u8 dp_kernel_enter_user(void);
bool dp_kernel_is_users(void);
/** dp_kernel_preempt() - preemption is on again, and a hit has ended. Where a task is preempted by that, its stack
 *  has an address of the function's. No function of this module is between it and the thread's own code. */
void dp_kernel_preempt(void);
#define DP_KERNEL_PREEMPT_BYTES 64
/** dp_kernel_context() - the kind of the innermost hit. Context: within a hit. */
u32 dp_kernel_context(void);
/** dp_kernel_handler_begin() - the hit calls a handler, which has hits of its own.
 *  Context: within a hit. Return: what to give to dp_kernel_handler_end(). */
u8 dp_kernel_handler_begin(void);
void dp_kernel_handler_end(u8 was);
/** dp_kernel_handles() - does a handler run on this CPU, in whatever context? */
bool dp_kernel_handles(void);
/** dp_kernel_watched() - a debug exception has told of an access to data. @regs: of the thread, behind that;
 *  @tag: lower half of dp_engine_watch_tag(). Within another hit nothing runs. Context: the exception */
void dp_kernel_watched(struct pt_regs *regs, u32 tag);

/** dp_kernel_stacks_begin() - make the state in which handlers run: struct dp_stack. Return: 0; -ENOMEM. */
int dp_kernel_stacks_begin(void);
/** dp_kernel_stacks_end() - free it. No CPU is in a hit. */
void dp_kernel_stacks_end(void);

/** dp_kernel_trap_begin() - breakpoints lead to the hit half from here on. Return: 0 or an errno */
int dp_kernel_trap_begin(void);
/** dp_kernel_trap_end() - they do not any more. All sites have been disarmed. */
void dp_kernel_trap_end(void);

#endif
