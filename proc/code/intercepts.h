/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* intercepts: system calls that pass through the agent. Context: tool process. */
#ifndef DP_PROC_CODE_INTERCEPTS_H
#define DP_PROC_CODE_INTERCEPTS_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_intercept;
struct dp_process;
struct dp_span;
struct dp_syscalls;

/** dp_intercepts_find() - find the intercepts among a text's system calls.
 *  Return: 0; -ENOMEM; as dp_process_read(). */
int dp_intercepts_find(struct dp_process *proc,
		       const struct dp_syscalls *calls);
/** dp_intercepts_add() - add an intercept: @len bytes of whole instructions at @addr.
 *  @again: those before the call may be executed twice. The table must have room. */
void dp_intercepts_add(struct dp_process *proc, u64 addr, const u8 *code,
		       u32 nr, u32 len, bool again);
/** dp_intercepts_call() - the @i-th number of a call to intercept; -1: no more */
long dp_intercepts_call(size_t i);
/** dp_intercepts_wanted() - is call @nr to be intercepted? */
bool dp_intercepts_wanted(u32 nr);
/** dp_intercepts_masked_wait() - is call @nr a masked wait? */
bool dp_intercepts_masked_wait(u32 nr);

/* numbers: system calls whose number is no constant. Context: tool process. */

/** dp_numbers_find() - add intercepts of system calls whose number the code before them does
 *  not tell, where the bounds of the function around them are known */
void dp_numbers_find(struct dp_process *proc, const struct dp_span *span,
		     const u8 *text);

/* points: where musl makes system calls that are cancellation points. Context: tool process,
 * one thread at a time per object. */

/** dp_points_add() - add intercepts of the call of musl's __syscall_cp for which the code at
 *  @addr sets number @nr */
void dp_points_add(struct dp_process *proc, const struct dp_span *span,
		   const u8 *text, u64 addr, u32 nr);
/** dp_points_touched() - are there probes on the way from intercept @h to the next one? */
bool dp_points_touched(const struct dp_process *proc,
		       const struct dp_intercept *h);

/**
 * dp_points_at() - the intercept through which a thread came to its system call
 * @pc, @sp: of a thread at such a call or just behind; @below: its @sp at the intercept
 * Return: NULL if the thread is at no such call.
 */
const struct dp_intercept *dp_points_at(const struct dp_process *proc, u64 pc,
					u64 sp, u64 *below);

/** dp_points_between() - is a thread between such an intercept and its call, either way? */
bool dp_points_between(const struct dp_process *proc, u64 pc, u64 sp);

/* kind: where a program makes its system calls, by its libc and dynamic linker. */

/** dp_auxv_get() - an entry of a process's auxiliary vector; 0: there is none */
u64 dp_auxv_get(pid_t pid, u64 type);

/**
 * dp_kind_find() - find the texts that make system calls, the gadgets for remote calls, and
 * the intercepts
 *
 * Waits while the dynamic linker is still at work.
 * Return: 0; -EAGAIN it is still at work; -ESRCH; -EOPNOTSUPP no remote call can be made;
 * as dp_maps_read().
 */
int dp_kind_find(struct dp_process *proc, struct dp_diag *diag);

#endif
